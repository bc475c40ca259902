/** Bugs to seed in a copy of the built engine. `seeded(was, is)` returns `is`. */
import { attendance, places } from './mutants-attendance.js';
import { bft, type Mutant, whole } from './mutants-terms.js';

const majority = { policy: 'majority' } as const;
const veto = { policy: 'veto', weights: 'equal', voting_period_ms: 30_000 } as const;

const quorum: Mutant[] = [
  {
    name: 'bft: two thirds suffice',
    file: 'rules/library/bft.js',
    find: '3 * approve > 2 * total',
    becomes: 'seeded(3 * approve > 2 * total, 3 * approve >= 2 * total)',
    genesis: bft,
    rule: 'answer',
  },
  {
    name: 'bft: a third does not reject',
    file: 'rules/library/bft.js',
    find: '3 * reject >= total',
    becomes: 'seeded(3 * reject >= total, 3 * reject > total)',
    genesis: bft,
    rule: 'quorum',
  },
  {
    name: 'majority: a tie finalizes',
    file: 'rules/library/majority.js',
    find: 'approve > reject ?',
    becomes: 'seeded(approve > reject, approve >= reject) ?',
    genesis: majority,
    rule: 'answer',
  },
  {
    name: 'majority: the turnout counts approval only',
    file: 'rules/library/majority.js',
    find: '(approve + reject) * 10_000 <',
    becomes: 'seeded(approve + reject, approve) * 10_000 <',
    genesis: { ...majority, participation_bps: 5_000 },
    rule: 'answer',
  },
  {
    name: 'veto: a group of two vetoes',
    file: 'rules/poll-counter.js',
    find: 'size >= SMALLEST_GROUP && rejections',
    becomes: 'seeded(size >= SMALLEST_GROUP, size >= SMALLEST_GROUP - 1) && rejections',
    genesis: veto,
    rule: 'quorum',
  },
  {
    name: 'veto: never',
    file: 'rules/library/veto.js',
    find: 'vetoes > 0',
    becomes: 'seeded(vetoes > 0, false)',
    genesis: veto,
  },
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
  {
    name: 'a repeat is counted as another vote',
    file: 'core/commands/blocks.js',
    find: 'const first = voted',
    becomes: 'const first = seeded(voted, voted && !block)',
    rule: 'vote-once',
  },
  {
    name: 'weights are ignored',
    file: 'rules/poll-counter.js',
    find: 'counts[decision] += weight;',
    becomes: 'counts[decision] += seeded(weight, 1);',
    genesis: { weights: 'alliance_bonus' },
    rule: 'tally',
  },
  {
    name: 'allies bring no bonus',
    file: 'core/electorates.js',
    find: '100 + Math.min(10, 2 * voting)',
    becomes: 'seeded(100 + Math.min(10, 2 * voting), 100)',
    genesis: { weights: 'alliance_bonus' },
  },
  {
    name: 'an inactive agent may vote',
    file: 'core/commands/blocks.js',
    find: 'const problem = refuseInactive(agent) ??',
    becomes: 'const problem = seeded(refuseInactive(agent), null) ??',
  },
];

const electorate: Mutant[] = [
  {
    name: 'electorate: inactive agents',
    file: 'core/electorates.js',
    find: "agent.status === 'active'",
    becomes: "(!agent.validator || seeded(agent.status === 'active', true))",
  },
  {
    name: 'electorate: dormant agents',
    file: 'core/electorates.js',
    find: '!agent.context.dormant',
    becomes: 'seeded(!agent.context.dormant, true)',
    genesis: { dormant_after: 1, ...whole },
  },
  {
    name: 'electorate: producers',
    file: 'core/electorates.js',
    find: 'agent.validator &&',
    becomes: 'seeded(agent.validator, true) &&',
  },
  {
    name: 'electorate: is not renewed',
    file: 'core/commands/agents.js',
    find: 'agent.validator && wanted !== agent.status',
    becomes: 'seeded(agent.validator && wanted !== agent.status, false)',
    genesis: { weights: 'equal' },
  },
  {
    name: 'dormancy: never',
    file: 'core/reputation.js',
    find: 'if (missed >= after)',
    becomes: 'if (seeded(missed >= after, false))',
    genesis: { dormant_after: 2, ...whole },
  },
  {
    name: 'dormancy: never ends',
    file: 'core/engine.js',
    find: '!agent?.context.dormant',
    becomes: 'seeded(!agent?.context.dormant, true)',
    genesis: { dormant_after: 1, ...whole },
  },
];

