/** Properties of the rules in the library, for arbitrary polls. */
import { findRuleProblem } from '../../../dist/engine/rules/network-rule.js';
import type { VoteRule } from '../../../dist/engine/rules/rule.js';
import { fc, forAll } from '../../support/property.js';
import { decideByDefinition } from './oracle.js';
import {
  agentId,
  arbitraryPoll,
  ballotPolicies,
  countPoll,
  createRule,
  decidePoll,
  electionPolicies,
  hashOf,
  isRefused,
  policies,
  type TestVote,
  tallyPoll,
  toPoll,
} from './polls.js';

/** Arbitrary parameters of a policy: defaults, bounds, and values between. */
function arbitraryParameters(policy: string): fc.Arbitrary<Record<string, number>> {
  const parameters = Object.entries(createRule(policy).rule.parameters);
  const values = parameters.map(([name, { default: standard, minimum, maximum }]) => {
    // Large committees take a long time to draw.
    const most = policy === 'committee' ? Math.min(maximum, 10_000) : maximum;
    const any = fc.integer({ min: minimum, max: most });
    return [name, fc.oneof(fc.constantFrom(standard, minimum, most), any)];
  });
  return fc.record(Object.fromEntries(values) as Record<string, fc.Arbitrary<number>>, {
    noNullPrototype: true,
  });
}

/** Arbitrary polls with arbitrary parameters. */
const arbitraryCase = (policy: string) =>
  arbitraryParameters(policy).chain((parameters) => {
    const rule = createRule(policy, parameters);
    return arbitraryPoll(policy, rule).map((poll) => ({ rule, poll }));
  });

test('library: has the named rules', () => {
  expect(policies).toEqual([
    ...['approval', 'bft', 'borda', 'committee', 'effective', 'instant_runoff', 'liquid'],
    ...['majority', 'plurality', 'proportional', 'quadratic', 'ranked_pairs', 'schulze', 'score'],
    ...['threshold', 'unanimity', 'veto'],
  ]);
});

describe.each(policies)('library: %s', (policy) => {
  test('has a title, and parameters whose defaults are in bounds', () => {
    const { rule } = createRule(policy);
    expect(rule.title).toMatch(/^[A-Z].{10,98}[^.]$/u);
    for (const [name, { about, default: value, minimum, maximum }] of Object.entries(
      rule.parameters,
    )) {
      expect(about.length, name).toBeGreaterThan(10);
      expect(minimum).toBeLessThanOrEqual(value);
      expect(value).toBeLessThanOrEqual(maximum);
      const findProblem = (parameter: number) =>
        findRuleProblem({ policy, rule: { parameters: { [name]: parameter } } })?.pointer;
      expect(findProblem(maximum)).toBeUndefined();
      expect(findProblem(maximum + 1)).toBe(`/rule/parameters/${name}`);
      expect(findProblem(minimum - 1)).toBe(`/rule/parameters/${name}`);
    }
  });

  test('decides every poll at its end, without a fault', () => {
    forAll([arbitraryCase(policy)], ({ rule, poll }) => {
      const { after, end } = countPoll(rule, poll);
      expect(end.status).toMatch(/^(finalized|rejected|expired)$/);
      const all = after.at(-1);
      if (all && !poll.absent?.length) expect(all.status).not.toBeNull();
      for (const verdict of [...after, end]) expect(verdict.fault).toBeUndefined();
      if (!rule.usesOptions) expect(end.choice).toBeUndefined();
      if (rule.usesOptions && end.status === 'finalized' && poll.options.length > 0) {
        expect(poll.options).toContain(end.choice);
      }
    });
  });

  test('never changes an early decision', () => {
    forAll([arbitraryCase(policy)], ({ rule, poll }) => {
      const { after, end } = countPoll(rule, poll);
      const early = after.find(({ status }) => status !== null);
      if (early) expect(end.status).toBe(early.status);
    });
  });

  test('decides an empty poll', () => {
    for (const options of [[], ['a', 'b']]) {
      const { status, choice } = decidePoll(createRule(policy), {
        ...{ options, votes: [], absent: [1] },
      });
      expect(status).toMatch(/^(rejected|expired)$/);
      expect(choice).toBeUndefined();
    }
  });
});

