/** Cases about ballots, options and decision rules: refusals, choices, standings and draws. */
import type { GenesisOptions } from '../../engine/admit/genesis.js';
import {
  composeProposal,
  composeVote,
  type ProposalFields,
} from '../../engine/protocol/compose.js';
import type { Decision } from '../../engine/protocol/schema/primitives.js';
import type { AnswerOf } from '../../engine/protocol/schema/view.js';
import type { Actor, Case, Harness } from './harness.js';

const diff = (additions: object, deletions: object = {}) => ({ additions, deletions });

const colours = ['red', 'green', 'blue'].map((name) => {
  return { name, state_diff: diff({ colour: name, [name]: true }, { none: 0 }) };
});

/** Proposes a block with any members, and returns the outcome. */
const propose = (harness: Harness, by: Actor, members: object, note?: string) => {
  const fields = { parent_hash: harness.head, transactions: [], ...members };
  return harness.ask(composeProposal(by, harness.stamp(), fields as ProposalFields), note);
};

/** Proposes a block and returns its hash. */
async function open(harness: Harness, by: Actor, members: object = {}): Promise<string> {
  const outcome = await propose(harness, by, members);
  if (outcome.result !== 'accepted') throw new Error(JSON.stringify(outcome));
  return (outcome.data as AnswerOf['propose']).block_hash;
}

interface Cast {
  decision?: Decision;
  /** Absent: a vote without a ballot. */
  ballot?: unknown;
  note?: string;
}

function cast(harness: Harness, by: Actor, block_hash: string, { note, ...vote }: Cast = {}) {
  const fields = { block_hash, decision: 'approve' as const, ...vote };
  return harness.ask(composeVote(by, harness.stamp(), fields), note);
}

/** Casts a vote by each agent, in order. */
async function castAll(
  harness: Harness,
  agents: readonly Actor[],
  block: string,
  votes: readonly Cast[],
): Promise<void> {
  for (const [index, vote] of votes.entries()) await cast(harness, agents[index]!, block, vote);
}

const refused: [note: string, ballot: unknown][] = [
  ['null', null],
  ['an array', ['red']],
  ['a text', 'red'],
  ['without its member', {}],
  ['a second member', { ranking: ['red'], option: 'red' }],
  ['a member of the wrong type', { ranking: 'red' }],
  ['an empty ranking', { ranking: [] }],
  ['an item of the wrong type', { ranking: ['red', 7] }],
  ['a duplicate rank', { ranking: ['red', 'blue', 'red'] }],
  ['an unknown option', { ranking: ['red', 'pink'] }],
  ['a tier of one option', { ranking: [['red'], 'blue'] }],
  ['an empty tier', { ranking: ['red', []] }],
  ['a tier in a tier', { ranking: [['red', ['blue', 'green']]] }],
  ['a tier with an item of the wrong type', { ranking: [['red', 7]] }],
  ['a tier with an option twice', { ranking: [['red', 'red']] }],
  ['a tier with an option of another tier', { ranking: [['red', 'blue'], 'red'] }],
  ['a tier with an unknown option', { ranking: [['red', 'pink']] }],
  ['too large', { ranking: ['x'.repeat(2_048)] }],
];

const ballots: Case = {
  name: 'ballots',
  about: 'ballots that a rule refuses, with pointers; repeated and changed ballots',
  genesis: { policy: 'schulze' },
  async play(harness) {
    const [ada, bob, cem] = (await harness.joinMany(3)) as [Actor, Actor, Actor];
    const block = await open(harness, ada, { options: colours });
    for (const [note, ballot] of refused) await cast(harness, ada, block, { ballot, note });
    const rejection = { decision: 'reject', ballot: { ranking: ['pink'] } } as const;
    await cast(harness, ada, block, { ...rejection, note: 'a rejection with an unknown option' });
    const ballot = { ranking: ['blue', 'red'] };
    await cast(harness, ada, block, { ballot });
    await cast(harness, ada, block, { ballot, note: 'the same ballot is a duplicate' });
    await cast(harness, ada, block, { ballot: { ranking: ['red'] }, note: 'another ballot' });
    await cast(harness, ada, block, { note: 'no ballot' });
    await cast(harness, ada, block, {
      ballot: null,
      note: 'a refused ballot is not an equivocation',
    });
    await cast(harness, bob, block, { note: 'a vote without a ballot' });
    const tiers = { ranking: ['green', ['red', 'blue']] };
    await cast(harness, cem, block, { decision: 'reject', ballot: tiers });
  },
};

