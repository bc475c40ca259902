import type { WeightRule } from '../rule.js';

/** At the end of voting, the larger weight decides if enough weight has voted. */
export const rule: WeightRule = {
  title: 'At the end of voting, more weight approves than rejects',
  parameters: {
    participation_bps: {
      about: 'turnout needed, in 1/10,000 of all weight',
      default: 5_000,
      minimum: 0,
      maximum: 10_000,
    },
  },
  decide({ approve, reject, total }, { participation_bps }, over) {
    if (!over) return null;
    if ((approve + reject) * 10_000 < participation_bps! * total) return 'expired';
    return approve > reject ? 'finalized' : 'rejected';
  },
};