describe.each(ballotPolicies)('library: %s', (policy) => {
  const { source } = createRule(policy).rule;

  test('names its source', () => {
    expect(source).toMatch(/\d{4}, /);
  });

  test('counts vote by vote with the result of its definition', () => {
    forAll([arbitraryCase(policy)], ({ rule, poll }) => {
      const { after, end } = countPoll(rule, poll);
      expect(end).toEqual(tallyPoll(rule, poll, true));
      const { decidesEarly } = rule.rule as VoteRule;
      const { votes, absent = [] } = poll;
      for (const [position, verdict] of after.entries()) {
        const later = votes.slice(position + 1).map(({ weight = 1 }) => weight);
        const over = later.length + absent.length === 0;
        if (!over && !decidesEarly) {
          expect(verdict.status).toBeNull();
          continue;
        }
        const part = {
          ...poll,
          votes: votes.slice(0, position + 1),
          absent: [...later, ...absent],
        };
        const { status, standings } = tallyPoll(rule, part, over);
        expect(verdict.status).toBe(status);
        if (status !== null) expect(verdict.standings).toEqual(standings);
      }
    });
  });

  test('gives every order of votes the same result', () => {
    const shuffled = arbitraryCase(policy).chain(({ rule, poll }) =>
      fc
        .shuffledSubarray([...poll.votes.keys()], { minLength: poll.votes.length })
        .map((order) => ({ rule, poll, order })),
    );
    forAll([shuffled], ({ rule, poll, order }) => {
      const { tally } = rule.rule as VoteRule;
      const { votes, ...rest } = toPoll(poll);
      const moved = { ...rest, votes: order.map((position) => votes[position]!), over: true };
      expect(tally(moved, rule.values)).toEqual(tallyPoll(rule, poll, true));
    });
  });
});

describe.each(electionPolicies)('elections: %s', (policy) => {
  test('decides every poll as its definition', () => {
    forAll([arbitraryCase(policy)], ({ rule, poll }) => {
      expect(decidePoll(rule, poll)).toEqual(decideByDefinition(policy, poll, rule.values));
    });
  });

  test('refuses ballots that name an unknown option, or an option twice', () => {
    const rule = createRule(policy);
    const ballots: Record<string, unknown[]> = {
      approval: [{ approved: ['x'] }, { approved: ['a', 'a'] }],
      proportional: [{ approved: ['x'] }, { approved: ['a', 'a'] }],
      plurality: [{ option: 'x' }, { option: ['a', 'a'] }],
      score: [{ scores: { x: 1 } }, { scores: JSON.parse('{"__proto__": 1}') }],
    };
    const ranked = [{ ranking: ['x'] }, { ranking: ['a', 'a'] }, { ranking: [] }];
    for (const ballot of ballots[policy] ?? ranked) {
      expect(isRefused(rule, ballot, ['a', 'b']), JSON.stringify(ballot)).toBe(true);
    }
  });
});

test('rankings: instant_runoff refuses equal options', () => {
  const rule = createRule('instant_runoff');
  const options = ['a', 'b', 'c'];
  const found = rule.findBallotProblem(
    { ranking: ['a', ['b', 'c']] },
    { hash: hashOf(''), height: 1, options },
  );
  expect(found?.pointer).toBe('/ranking/1');
});

test('score: refuses a score above the highest, and adds scores times weights', () => {
  const rule = createRule('score', { highest: 5 });
  expect(isRefused(rule, { scores: { a: 5 } }, ['a', 'b'])).toBe(false);
  expect(isRefused(rule, { scores: { a: 6 } }, ['a', 'b'])).toBe(true);
  const votes = [
    { weight: 3, ballot: { scores: { a: 2, b: 1 } } },
    { weight: 1, ballot: { scores: { b: 5 } } },
  ];
  const standings = { a: 6, b: 8 };
  const expected = { status: 'finalized', choice: 'b', standings };
  expect(decidePoll(rule, { options: ['a', 'b'], votes })).toEqual(expected);
});

