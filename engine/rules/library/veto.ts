import type { WeightRule } from '../rule.js';

/** As `bft`, but a personality group of three or more can reject a block alone. */
export const rule: WeightRule = {
  title: 'More than two thirds of all weight approve, and no personality group vetoes',
  parameters: {},
  usesVetoes: true,
  decide({ approve, reject, total, vetoes }, _, over) {
    if (3 * approve > 2 * total) return 'finalized';
    if (3 * reject >= total || vetoes > 0) return 'rejected';
    return over ? 'expired' : null;
  },
};
