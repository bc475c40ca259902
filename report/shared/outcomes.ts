/** How blocks end and votes go: names, colours and signs, the same wherever they are shown. */
import type { ColorName } from './palette.js';

/** Signs differ as well as colours, for who cannot tell these apart. */
export type Sign = 'circle' | 'cross' | 'times' | 'diamond' | 'square' | 'triangle';

interface Shown {
  color: ColorName;
  sign: Sign;
  /** What it says of a block or a vote. */
  meaning: string;
}

/** In the order in which they are stacked. */
export const outcomes = {
  finalized: { color: 'c1', sign: 'circle', meaning: 'enough electors approved' },
  rejected: { color: 'c2', sign: 'times', meaning: 'enough electors rejected' },
  expired: { color: 'c5', sign: 'cross', meaning: 'its voting period ended without an outcome' },
  orphaned: {
    color: 'c8',
    sign: 'diamond',
    meaning: 'another block of its height was finalized',
  },
} as const satisfies Record<string, Shown>;

export type OutcomeName = keyof typeof outcomes;

export const outcomeNames = Object.keys(outcomes) as OutcomeName[];

export const decisions = {
  approve: { color: 'c1', sign: 'square', meaning: 'for the block' },
  reject: { color: 'c2', sign: 'times', meaning: 'against it' },
} as const satisfies Record<string, Shown>;