const badOptions: [note: string, options: unknown][] = [
  ['null', null],
  ['no option', []],
  ['one option', [{ name: 'a' }]],
  ['17 options', Array.from({ length: 17 }, (_, index) => ({ name: `o${index}` }))],
  ['without a name', [{ name: 'a' }, {}]],
  ['a name that is a number', [{ name: 'a' }, { name: 7 }]],
  ['an empty name', [{ name: 'a' }, { name: '' }]],
  ['a name of 65 characters', [{ name: 'a' }, { name: 'b'.repeat(65) }]],
  ['a name with a space', [{ name: 'a' }, { name: 'b c' }]],
  ['a name that begins with a point', [{ name: 'a' }, { name: '.b' }]],
  ['a name twice', [{ name: 'a' }, { name: 'a' }]],
  ['a state key with a space', [{ name: 'a' }, { name: 'b', state_diff: diff({ 'a b': 1 }) }]],
  ['a key added and deleted', [{ name: 'a' }, { name: 'b', state_diff: diff({ k: 1 }, { k: 1 }) }]],
  ['a value too large', [{ name: 'a', state_diff: diff({ k: 'x'.repeat(4_095) }) }, { name: 'b' }]],
];

const options: Case = {
  name: 'options',
  about: 'options refused and accepted; the state diff of the chosen option; ties; rejections',
  genesis: { policy: 'plurality' },
  async play(harness) {
    const [ada, bob, cem] = (await harness.joinMany(3)) as [Actor, Actor, Actor];
    for (const [note, list] of badOptions) await propose(harness, ada, { options: list }, note);
    const all = [ada, bob, cem];
    const names = (...list: string[]) => list.map((option) => ({ ballot: { option } }));
    const state_diff = diff({ colour: 'none', none: 1, kept: 1 });
    const first = await open(harness, ada, { options: colours, state_diff });
    await castAll(harness, all, first, names('blue', 'green', 'blue'));
    const tie = await open(harness, bob, { options: colours });
    await castAll(harness, all, tie, [...names('blue', 'green'), {}]);
    const rejected = await open(harness, cem, { options: colours });
    const against = { decision: 'reject', ballot: { option: 'red' } } as const;
    await castAll(harness, all, rejected, [...names('blue'), against, against]);
    const bare = await open(harness, ada);
    await cast(harness, ada, bare, { ballot: { option: 'blue' }, note: 'a block without options' });
    await castAll(harness, all, bare, [{}, {}, {}]);
    const few = await open(harness, bob, { options: colours });
    await cast(harness, cem, few, { ballot: { option: 'red' } });
    await harness.pass(60_000);
    const sixteen = Array.from({ length: 16 }, (_, index) => ({ name: `o-${index}.A_` }));
    await open(harness, cem, { options: sixteen });
  },
};

/** Votes and refused ballots for rules that do not choose among options. */
const singles: [policy: string, votes: readonly Cast[], refused: readonly unknown[]][] = [
  [
    'quadratic',
    [{ ballot: { votes: 5 } }, {}, { decision: 'reject', ballot: { votes: 3 } }],
    [{ votes: 6 }, { votes: 0 }, { votes: 1.5 }, { votes: '1' }, { vote: 1 }],
  ],
  ['unanimity', [{ ballot: { ignored: true } }, {}, { decision: 'reject' }], []],
  ['threshold', [{}, {}, {}], []],
];

const singleCases = singles.map(
  ([policy, votes, bad]): Case => ({
    name: `rule-${policy}`,
    about: `blocks decided by the rule ${policy}`,
    genesis: { policy },
    async play(harness) {
      const agents = await harness.joinMany(4);
      const block = await open(harness, agents[0]!, { options: colours });
      for (const ballot of bad) await cast(harness, agents[0]!, block, { ballot });
      await castAll(harness, agents, block, votes);
      await harness.pass(60_000);
    },
  }),
);

const delegation: Case = {
  name: 'rule-liquid',
  about: 'delegations along chains, to an absent agent and in cycles',
  genesis: { policy: 'liquid' },
  async play(harness) {
    const agents = await harness.joinMany(8);
    const block = await open(harness, agents[0]!);
    const to = (index: number, decision: Decision = 'approve') => {
      return { decision, ballot: { delegate: agents[index]!.id } };
    };
    for (const delegate of ['ada', agents[0]!.id.toUpperCase(), 7]) {
      await cast(harness, agents[0]!, block, { ballot: { delegate } });
    }
    // 1 and 2 follow 0; 3 and 4 are a cycle, which 5 follows; 6 delegates to 7, which is absent.
    const chains = [to(0), to(2), to(4), to(3, 'reject'), to(3), to(7)];
    await castAll(harness, agents, block, [{ decision: 'reject' }, ...chains]);
    await harness.pass(60_000);
    const next = await open(harness, agents[1]!);
    const unknown = { ballot: { delegate: `agent_${'0'.repeat(32)}` } };
    await castAll(harness, agents, next, [to(0), unknown, to(1), to(2), {}, {}, {}, to(7)]);
  },
};