test('quadratic: refuses more votes than the credits pay for', () => {
  const rule = createRule('quadratic', { credits: 24 });
  expect(isRefused(rule, { votes: 4 }, [])).toBe(false);
  expect(isRefused(rule, { votes: 5 }, [])).toBe(true);
  expect(isRefused(rule, { votes: 0 }, [])).toBe(true);
  // Two votes of weight 3 outweigh five single votes; turnout counts weights.
  const votes: TestVote[] = [
    { weight: 3, ballot: { votes: 2 } },
    ...Array.from({ length: 5 }, () => ({ decision: 'reject' as const })),
  ];
  const standings = { approve: 6, reject: 5 };
  expect(decidePoll(rule, { options: [], votes })).toEqual({ status: 'finalized', standings });
  const absent = { options: [], votes, absent: [9] };
  expect(decidePoll(rule, absent)).toEqual({ status: 'expired', standings });
});

const copies = (model: string, count: number, decision: 'approve' | 'reject'): TestVote[] =>
  Array.from({ length: count }, () => ({ decision, ballot: { model } }));

test('effective: copies of one model lose against as many independent models', () => {
  const rule = createRule('effective', { correlation_bps: 4_375 });
  const others = ['a', 'b', 'c'].flatMap((model) => copies(model, 1, 'reject'));
  const votes = [...copies('m', 9, 'approve'), ...others];
  const standings = { approve: 2_000, reject: 3_000, effective: 5_000 };
  expect(decidePoll(rule, { options: [], votes })).toEqual({ status: 'rejected', standings });
  const equal = createRule('effective', { correlation_bps: 0 });
  expect(decidePoll(equal, { options: [], votes }).status).toBe('finalized');
  expect(isRefused(rule, { model: 'm' }, [])).toBe(false);
  for (const model of ['', 'a b', 'é', 'm'.repeat(65)]) {
    expect(isRefused(rule, { model }, []), model).toBe(true);
  }
});

test('effective: more approvals never reject a block', () => {
  const models = fc.array(fc.constantFrom('a', 'b', 'c', undefined), { maxLength: 12 });
  forAll([models, models, arbitraryParameters('effective')], (yes, no, parameters) => {
    const rule = createRule('effective', { ...parameters, least_effective: 0, turnout_bps: 0 });
    const vote = (decision: 'approve' | 'reject') => (model: string | undefined) => {
      return model === undefined ? { decision } : { decision, ballot: { model } };
    };
    const votes = [...yes.map(vote('approve')), ...no.map(vote('reject'))];
    if (decidePoll(rule, { options: [], votes }).status !== 'finalized') return;
    const more = { options: [], votes: [...votes, vote('approve')('a')] };
    expect(decidePoll(rule, more).status).toBe('finalized');
  });
});

const delegate = (agent: number) => ({ delegate: agentId(agent) });

test('liquid: refuses a delegation to anything but an agent', () => {
  const rule = createRule('liquid');
  expect(isRefused(rule, delegate(7), [])).toBe(false);
  for (const wrong of ['', 'agent_7', `${agentId(7)}0`, agentId(7).toUpperCase()]) {
    expect(isRefused(rule, { delegate: wrong }, []), wrong).toBe(true);
  }
});

test('liquid: counts all weight cast once, for the last agent of each chain', () => {
  forAll([arbitraryPoll('liquid')], { numRuns: 500 }, (poll) => {
    const { standings } = decidePoll(createRule('liquid'), poll);
    expect(standings).toEqual(followDelegations(poll.votes));
    const cast = poll.votes.reduce((sum, { weight = 1 }) => sum + weight, 0);
    expect(standings!.approve! + standings!.reject!).toBe(cast);
  });
});

