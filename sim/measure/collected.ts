/** What the end of a run is made of: what was collected, and what is read of the network. */
import type { Views } from '../../engine/index.js';
import type { Activity } from './activity.js';
import type { Agreement } from './agreement.js';
import type { Alliances } from './alliances.js';
import type { BlockFigure } from './blocks.js';
import type { Memes } from './memes.js';
import type { Traffic } from './observer.js';
import type { Outcomes } from './outcomes.js';
import type { Population } from './population.js';
import type { Series } from './series.js';

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
export interface Reads extends Pick<Views, 'agent' | 'agents' | 'block' | 'reputation'> {
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