const preferences = ['red green', 'green blue', 'blue', 'blue green red', 'green'].map((text) =>
  text.split(' '),
);

/** Ballots of five agents by policy, for the same preferences. */
const elections: [policy: string, ballot: (ranking: readonly string[]) => unknown][] = [
  ['approval', (approved) => ({ approved })],
  ['proportional', (approved) => ({ approved })],
  [
    'score',
    (ranking) => ({
      scores: Object.fromEntries(ranking.map((name, index) => [name, 10 - 3 * index])),
    }),
  ],
  ...['borda', 'instant_runoff', 'ranked_pairs', 'schulze'].map(
    (policy): [string, (ranking: readonly string[]) => unknown] => [
      policy,
      (ranking) => ({ ranking }),
    ],
  ),
];

const electionCases = elections.map(
  ([policy, ballotOf]): Case => ({
    name: `rule-${policy}`,
    about: `choices and standings by the rule ${policy}`,
    genesis: { policy, weights: 'reputation' },
    async play(harness) {
      const agents = await harness.joinMany(6);
      for (let turn = 0; turn < 2; turn += 1) {
        const block = await open(harness, agents[turn]!, { options: colours });
        const votes = preferences.map((ranking, index): Cast => {
          const decision = index === 4 && turn === 1 ? 'reject' : 'approve';
          return { decision, ballot: ballotOf(ranking) };
        });
        await castAll(harness, agents, block, votes);
        await harness.pass(60_000);
      }
    },
  }),
);

type Parameters = Record<string, number>;

/** Options of a poll, and a ballot per agent: `a b=c` ranks a over b and c, which are equal. */
type Count = readonly [options: string, ballots: readonly string[]];

const cycle: Count = ['a b c', ['a b', 'b c', 'c a']];
/** Equal options and omissions, for rules that compare pairs. */
const weakOrders: readonly Count[] = [
  // Option a beats c by 4 to 2. Cut at the first tie, the ballots elect c.
  ['a b c', ['a=b c', 'a=b c', 'a=b c', 'a b', 'c', 'c']],
  ['a b c', ['a=b c', 'a=b c', 'a b=c', 'a b', 'b a=c', 'c a', 'c a=b']],
  ['a b c d', ['b=c a=d', 'b=c a=d', 'a=d', 'a=b=c=d', 'd c', 'a b=d c']],
  ['a b c', ['a=b=c', 'c=b', 'b=c', 'a=c', '']],
  ['a b', ['a', 'b']],
  // Equal options add nothing to the strength of a pair.
  ['a b c d', ['a=b d', 'd c b a', 'c a=b d']],
  ['a b c d', ['d b c a', 'a=c d b', 'b c a', 'a d']],
];
/** Pairs whose order by winning votes differs from their order by margins. */
const margins: readonly Count[] = [
  ['a b c', ['c b a', 'a c', 'a c b', 'b', 'b']],
  ['a b c d', ['c d', 'd b a', 'b a c d']],
];

const runoffs: readonly Count[] = [
  // Of the worst options b and c, the last is eliminated, so b wins.
  ['a b c', ['a', 'a', 'a', 'b a', 'b a', 'c b', 'c b']],
  // The first round ends the count.
  ['a b c d', ['a', 'a', 'a', 'a', 'b', 'c b', 'd b']],
  // Exactly half is not a majority.
  ['a b c', ['a', 'a', 'b', 'c b']],
  // Without the exhausted ballot for d, a has a majority in the second round.
  ['a b c d', ['a', 'a', 'a', 'a', 'b', 'b', 'c b', 'd']],
];

const lockings: readonly Count[] = [
  // All pairs are equally strong, so the number of the winner and then of the loser decide.
  cycle,
  // Of equally strong pairs, the one with less weight against it is locked first.
  ['a b c d', ['c d b', 'a c', 'd b a']],
  ['a b c d', ['d a b', 'b c', 'c d a']],
];

const seatings: readonly Count[] = [
  // Half of five ballots is more than two ballots; a third is not.
  ['a b c', ['a b', 'a b', 'a b', 'a b', 'a b', 'c', 'c']],
  ['a b c', ['a b', 'a b', 'a b', 'a b', 'c', 'c', 'c']],
];

/** Polls on which a rule differs from rules that are different in one detail. */
const details: readonly [policy: string, parameters: Parameters, counts: readonly Count[]][] = [
  ['instant_runoff', {}, runoffs],
  // No option of the cycle beats another, and the first wins.
  ['schulze', {}, [cycle, ...margins, ...weakOrders]],
  ['schulze', { margins: 1 }, [...margins, ...weakOrders]],
  ['ranked_pairs', {}, [...lockings, ...margins, ...weakOrders]],
  ['ranked_pairs', { margins: 1 }, [...margins, ...weakOrders]],
  ['borda', {}, weakOrders],
  ['proportional', { seats: 2 }, seatings],
];

