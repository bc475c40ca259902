import type { WeightRule } from '../rule.js';

/** All electors must approve. One rejection rejects a block, and one absence lets it expire. */
export const rule: WeightRule = {
  title: 'All weight approves',
  source: 'Buchanan and Tullock 1962, The Calculus of Consent, University of Michigan Press',
  parameters: {},
  decide({ approve, reject, total }, _, over) {
    if (reject > 0) return 'rejected';
    if (approve >= total) return 'finalized';
    return over ? 'expired' : null;
  },
};