/** Follows each delegation step by step: the documented rule without its algorithm. */
function followDelegations(votes: readonly TestVote[]) {
  const sums = { approve: 0, reject: 0, delegated: 0 };
  const next = (voter: number) => {
    const { delegate } = (votes[voter]!.ballot ?? {}) as { delegate?: string };
    const found = votes.findIndex((_, other) => agentId(other) === delegate);
    return found < 0 ? voter : found;
  };
  const isOnCycle = (voter: number) => {
    let at = next(voter);
    for (let step = 0; step < votes.length && at !== voter; step += 1) at = next(at);
    return at === voter;
  };
  for (const [voter, { weight = 1 }] of votes.entries()) {
    let decider = voter;
    while (!isOnCycle(decider)) decider = next(decider);
    sums[votes[decider]!.decision ?? 'approve'] += weight;
    if (decider !== voter) sums.delegated += weight;
  }
  return sums;
}

test('threshold: agrees with majority at the end, for half of the weight cast', () => {
  forAll([arbitraryPoll('threshold'), fc.nat({ max: 10_000 })], (poll, turnout_bps) => {
    const threshold = createRule('threshold', { for_bps: 5_000, turnout_bps, of_cast: 1 });
    const majority = createRule('majority', { participation_bps: turnout_bps });
    expect(decidePoll(threshold, poll)).toEqual(decidePoll(majority, poll));
  });
});

test.each([
  ['60 of 100 do not exceed 60 %', 60, 40, {}, 'rejected'],
  ['61 of 100 exceed 60 %', 61, 0, {}, 'finalized'],
  ['30 of 50 do not exceed 60 % of the weight cast', 30, 20, { of_cast: 1 }, 'rejected'],
  ['31 of 51 exceed 60 % of the weight cast', 31, 20, { of_cast: 1 }, 'finalized'],
  ['31 of 51 are not enough of all weight', 31, 20, {}, 'expired'],
  ['a turnout of 39 of 100 is too low', 39, 0, { of_cast: 1, turnout_bps: 4_000 }, 'expired'],
  ['a turnout of 40 of 100 is enough', 40, 0, { of_cast: 1, turnout_bps: 4_000 }, 'finalized'],
])('threshold: %s', (_, approve, reject, parameters, status) => {
  const rule = createRule('threshold', { for_bps: 6_000, ...parameters });
  const voted = approve + reject;
  const counts = { approve, reject, total: 100, voted, electors: 100, vetoes: 0 };
  expect(rule.decide(counts, true)).toBe(status);
});

test('threshold: needs one approval more than its share to close a block early', () => {
  for (let electors = 1; electors <= 300; electors += 1) {
    for (const of_cast of [0, 1]) {
      const rule = createRule('threshold', { for_bps: 6_000, of_cast });
      expect(rule.approvalsToClose(electors)).toBe(Math.floor((3 * electors) / 5) + 1);
    }
    expect(createRule('unanimity').approvalsToClose(electors)).toBe(electors);
  }
});

test('committee: a committee as large as the total weight includes every elector', () => {
  forAll([arbitraryPoll('committee')], ({ votes, ...poll }) => {
    const present = votes.map((vote) => ({ ...vote, weight: Math.min(50, vote.weight ?? 1) }));
    const absent = poll.absent?.map((weight) => Math.min(50, weight)) ?? [];
    const sum = (part: readonly number[]) => part.reduce((all, weight) => all + weight, 0);
    const weights = present.map(({ weight }) => weight);
    const rule = createRule('committee', { size: 1_000 });
    const { standings } = tallyPoll(rule, { ...poll, votes: present, absent }, true);
    const approve = sum(weights.filter((_, at) => present[at]!.decision !== 'reject'));
    const seats = sum([...weights, ...absent]);
    expect(standings).toEqual({ approve, reject: sum(weights) - approve, seats });
  });
});

test('committee: is drawn from the hash of the block', () => {
  const votes = Array.from({ length: 100 }, () => ({}));
  const rule = createRule('committee', { size: 10 });
  const drawn = Array.from({ length: 50 }, (_, block) => {
    const poll = { options: [], votes, hash: hashOf(block) };
    expect(tallyPoll(rule, poll, true)).toEqual(tallyPoll(rule, poll, true));
    return tallyPoll(rule, poll, true).standings!.seats!;
  });
  expect(new Set(drawn).size).toBeGreaterThan(5);
});
