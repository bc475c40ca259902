/** Bugs to seed in a copy of the built engine. `seeded(was, is)` returns `is`. */
import { attendance, places } from './mutants-attendance.js';
import { bft, bug, type Mutant, whole } from './mutants-terms.js';

const majority = { policy: 'majority' } as const;
const veto = { policy: 'veto', weights: 'equal', voting_period_ms: 30_000 } as const;

const quorum: Mutant[] = [
  bug(
    'bft: two thirds suffice',
    'rules/library/bft.js',
    '«3 * approve > 2 * total → 3 * approve >= 2 * total»',
    { genesis: bft, rule: 'answer' },
  ),
  bug(
    'bft: a third does not reject',
    'rules/library/bft.js',
    '«3 * reject >= total → 3 * reject > total»',
    { genesis: bft, rule: 'quorum' },
  ),
  bug(
    'majority: a tie finalizes',
    'rules/library/majority.js',
    '«approve > reject → approve >= reject» ?',
    { genesis: majority, rule: 'answer' },
  ),
  {
    name: 'majority: the turnout counts approval only',
    file: 'rules/library/majority.js',
    find: '(approve + reject) * 10_000 <',
    becomes: 'seeded(approve + reject, approve) * 10_000 <',
    genesis: { ...majority, participation_bps: 5_000 },
    rule: 'answer',
  },
  bug(
    'veto: a group of two vetoes',
    'rules/poll-counter.js',
    '«size >= SMALLEST_GROUP → size >= SMALLEST_GROUP - 1» && rejections',
    { genesis: veto, rule: 'quorum' },
  ),
  bug('veto: never', 'rules/library/veto.js', '«vetoes > 0 → false»', { genesis: veto }),
];

const tally: Mutant[] = [
  {
    name: 'a vote counts twice',
    file: 'rules/poll-counter.js',
    find: 'counts[decision] += weight;',
    becomes: 'counts[decision] += seeded(1, 2) * weight;',
    genesis: { weights: 'equal' },
    rule: 'tally',
  },
  bug(
    'a repeat is counted as another vote',
    'core/commands/blocks.js',
    'const first = «voted → voted && !block»',
    { rule: 'vote-once' },
  ),
  bug('weights are ignored', 'rules/poll-counter.js', 'counts[decision] += «weight → 1»;', {
    genesis: { weights: 'alliance_bonus' },
    rule: 'tally',
  }),
  bug('allies bring no bonus', 'core/electorates.js', '«100 + Math.min(10, 2 * voting) → 100»', {
    genesis: { weights: 'alliance_bonus' },
  }),
  bug(
    'an inactive agent may vote',
    'core/commands/blocks.js',
    'const problem = «refuseInactive(agent) → null» ??',
  ),
];

const electorate: Mutant[] = [
  {
    name: 'electorate: inactive agents',
    file: 'core/electorates.js',
    find: "agent.status === 'active'",
    becomes: "(!agent.validator || seeded(agent.status === 'active', true))",
  },
  bug('electorate: dormant agents', 'core/electorates.js', '«!agent.dormant → true»', {
    genesis: { dormant_after: 1, ...whole },
  }),
  bug('electorate: producers', 'core/electorates.js', '«agent.validator → true» &&'),
  bug(
    'electorate: is not renewed',
    'core/commands/agents.js',
    '«agent.validator && wanted !== agent.status → false»',
    { genesis: { weights: 'equal' } },
  ),
  bug('dormancy: never', 'core/reputation.js', 'if («missed >= after → false»)', {
    genesis: { dormant_after: 2, ...whole },
  }),
  bug('dormancy: never ends', 'core/engine.js', '«!agent?.dormant → true»', {
    genesis: { dormant_after: 1, ...whole },
  }),
];

const chain: Mutant[] = [
  {
    name: 'siblings are not orphaned',
    file: 'core/commands/blocks.js',
    find: 'of state.blocks.open())',
    becomes: 'of state.blocks.open().filter(() => seeded(true, false)))',
    rule: 'orphan',
  },
  bug(
    'the height is not raised',
    'core/commands/blocks.js',
    'state.height = «height → height - 1»;',
    { rule: 'height' },
  ),
  bug(
    'a stale parent is accepted',
    'core/commands/blocks.js',
    '«parent_hash !== head_hash → false»',
    { rule: 'extends-head' },
  ),
  {
    name: 'a final transaction is accepted again',
    file: 'core/commands/blocks.js',
    find: 'if (signers?.includes(signer) || final)',
    becomes:
      'if (seeded(Boolean(signers?.includes(signer) || final), !!signers?.includes(signer)))',
    genesis: bft,
  },
  bug(
    'a ninth block is accepted',
    'core/commands/blocks.js',
    '«blocks.openCount >= limits.openBlocks → false»',
  ),
];

const time: Mutant[] = [
  bug(
    'a vote 1 ms after the deadline counts',
    'core/commands/blocks.js',
    'state.deadlines.set(deadlineId(hash), «context.deadline → context.deadline + 1»)',
  ),
  bug(
    'a block ends at its deadline',
    'core/commands/blocks.js',
    'state.deadlines.set(deadlineId(hash), «context.deadline → context.deadline - 1»)',
    { genesis: bft, rule: 'quorum' },
  ),
  bug(
    'requests are forgotten after a second',
    'core/state.js',
    '«state.now - first.at <= limits.requestMemoryMs → state.now - first.at < 1_000»',
  ),
  bug('metrics: the window is open at both ends', 'core/state.js', '«at > after → at >= after» ?'),
];

const scores: Mutant[] = [
  {
    name: 'equivocation costs nothing',
    file: 'core/commands/blocks.js',
    find: 'penalize(state, plan.agent.ordinal);',
    becomes: 'if (seeded(true, false)) penalize(state, plan.agent.ordinal);',
  },
  bug('equivocation costs each time', 'core/commands/blocks.js', 'if («known → false» ||'),
  bug(
    'scores are rounded down',
    'core/reputation.js',
    '«old + Math.trunc((sample - old) / 16) → old + Math.floor((sample - old) / 16)»',
  ),
  bug(
    'a vote rates its own voter',
    'core/reputation.js',
    'const rest = «approve + reject - weight → approve + reject»;',
  ),
  bug(
    'allies rate memes',
    'core/reputation.js',
    'if («partial.has(state.agents.at(agents[position]).id) → false»)',
  ),
];

export const mutants = [
  ...[...quorum, ...tally, ...electorate, ...attendance, ...chain, ...places, ...time, ...scores],
];