const chain: Mutant[] = [
  {
    name: 'siblings are not orphaned',
    file: 'core/commands/blocks.js',
    find: 'of state.blocks.open())',
    becomes: 'of state.blocks.open().filter(() => seeded(true, false)))',
    rule: 'orphan',
  },
  {
    name: 'the height is not raised',
    file: 'core/commands/blocks.js',
    find: 'state.height = height;',
    becomes: 'state.height = seeded(height, height - 1);',
    rule: 'height',
  },
  {
    name: 'a stale parent is accepted',
    file: 'core/commands/blocks.js',
    find: 'parent_hash !== head_hash',
    becomes: 'seeded(parent_hash !== head_hash, false)',
    rule: 'extends-head',
  },
  {
    name: 'a final transaction is accepted again',
    file: 'core/commands/blocks.js',
    find: 'if (signers?.includes(signer) || final)',
    becomes:
      'if (seeded(Boolean(signers?.includes(signer) || final), !!signers?.includes(signer)))',
    genesis: bft,
  },
  {
    name: 'a ninth block is accepted',
    file: 'core/commands/blocks.js',
    find: 'blocks.openCount >= limits.openBlocks',
    becomes: 'seeded(blocks.openCount >= limits.openBlocks, false)',
  },
];

const time: Mutant[] = [
  {
    name: 'a vote 1 ms after the deadline counts',
    file: 'core/commands/blocks.js',
    find: 'state.deadlines.set(deadlineId(hash), context.deadline)',
    becomes:
      'state.deadlines.set(deadlineId(hash), seeded(context.deadline, context.deadline + 1))',
  },
  {
    name: 'a block ends at its deadline',
    file: 'core/commands/blocks.js',
    find: 'state.deadlines.set(deadlineId(hash), context.deadline)',
    becomes:
      'state.deadlines.set(deadlineId(hash), seeded(context.deadline, context.deadline - 1))',
    genesis: bft,
    rule: 'quorum',
  },
  {
    name: 'requests are forgotten after a second',
    file: 'core/commands/requests.js',
    find: 'state.now - first.at <= limits.requestMemoryMs',
    becomes: 'seeded(state.now - first.at <= limits.requestMemoryMs, state.now - first.at < 1_000)',
  },
  {
    name: 'metrics: the window is open at both ends',
    file: 'core/throughput.js',
    find: 'at > after ?',
    becomes: 'seeded(at > after, at >= after) ?',
  },
];

const scores: Mutant[] = [
  {
    name: 'equivocation costs nothing',
    file: 'core/commands/blocks.js',
    find: 'penalize(state, plan.agent.ordinal);',
    becomes: 'if (seeded(true, false)) penalize(state, plan.agent.ordinal);',
  },
  {
    name: 'equivocation costs each time',
    file: 'core/commands/blocks.js',
    find: 'if (known ||',
    becomes: 'if (seeded(Boolean(known), false) ||',
  },
  {
    name: 'scores are rounded down',
    file: 'core/reputation.js',
    find: 'old + Math.trunc((sample - old) / 16)',
    becomes: 'seeded(old + Math.trunc((sample - old) / 16), old + Math.floor((sample - old) / 16))',
  },
  {
    name: 'a vote rates its own voter',
    file: 'core/reputation.js',
    find: 'const rest = approve + reject - weight;',
    becomes: 'const rest = seeded(approve + reject - weight, approve + reject);',
  },
  {
    name: 'allies rate memes',
    file: 'core/reputation.js',
    find: 'if (partial.has(state.agents.at(agents[position]).id))',
    becomes: 'if (seeded(partial.has(state.agents.at(agents[position]).id), false))',
  },
];

export const mutants = [
  ...quorum,
  ...tally,
  ...electorate,
  ...attendance,
  ...chain,
  ...places,
  ...time,
  ...scores,
];
