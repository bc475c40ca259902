/** Forgeries of ballots, options, choices and standings. */
import {
  amend,
  amendBody,
  amendEvent,
  type Change,
  closing,
  type Forged,
  type Link,
  linksOf,
  opening,
  own,
  type Value,
  votesIn,
} from './town.js';

type Forgery = [name: string, base: 'elected' | 'unproven', code: string, change: Change];

const forgery = (name: string, code: string, change: Change): Forgery => {
  return [name, 'elected', code, change];
};

const vote = (c: Forged): Link => votesIn(c)[0]!;

/** Gives a vote another ballot, in its request, record and event; undefined for none. */
function votes(c: Forged, ballot: unknown, of: Link = vote(c)): void {
  const set = (value: Value) => {
    if (ballot === undefined) delete value.ballot;
    else value.ballot = ballot;
  };
  amendBody([of], 'vote', set);
  amend([of], '["votes",', set);
  amendEvent([of], 'block_validation', set);
}

/** Changes the end of the block in its record and its event. */
function ends(c: Forged, change: (outcome: Value) => void): void {
  amend([closing(c)], own(c), ({ context }) => change(context));
  amendEvent([closing(c)], 'block_status', change);
}

/** Changes the options in both records and the event of the proposal. */
function offers(c: Forged, options: readonly string[]): void {
  const set = (value: Value) => (value.options = options);
  for (const link of [opening(c), closing(c)]) {
    amend([link], own(c), ({ context }) => set(context));
  }
  amendEvent([opening(c)], 'block_proposal', set);
}

const proposes = (c: Forged, options: unknown) => amendBody(linksOf(c), 'propose', { options });

const ballots = [
  forgery('a ballot in the request alone', 'VOTE_RECORD', (c) =>
    amendBody([vote(c)], 'vote', { ballot: { ranking: ['c'] } }),
  ),
  forgery('a ballot in the record alone', 'VOTE_RECORD', (c) =>
    amend([vote(c)], '["votes",', { ballot: { ranking: ['c'] } }),
  ),
  forgery('a ballot in the event alone', 'VOTE_EVENT', (c) =>
    amendEvent([vote(c)], 'block_validation', { ballot: { ranking: ['c'] } }),
  ),
  forgery('a ballot that changes nothing', 'SIGNATURE', (c) =>
    votes(c, { ranking: ['b', 'c'] }, votesIn(c)[1]),
  ),
  forgery('a ballot that the counted standings contradict', 'BLOCK_RECORD', (c) =>
    votes(c, { ranking: ['c', 'a', 'b'] }, votesIn(c)[1]),
  ),
  forgery('a ballot left out', 'BLOCK_RECORD', (c) => votes(c, undefined, votesIn(c)[0])),
  forgery('a ballot that is null', 'VOTE_BALLOT', (c) => votes(c, null)),
  forgery('a ballot of the wrong type', 'VOTE_BALLOT', (c) => votes(c, ['a'])),
  forgery('a ballot of another rule', 'VOTE_BALLOT', (c) => votes(c, { approved: ['a'] })),
  forgery('a ballot with a second member', 'VOTE_BALLOT', (c) =>
    votes(c, { ranking: ['a'], option: 'a' }),
  ),
  forgery('a ballot that ranks an option twice', 'VOTE_BALLOT', (c) =>
    votes(c, { ranking: ['a', 'a'] }),
  ),
  forgery('a ballot that ranks no option', 'VOTE_BALLOT', (c) => votes(c, { ranking: [] })),
  forgery('a ballot that ranks an unknown option', 'VOTE_BALLOT', (c) =>
    votes(c, { ranking: ['d'] }),
  ),
  forgery('a rejection with an unknown option', 'VOTE_BALLOT', (c) =>
    votes(c, { ranking: ['d'] }, votesIn(c).at(-1)),
  ),
];

