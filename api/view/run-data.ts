/** Additional data for an exported run, and its summary. Runs in browsers. */

import type { Overview } from './model.js';
import type { NetworkParameters } from './reducer.js';

/** Data that the page would read from a server. */
export interface RunData {
  network: NetworkParameters;
  /** Entries without rows, and their times. */
  quiet: { entries: number[]; at: number[] };
  overview: Overview;
  /** Lists by agent number, all equally long. */
  agents: { description: string[]; reason: string[]; scores: Scores[] };
  /** The scenario's groups, if known. `of` is the group index by agent number, or -1. */
  groups: { names: string[]; of: number[] } | null;
  /** Names of options in the scenario's election data; only those that differ. */
  labels: Readonly<Record<string, string>>;
  /** Proposals by block number, without signatures; null if omitted. */
  proposals: (Readonly<Record<string, unknown>> | null)[];
  /** Files by meme number, as text or base64. Omitted files are absent. */
  memes: Record<number, { text: string } | { base64: string }>;
}

/**
 * Scores after the last entry, 0 to 100 in tenths: overall, memes, decisions, peers and alliances.
 */
export type Scores = [number, number, number, number, number];

/** Metadata, readable before unpacking. */
export interface RunSummary {
  /** Name of the exported folder. */
  folder: string;
  network_id: string;
  entries: number;
  events: number;
  /** Number of entries recomputed for the export, and the resulting digest. */
  proven: { entries: number; digest: string };
  version: string;
}
