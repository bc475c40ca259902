/** All views, in the order of the navigation. Each is fetched when a reader first goes there. */
import type { ComponentType } from 'preact';
import type { Requirement } from '../home.js';

export interface ViewProps {
  /** What the address names after the view: a hash, an id. */
  item: string | null;
}

export interface ViewEntry {
  /** Below /ui/. */
  path: string;
  title: string;
  /** Whether the navigation has it: not where it shows one thing that something else links to. */
  listed: boolean;
  /** Without that it has nothing to show, and is not listed. */
  needs?: Requirement;
  load(): Promise<{ View: ComponentType<ViewProps> }>;
}

export const views: readonly ViewEntry[] = [
  { path: 'now', title: 'Now', listed: true, load: () => import('./now.js') },
  { path: 'agents', title: 'Agents', listed: true, load: () => import('./agents.js') },
  { path: 'opinion', title: 'Opinion', listed: true, load: () => import('./opinion.js') },
  {
    path: 'alliances',
    title: 'Alliances',
    listed: true,
    load: () => import('./alliances.js'),
  },
  { path: 'talk', title: 'Talk', listed: true, load: () => import('./talk.js') },
  { path: 'block', title: 'Block', listed: true, load: () => import('./block.js') },
  { path: 'explore', title: 'Explore', listed: true, load: () => import('./explore.js') },
  {
    path: 'doctor',
    title: 'Request doctor',
    listed: true,
    needs: 'server',
    load: () => import('./doctor.js'),
  },
  { path: 'agent', title: 'Agent', listed: false, load: () => import('./agent.js') },
];
