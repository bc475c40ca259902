/** What the end of a run is made of: what was collected, and what is read of the network. */
import type { Views } from '../../engine/internal.js';
import type { Traffic } from '../world/observer.js';
import type { Activity } from './collect/activity.js';
import type { Agreement } from './collect/agreement.js';
import type { Alliances } from './collect/alliances.js';
import type { BlockFigure } from './collect/blocks.js';
import type { Memes } from './collect/memes.js';
import type { Outcomes } from './collect/outcomes.js';
import type { Population } from './collect/population.js';
import type { Series } from './collect/series.js';

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

/** What the end of a run reads of the network. */
export interface RunReads extends Pick<Views, 'agent' | 'agents' | 'block' | 'reputation'> {
  record(table: 'blocks', hash: string): { context: { electors: number } } | undefined;
}

export interface Collected {
  startMs: number;
  endMs: number;
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
  traffic: Record<Traffic, number>;
}
