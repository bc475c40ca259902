import type { WeightRule } from '../rule.js';

/** More than two thirds of the weight finalize a block. One third rejects it. */
export const rule: WeightRule = {
  title: 'More than two thirds of all weight approve',
  parameters: {},
  decide({ approve, reject, total }, _, over) {
    if (3 * approve > 2 * total) return 'finalized';
    if (3 * reject >= total) return 'rejected';
    return over ? 'expired' : null;
  },
};
