/** Seeded bugs in the rules about misses, dormancy and block slots. */
import { bft, bugIn, type Mutant, whole } from './mutants-terms.js';

const reputation = bugIn('core/reputation.js');
const blocks = bugIn('core/commands/blocks.js');

export const attendance: Mutant[] = [
  reputation('misses: parallel blocks count separately', 'const counted = «ordinal → Infinity» <', {
    genesis: { dormant_after: 2, ...bft, ...whole },
  }),
  {
    name: 'misses: a vote in another block does not count',
    file: 'core/reputation.js',
    find: 'standings.set(agent, column.judged, blocks.count)',
    becomes: 'if (seeded(true, !voted)) standings.set(agent, column.judged, blocks.count)',
    genesis: { dormant_after: 1, ...bft, ...whole },
  },
  reputation(
    'misses: a vote in an open block does not count',
    'counted || «votesIn(open, agent) → false»',
    { genesis: { dormant_after: 1, ...bft, ...whole } },
  ),
  reputation('dormancy: the share has no limit', '«asleep + weight > most → false»', {
    genesis: { dormant_after: 1, dormant_share_max: 3_333, leak_periods: 0 },
  }),
  reputation(
    'dormancy: the share refers to awake agents only',
    'mostDormant(genesis, «total → total - asleep», failed)',
    { genesis: { dormant_after: 1, dormant_share_max: 3_333, leak_periods: 0 } },
  ),
  reputation('dormancy: by ordinal alone', '«missed(b) - missed(a) → 0» ||', {
    genesis: { dormant_after: 1, dormant_share_max: 3_333, leak_periods: 0 },
  }),
  reputation('leak: never', '«Math.trunc(failed / leak_periods) → 0»', {
    genesis: { dormant_after: 1, dormant_share_max: 3_333, leak_periods: 2 },
  }),
  blocks('leak: a finalized block does not end it', 'state.failed = «0 → state.failed»;', {
    genesis: { dormant_after: 1, dormant_share_max: 3_333, leak_periods: 1 },
  }),
  reputation(
    'leak: parallel blocks count separately',
    'if («ordinal >= state.failedBlocks → true»)',
    { genesis: { dormant_after: 1, dormant_share_max: 3_333, leak_periods: 1, ...bft } },
  ),
];

export const places: Mutant[] = [
  blocks('a block is never displaced', '«last && last.score < overall(agent.ordinal) → false»'),
  blocks(
    'an equal block displaces a block',
    '«last.score < overall(agent.ordinal) → last.score <= overall(agent.ordinal)» ?',
  ),
  blocks(
    'the oldest of equal blocks is displaced',
    '«b.ordinal - a.ordinal → a.ordinal - b.ordinal»',
  ),
  blocks('a displaced block stays in voting', 'if («displaced → false»)'),
];
