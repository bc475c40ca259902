/** What the end of a run is made of: what was collected, and what is read of the network. */
import type { Views } from '../../engine/internal.js';
import type { Activity } from './collect/activity.js';
import type { Agreement } from './collect/agreement.js';
import type { Alliances } from './collect/alliances.js';
import type { BlockFigure } from './collect/blocks.js';
import type { Memes } from './collect/memes.js';
import type { Outcomes } from './collect/outcomes.js';
import type { Population } from './collect/population.js';
import type { Series } from './collect/series.js';
import type { Messages } from './collect/traffic.js';

export interface Counts {
  proposed: number;
  finalized: number;
  rejected: number;
  expired: number;
  orphaned: number;
  votes: number;
  memes: number;
  /** In finalized blocks. */
  transactions: number;
}

export const noCounts = (): Counts => ({
  proposed: 0,
  finalized: 0,
  rejected: 0,
  expired: 0,
  orphaned: 0,
  votes: 0,
  memes: 0,
  transactions: 0,
});

/** Blocks that are no longer in voting. */
export const closedOf = ({ finalized, rejected, expired, orphaned }: Counts): number =>
  finalized + rejected + expired + orphaned;

/** What the end of a run reads of the network. */
export interface RunReads extends Pick<Views, 'agent' | 'agents' | 'block' | 'reputation'> {
  record(table: 'blocks', hash: string): { context: { electors: number } } | undefined;
}

export interface Collected {
  startMs: number;
  /** When the warm-up ended; null when the run was over before. */
  measuredFrom: number | null;
  endMs: number;
  /** Since the warm-up, as all that follows. */
  counts: Counts;
  closed: number;
  longestWaitMs: number;
  population: Population;
  blocks: readonly BlockFigure[];
  activity: Activity;
  agreement: Agreement;
  memes: Memes;
  outcomes: Outcomes;
  alliances: Alliances;
  series: Series;
  messages: Messages;
}
