/** What charts show, in sentences; whatever a run's own figures add follows them. */

export const captions = {
  finality:
    'Each dot is a finalized block: when it became final, and how long that took after it was ' +
    'proposed.',
  outcomes: 'Blocks that had closed by each time, stacked by how they ended.',
  reputation:
    'The mean overall reputation of each group, from 0 to 100; every agent begins with 50. The ' +
    'axis shows the part of it that matters.',
  groups:
    'For each group: the share of its votes that approve; the share of finalized and rejected ' +
    'blocks that ended as most of it had voted; and the chance that two of its voters on one ' +
    'block agree. A missing bar cannot be said.',
} as const;
