/** Outcomes of blocks and votes: their colours, symbols and meanings, identical in all charts. */
import type { ColorName } from './palette.js';

/** Symbol that tells series apart where colours cannot. */
export type Sign = 'circle' | 'cross' | 'times' | 'diamond' | 'square' | 'triangle';

interface Shown {
  color: ColorName;
  sign: Sign;
  /** Meaning of the outcome. */
  meaning: string;
}

/** Stacking order, from the bottom. */
export const outcomes = {
  finalized: { color: 'c1', sign: 'circle', meaning: 'enough electors approved' },
  rejected: { color: 'c2', sign: 'times', meaning: 'enough electors rejected' },
  expired: { color: 'c5', sign: 'cross', meaning: 'its voting period ended without a decision' },
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
  reject: { color: 'c2', sign: 'times', meaning: 'against the block' },
} as const satisfies Record<string, Shown>;
