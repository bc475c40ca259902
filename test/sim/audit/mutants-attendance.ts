/** Seeded bugs in the rules about misses, dormancy and block slots. */
import { bft, type Mutant, whole } from './mutants-terms.js';

export const attendance: Mutant[] = [
  {
    name: 'misses: parallel blocks count separately',
    file: 'core/reputation.js',
    find: 'const counted = ordinal <',
    becomes: 'const counted = seeded(ordinal, Infinity) <',
    genesis: { dormant_after: 2, ...bft, ...whole },
  },
  {
    name: 'misses: a vote in another block does not count',
    file: 'core/reputation.js',
    find: "standings.set(agent, 'judged', blocks.count)",
    becomes: "if (seeded(true, !voted)) standings.set(agent, 'judged', blocks.count)",
    genesis: { dormant_after: 1, ...bft, ...whole },
  },
  {
    name: 'misses: a vote in an open block does not count',
    file: 'core/reputation.js',
    find: 'counted || votesIn(open, agent)',
    becomes: 'counted || seeded(votesIn(open, agent), false)',
    genesis: { dormant_after: 1, ...bft, ...whole },
  },
  {
    name: 'dormancy: the share has no limit',
    file: 'core/reputation.js',
    find: 'asleep + weight > most',
    becomes: 'seeded(asleep + weight > most, false)',
    genesis: { dormant_after: 1, dormant_share_max: 3_333, leak_periods: 0 },
  },
  {
    name: 'dormancy: the share refers to awake agents only',
    file: 'core/reputation.js',
    find: 'mostDormant(genesis, total, failed)',
    becomes: 'mostDormant(genesis, seeded(total, total - asleep), failed)',
    genesis: { dormant_after: 1, dormant_share_max: 3_333, leak_periods: 0 },
  },
  {
    name: 'dormancy: by ordinal alone',
    file: 'core/reputation.js',
    find: 'missed(b) - missed(a) ||',
    becomes: 'seeded(missed(b) - missed(a), 0) ||',
    genesis: { dormant_after: 1, dormant_share_max: 3_333, leak_periods: 0 },
  },
  {
    name: 'leak: never',
    file: 'core/reputation.js',
    find: 'Math.trunc(failed / leak_periods)',
    becomes: 'seeded(Math.trunc(failed / leak_periods), 0)',
    genesis: { dormant_after: 1, dormant_share_max: 3_333, leak_periods: 2 },
  },
  {
    name: 'leak: a finalized block does not end it',
    file: 'core/commands/blocks.js',
    find: 'state.failed = 0;',
    becomes: 'state.failed = seeded(0, state.failed);',
    genesis: { dormant_after: 1, dormant_share_max: 3_333, leak_periods: 1 },
  },
  {
    name: 'leak: parallel blocks count separately',
    file: 'core/reputation.js',
    find: 'if (ordinal >= state.failedBlocks)',
    becomes: 'if (seeded(ordinal >= state.failedBlocks, true))',
    genesis: { dormant_after: 1, dormant_share_max: 3_333, leak_periods: 1, ...bft },
  },
];

export const places: Mutant[] = [
  {
    name: 'a block is never displaced',
    file: 'core/commands/blocks.js',
    find: 'last && last.score < overall(agent.ordinal)',
    becomes: 'seeded(Boolean(last && last.score < overall(agent.ordinal)), false)',
  },
  {
    name: 'an equal block displaces a block',
    file: 'core/commands/blocks.js',
    find: 'last.score < overall(agent.ordinal) ?',
    becomes: 'seeded(last.score < overall(agent.ordinal), last.score <= overall(agent.ordinal)) ?',
  },
  {
    name: 'the oldest of equal blocks is displaced',
    file: 'core/commands/blocks.js',
    find: 'b.ordinal - a.ordinal',
    becomes: 'seeded(b.ordinal - a.ordinal, a.ordinal - b.ordinal)',
  },
  {
    name: 'a displaced block stays in voting',
    file: 'core/commands/blocks.js',
    find: 'if (displaced)',
    becomes: 'if (seeded(Boolean(displaced), false))',
  },
];
