/** All views in navigation order. Each view is loaded on first use. */
import type { ComponentType } from 'preact';
import type { Requirement } from '../home.js';

export interface ViewProps {
  /** Hash or id that follows the view in the address. */
  item: string | null;
}

export interface ViewEntry {
  /** Path below /ui/. */
  path: string;
  title: string;
  /** True if the navigation lists the view. */
  listed: boolean;
  /** Requirement for listing the view. */
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
