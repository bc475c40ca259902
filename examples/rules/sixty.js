/** More than 60 % of the votes finalize a block, if 40 % of all weight has voted. */
export default {
  title: 'More than 60 % of the votes approve, with a turnout of 40 %',
  parameters: {
    for_bps: {
      about: 'share of the votes that has to approve, in 1/10,000',
      default: 6_000,
      minimum: 1,
      maximum: 9_999,
    },
    turnout_bps: {
      about: 'share of all weight that has to vote, in 1/10,000',
      default: 4_000,
      minimum: 0,
      maximum: 10_000,
    },
  },

  decide({ approve, reject, total }, { for_bps, turnout_bps }, over) {
    if (!over) return null;
    const voted = approve + reject;
    if (voted * 10_000 < turnout_bps * total) return 'expired';
    return approve * 10_000 > for_bps * voted ? 'finalized' : 'rejected';
  },
};
