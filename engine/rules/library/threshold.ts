import type { WeightRule } from '../rule.js';

/**
 * A share of the weight finalizes a block. The rule decides early if no further vote can change the
 * decision and enough weight has voted.
 */
export const rule: WeightRule = {
  title: 'More than a set share of all weight, or of the weight cast, approves',
  source: 'Fishburn 1973, The Theory of Social Choice, Princeton University Press',
  parameters: {
    for_bps: {
      about: 'share that must be exceeded, in 1/10,000',
      default: 5_000,
      minimum: 0,
      maximum: 9_999,
    },
    turnout_bps: {
      about: 'turnout needed, in 1/10,000 of all weight',
      default: 0,
      minimum: 0,
      maximum: 10_000,
    },
    of_cast: {
      about: '1: share of the weight cast; 0: share of all weight',
      default: 0,
      minimum: 0,
      maximum: 1,
    },
  },
  decide({ approve, reject, total }, { for_bps, turnout_bps, of_cast }, over) {
    const cast = approve + reject;
    if (cast * 10_000 < turnout_bps! * total) return over ? 'expired' : null;
    if (approve * 10_000 > for_bps! * total) return 'finalized';
    if (reject * 10_000 >= (10_000 - for_bps!) * total) return 'rejected';
    if (!over) return null;
    if (of_cast === 0) return 'expired';
    return approve * 10_000 > for_bps! * cast ? 'finalized' : 'rejected';
  },
};
