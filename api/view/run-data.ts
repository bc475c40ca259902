/** Additional data of an exported run, and its summary. Safe in a browser. */

import type { Overview } from './model.js';
import type { NetworkParameters } from './reducer.js';

/** Data that the page would read from a server. */
export interface RunData {
  network: NetworkParameters;
  /** Entries without rows, and their times. */
  quiet: { entries: number[]; at: number[] };
  overview: Overview;
  /** By agent number; lists of equal length. */
  agents: { description: string[]; reason: string[]; scores: Scores[] };
  /** Groups of the scenario, if known. `of`: group index by agent number, or -1. */
  groups: { names: string[]; of: number[] } | null;
  /** Proposals by block number, without signatures; null if omitted. */
  proposals: (Readonly<Record<string, unknown>> | null)[];
  /** Files by meme number, as text or base64; omitted ones are absent. */
  memes: Record<number, { text: string } | { base64: string }>;
}

/** Overall, memes, decisions, peers and alliances, 0 to 100 in tenths, after the last entry. */
export type Scores = [number, number, number, number, number];

/** Metadata, readable before unpacking. */
export interface RunSummary {
  /** Name of the exported folder. */
  folder: string;
  network_id: string;
  entries: number;
  events: number;
  /** Number of entries recomputed at the export, and the resulting digest. */
  proven: { entries: number; digest: string };
  version: string;
}
