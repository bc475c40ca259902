/** Seeded bugs in the rules about misses, dormancy and block slots. */
import { bft, bug, type Mutant, whole } from './mutants-terms.js';

export const attendance: Mutant[] = [
  bug(
    'misses: parallel blocks count separately',
    'core/reputation.js',
    'const counted = «ordinal → Infinity» <',
    { genesis: { dormant_after: 2, ...bft, ...whole } },
  ),
  {
    name: 'misses: a vote in another block does not count',
    file: 'core/reputation.js',
    find: 'standings.set(agent, column.judged, blocks.count)',
    becomes: 'if (seeded(true, !voted)) standings.set(agent, column.judged, blocks.count)',
    genesis: { dormant_after: 1, ...bft, ...whole },
  },
  bug(
    'misses: a vote in an open block does not count',
    'core/reputation.js',
    'counted || «votesIn(open, agent) → false»',
    { genesis: { dormant_after: 1, ...bft, ...whole } },
  ),
  bug(
    'dormancy: the share has no limit',
    'core/reputation.js',
    '«asleep + weight > most → false»',
    { genesis: { dormant_after: 1, dormant_share_max: 3_333, leak_periods: 0 } },
  ),
  bug(
    'dormancy: the share refers to awake agents only',
    'core/reputation.js',
    'mostDormant(genesis, «total → total - asleep», failed)',
    { genesis: { dormant_after: 1, dormant_share_max: 3_333, leak_periods: 0 } },
  ),
  bug('dormancy: by ordinal alone', 'core/reputation.js', '«missed(b) - missed(a) → 0» ||', {
    genesis: { dormant_after: 1, dormant_share_max: 3_333, leak_periods: 0 },
  }),
  bug('leak: never', 'core/reputation.js', '«Math.trunc(failed / leak_periods) → 0»', {
    genesis: { dormant_after: 1, dormant_share_max: 3_333, leak_periods: 2 },
  }),
  bug(
    'leak: a finalized block does not end it',
    'core/commands/blocks.js',
    'state.failed = «0 → state.failed»;',
    { genesis: { dormant_after: 1, dormant_share_max: 3_333, leak_periods: 1 } },
  ),
  bug(
    'leak: parallel blocks count separately',
    'core/reputation.js',
    'if («ordinal >= state.failedBlocks → true»)',
    { genesis: { dormant_after: 1, dormant_share_max: 3_333, leak_periods: 1, ...bft } },
  ),
];

export const places: Mutant[] = [
  bug(
    'a block is never displaced',
    'core/commands/blocks.js',
    '«last && last.score < overall(agent.ordinal) → false»',
  ),
  bug(
    'an equal block displaces a block',
    'core/commands/blocks.js',
    '«last.score < overall(agent.ordinal) → last.score <= overall(agent.ordinal)» ?',
  ),
  bug(
    'the oldest of equal blocks is displaced',
    'core/commands/blocks.js',
    '«b.ordinal - a.ordinal → a.ordinal - b.ordinal»',
  ),
  bug('a displaced block stays in voting', 'core/commands/blocks.js', 'if («displaced → false»)'),
];
