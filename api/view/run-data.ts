/** What a run in one file has beside its spans, and says of itself. Safe in a browser. */

import type { Overview } from './model.js';
import type { NetworkParameters } from './reducer.js';

/** For what a page asks of a server. */
export interface RunData {
  network: NetworkParameters;
  /** Entries that led to no row, and when they were. */
  quiet: { entries: number[]; at: number[] };
  overview: Overview;
  /** By number, lists of one length. */
  agents: { description: string[]; reason: string[]; scores: Scores[] };
  /** Of the scenario, where it is known; by number of the agent its group's place, -1 for none. */
  groups: { names: string[]; of: number[] } | null;
  /** By number: what was proposed, without signatures; null where it was left out. */
  proposals: (Readonly<Record<string, unknown>> | null)[];
  /** By number, as text or in base64; what is not there was left out. */
  memes: Record<number, { text: string } | { base64: string }>;
}

/** Of 100, to a tenth: overall, memes, decisions, peers, alliances; as of the last entry. */
export type Scores = [number, number, number, number, number];

/** What is read before anything is unpacked. */
export interface RunSummary {
  /** The name of the folder that it was made of. */
  folder: string;
  network_id: string;
  entries: number;
  events: number;
  /** How much of the log was recomputed when the file was made, and to what. */
  proven: { entries: number; digest: string };
  version: string;
}