const splitText = (text: string, separator: string) => (text === '' ? [] : text.split(separator));

/** Returns the vote with a ballot in short form. An empty text is a vote without a ballot. */
function castText(policy: string, text: string): Cast {
  const names = splitText(text, ' ');
  if (names.length === 0) return {};
  if (policy === 'proportional') return { ballot: { approved: names } };
  const ranking = names.map((tier) => (tier.includes('=') ? tier.split('=') : tier));
  return { ballot: { ranking } };
}

const detailCases = details.map(
  ([policy, parameters, counts]): Case => ({
    name: ['count', policy, ...(parameters.margins === 1 ? ['margins'] : [])].join('-'),
    about: `polls on which the rule ${policy} differs from similar rules`,
    genesis: { policy, rule: { parameters: { ...parameters, turnout_bps: 0 } } },
    async play(harness) {
      const agents = await harness.joinMany(8);
      for (const [turn, [list, texts]] of counts.entries()) {
        const names = splitText(list, ' ').map((name) => ({ name }));
        const block = await open(harness, agents[turn % agents.length]!, { options: names });
        const votes = texts.map((text) => castText(policy, text));
        // The other agents have no preference.
        await castAll(harness, agents, block, [...votes, ...Array(8 - votes.length).fill({})]);
      }
    },
  }),
);

const strict: Case = {
  name: 'ballots-strict',
  about: 'equal options, which the rule instant_runoff refuses',
  genesis: { policy: 'instant_runoff' },
  async play(harness) {
    const [ada] = (await harness.joinMany(3)) as [Actor];
    const block = await open(harness, ada, { options: colours });
    for (const ranking of [['red', ['blue', 'green']], [['red', 'blue']], [['red']]]) {
      await cast(harness, ada, block, { ballot: { ranking } });
    }
    await cast(harness, ada, block, { ballot: { ranking: ['red', 'blue'] } });
  },
};

/** Committees that draw seats, that draw the units without a seat, and that seat all weight. */
const draws: [name: string, parameters: Parameters, weights: GenesisOptions['weights']][] = [
  ['few', { size: 3 }, 'equal'],
  // More seats are drawn than expected, so the second threshold needs fewer of them.
  ['of-drawn', { size: 5, for_bps: 9_000 }, 'equal'],
  ['of-expected', { size: 5, for_bps: 9_000, of_drawn: 0 }, 'equal'],
  ['chunks', { size: 90, of_drawn: 0, for_bps: 5_000 }, 'alliance_bonus'],
  ['most', { size: 400 }, 'alliance_bonus'],
  ['all', { size: 10_000 }, 'equal'],
];

const committeeCases = draws.map(
  ([name, parameters, weights]): Case => ({
    name: `rule-committee-${name}`,
    about: 'seats of a committee that the hash of the block draws',
    genesis: { policy: 'committee', rule: { parameters }, ...(weights ? { weights } : {}) },
    async play(harness) {
      const agents = await harness.joinMany(7);
      for (let turn = 0; turn < 3; turn += 1) {
        const block = await open(harness, agents[turn]!);
        const decision = turn === 1 ? 'reject' : 'approve';
        await castAll(harness, agents, block, Array(turn === 2 ? 2 : 7).fill({ decision }));
        await harness.pass(60_000);
      }
    },
  }),
);

const lines: Case = {
  name: 'rule-lines',
  about: 'inequalities in genesis, with vetoes and with lines for the end of voting',
  genesis: {
    policy: 'lines',
    rule: {
      lines: JSON.parse(`[
        { "if": { "vetoes": 1 }, "then": "rejected" },
        { "if": { "approve": 3, "total": -2 }, "then": "finalized" },
        { "if": { "voted": 2, "electors": -1, "one": -1 }, "over": true, "then": "finalized" }
      ]`),
    },
  },
  async play(harness) {
    const lawful = await harness.joinMany(3, undefined, { personality: 'lawful' });
    const greedy = await harness.joinMany(4, undefined, { personality: 'greedy' });
    const decisions: [Actor[], Decision][][] = [
      [[lawful, 'reject']],
      [
        [greedy, 'approve'],
        [lawful.slice(1), 'approve'],
      ],
      [[greedy, 'approve']],
      [[greedy.slice(1), 'reject']],
    ];
    for (const [turn, votes] of decisions.entries()) {
      const block = await open(harness, greedy[turn]!);
      for (const [agents, decision] of votes) {
        for (const by of agents) await cast(harness, by, block, { decision });
      }
      await harness.pass(60_000);
    }
  },
};

export const ballotCases: readonly Case[] = [
  ...[ballots, strict, options, ...electionCases, ...detailCases, ...singleCases],
  ...[delegation, ...committeeCases, lines],
];
