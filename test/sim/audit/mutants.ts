/** Bugs to seed in a copy of the built engine. `seeded(was, is)` returns `is`. */
import { attendance, places } from './mutants-attendance.js';
import { bft, bugIn, type Mutant, whole } from './mutants-terms.js';

const bftRule = bugIn('rules/library/bft.js');
const pollCounter = bugIn('rules/poll-counter.js');
const blocks = bugIn('core/commands/blocks.js');
const electorates = bugIn('core/electorates.js');
const reputation = bugIn('core/reputation.js');
const state = bugIn('core/state.js');

const majority = { policy: 'majority' } as const;
const veto = { policy: 'veto', weights: 'equal', voting_period_ms: 30_000 } as const;

const quorum: Mutant[] = [
  bftRule('bft: two thirds suffice', '«3 * approve > 2 * total → 3 * approve >= 2 * total»', {
    genesis: bft,
    rule: 'answer',
  }),
  bftRule('bft: a third does not reject', '«3 * reject >= total → 3 * reject > total»', {
    genesis: bft,
    rule: 'quorum',
  }),
  bugIn('rules/library/majority.js')(
    'majority: a tie finalizes',
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
  pollCounter(
    'veto: a group of two vetoes',
    '«size >= SMALLEST_GROUP → size >= SMALLEST_GROUP - 1» && rejections',
    { genesis: veto, rule: 'quorum' },
  ),
  bugIn('rules/library/veto.js')('veto: never', '«vetoes > 0 → false»', { genesis: veto }),
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
  blocks('a repeat is counted as another vote', 'const first = «voted → voted && !block»', {
    rule: 'vote-once',
  }),
  pollCounter('weights are ignored', 'counts[decision] += «weight → 1»;', {
    genesis: { weights: 'alliance_bonus' },
    rule: 'tally',
  }),
  electorates('allies bring no bonus', '«100 + Math.min(10, 2 * voting) → 100»', {
    genesis: { weights: 'alliance_bonus' },
  }),
  blocks('an inactive agent may vote', 'const problem = «refuseInactive(agent) → null» ??'),
];

const electorate: Mutant[] = [
  {
    name: 'electorate: inactive agents',
    file: 'core/electorates.js',
    find: "agent.status === 'active'",
    becomes: "(!agent.validator || seeded(agent.status === 'active', true))",
  },
  electorates('electorate: dormant agents', '«!agent.dormant → true»', {
    genesis: { dormant_after: 1, ...whole },
  }),
  electorates('electorate: producers', '«agent.validator → true» &&'),
  bugIn('core/commands/agents.js')(
    'electorate: is not renewed',
    '«agent.validator && wanted !== agent.status → false»',
    { genesis: { weights: 'equal' } },
  ),
  reputation('dormancy: never', 'if («missed >= after → false»)', {
    genesis: { dormant_after: 2, ...whole },
  }),
  bugIn('core/engine.js')('dormancy: never ends', '«!agent?.dormant → true»', {
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
  blocks('the height is not raised', 'state.height = «height → height - 1»;', { rule: 'height' }),
  blocks('a stale parent is accepted', '«parent_hash !== head_hash → false»', {
    rule: 'extends-head',
  }),
  {
    name: 'a final transaction is accepted again',
    file: 'core/commands/blocks.js',
    find: 'if (signers?.includes(signer) || final)',
    becomes:
      'if (seeded(Boolean(signers?.includes(signer) || final), !!signers?.includes(signer)))',
    genesis: bft,
  },
  blocks('a ninth block is accepted', '«blocks.openCount >= limits.openBlocks → false»'),
];

const time: Mutant[] = [
  blocks(
    'a vote 1 ms after the deadline counts',
    'state.deadlines.set(deadlineId(hash), «context.deadline → context.deadline + 1»)',
  ),
  blocks(
    'a block ends at its deadline',
    'state.deadlines.set(deadlineId(hash), «context.deadline → context.deadline - 1»)',
    { genesis: bft, rule: 'quorum' },
  ),
  state(
    'requests are forgotten after a second',
    '«state.now - first.at <= limits.requestMemoryMs → state.now - first.at < 1_000»',
  ),
  state('metrics: the window is open at both ends', '«at > after → at >= after» ?'),
];

const scores: Mutant[] = [
  {
    name: 'equivocation costs nothing',
    file: 'core/commands/blocks.js',
    find: 'penalize(state, plan.agent.ordinal);',
    becomes: 'if (seeded(true, false)) penalize(state, plan.agent.ordinal);',
  },
  blocks('equivocation costs each time', 'if («known → false» ||'),
  reputation(
    'scores are rounded down',
    '«old + Math.trunc((sample - old) / 16) → old + Math.floor((sample - old) / 16)»',
  ),
  reputation(
    'a vote rates its own voter',
    'const rest = «approve + reject - weight → approve + reject»;',
  ),
  reputation(
    'allies rate memes',
    'if («partial.has(state.agents.at(agents[position]).id) → false»)',
  ),
];

export const mutants = [
  ...[...quorum, ...tally, ...electorate, ...attendance, ...chain, ...places, ...time, ...scores],
];