const outcomes = [
  forgery('a choice in the claim alone', 'CLAIM_MISMATCH', (c) => (c.claim.choice = 'a')),
  forgery('no choice in the claim', 'CLAIM_MISMATCH', (c) => delete c.claim.choice),
  forgery('another choice everywhere', 'BLOCK_RECORD', (c) => {
    c.claim.choice = 'a';
    ends(c, (outcome) => (outcome.choice = 'a'));
  }),
  forgery('another choice in the event', 'BLOCK_EVENT', (c) =>
    amendEvent([closing(c)], 'block_status', { choice: 'a' }),
  ),
  forgery('other standings', 'BLOCK_RECORD', (c) =>
    ends(c, (outcome) => ((outcome.standings as Record<string, number>).a = 2)),
  ),
  forgery('standings left out', 'BLOCK_RECORD', (c) =>
    ends(c, (outcome) => delete outcome.standings),
  ),
  forgery('a fault', 'BLOCK_RECORD', (c) => ends(c, (outcome) => (outcome.fault = 'RULE_THREW'))),
];

const options = [
  forgery('another option in the proposal', 'WRONG_PROPOSAL', (c) =>
    proposes(c, [{ name: 'c' }, { name: 'b' }, { name: 'd' }]),
  ),
  forgery('another state diff of an option', 'WRONG_PROPOSAL', (c) =>
    amendBody(linksOf(c), 'propose', (body) => {
      (body.options as Value[])[0]!.state_diff = { additions: { colour: 'x' } };
    }),
  ),
  forgery('options in another order', 'BLOCK_RECORD', (c) => offers(c, ['a', 'b', 'c'])),
  forgery('an option more in the records', 'BLOCK_RECORD', (c) => offers(c, ['c', 'b', 'a', 'd'])),
  forgery('another option in the event of the proposal', 'BLOCK_EVENT', (c) =>
    amendEvent([opening(c)], 'block_proposal', { options: ['a'] }),
  ),
];

const lineOf = (factors: object) => ({
  lines: [
    Object.fromEntries([
      ['if', factors],
      ['then', 'finalized'],
    ]),
  ],
});

/** Changes the parameters of the network. */
const rules = (
  [
    ['another rule with the same ballots', 'BLOCK_RECORD', { policy: 'borda' }],
    ['a rule without ballots', 'VOTE_RECORD', { policy: 'majority' }],
    ['a parameter the rule lacks', 'GENESIS_PARAMETER', { rule: { parameters: { seats: 1 } } }],
    ['an unknown member of the rule', 'GENESIS_PARAMETER', { rule: { more: 1 } }],
    ['lines of a rule without lines', 'GENESIS_PARAMETER', { rule: { lines: [] } }],
    ['a module without text', 'GENESIS_PARAMETER', { policy: 'module', rule: {} }],
    ['missing lines', 'GENESIS_PARAMETER', { policy: 'lines' }],
    ['a large factor', 'GENESIS_PARAMETER', { policy: 'lines', rule: lineOf({ one: 1_000_001 }) }],
    ['a line without a factor', 'GENESIS_PARAMETER', { policy: 'lines', rule: lineOf({}) }],
    ['dormant_after out of bounds', 'GENESIS_PARAMETER', { rule: {}, dormant_after: 1_001 }],
  ] as const
).map(([name, code, members]) =>
  forgery(name, code, (c) => amendBody(linksOf(c), 'genesis', members)),
);

const modules = (
  [
    ["a module's choice that is not an option", { choice: 'd' }],
    ["a module's standings that are not integers", { standings: { sum: 0.5 } }],
    ['a fault of a module', { fault: 'RULE_THREW' }],
    ["a module's veto that is not a boolean", { vetoed: 1 }],
  ] as const
).map(
  ([name, members]): Forgery => [
    name,
    'unproven',
    'BLOCK_RECORD',
    (c) => {
      if ('choice' in members) c.claim.choice = members.choice;
      amend([closing(c)], own(c), ({ context }) => Object.assign(context, members));
    },
  ],
);

export const ballotForgeries: Forgery[] = [
  ...[...ballots, ...outcomes, ...options],
  ...[...rules, ...modules],
];
