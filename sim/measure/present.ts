/** Measures that can be said while a run goes on: what conditions of `length.until` look at. */
import type { ConditionMeasure } from '../scenario/schema/length.js';
import type { Agreement } from './collect/agreement.js';
import type { Alliances } from './collect/alliances.js';
import type { Memes } from './collect/memes.js';
import { type Counts, closedOf } from './collected.js';
import { share } from './statistics.js';

export interface Present {
  counts: Counts;
  agreement: Agreement;
  memes: Memes;
  alliances: Alliances;
  /** Of a group; of the whole network when none is named. */
  reputation(group?: string): number | null;
}

type Value = (group?: string) => number | null;

/** How each is had now; all of them in constant time. */
export function presentValues(present: Present): Record<ConditionMeasure, Value> {
  const { counts, agreement, memes, alliances } = present;
  const count = (name: keyof Counts) => () => counts[name];
  const shareOf = (name: keyof Counts) => () => share(counts[name], closedOf(counts));
  return {
    proposed: count('proposed'),
    finalized: count('finalized'),
    rejected: count('rejected'),
    expired: count('expired'),
    orphaned: count('orphaned'),
    decided: () => counts.finalized + counts.rejected,
    closed: () => closedOf(counts),
    votes: count('votes'),
    memes: count('memes'),
    transactions: count('transactions'),
    finalized_share: shareOf('finalized'),
    rejected_share: shareOf('rejected'),
    expired_share: shareOf('expired'),
    orphaned_share: shareOf('orphaned'),
    agreement: () => agreement.all,
    influence: () => memes.influence,
    alliances_active: () => alliances.active,
    reputation_mean: present.reputation,
  };
}
