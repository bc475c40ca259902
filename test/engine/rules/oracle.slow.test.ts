/** Rules that choose, compared with a second implementation on random profiles of weak orders. */
import assert from 'node:assert/strict';
import { fc, forAll } from '../../support/property.js';
import { joinTiers, type RankingItems } from '../rankings.js';
import { decideByDefinition, methods } from './oracle.js';
import {
  createRule,
  decidePoll,
  electionPolicies,
  findPollTie,
  isRefused,
  type TestPoll,
  type TestVote,
  tieredPolicies,
} from './polls.js';

const PROFILES = 2_000;
/** Each profile is counted in all orders of its options. */
const TIED_PROFILES = 500;
const names = ['a', 'b', 'c', 'd', 'e', 'f'] as const;

/** A voter's weak order over some of the options. */
interface Voter {
  weight: number;
  decision: 'approve' | 'reject';
  /** Empty: a vote without a ballot. */
  ranking: RankingItems;
}

interface Profile {
  options: readonly string[];
  voters: readonly Voter[];
  absent: readonly number[];
}

const arbitraryProfile = (most: number, voters: number): fc.Arbitrary<Profile> =>
  fc
    .tuple(fc.integer({ min: 2, max: most }), fc.integer({ min: 1, max: voters }))
    .chain(([count, electors]) => {
      const options = names.slice(0, count);
      const joins = fc.array(fc.integer({ min: 0, max: 9 }), {
        minLength: count,
        maxLength: count,
      });
      const ranking = fc.tuple(fc.shuffledSubarray([...options]), joins).map(([order, at]) =>
        joinTiers(
          order,
          at.map((one) => one < 4),
        ),
      );
      // Small weights make ties frequent.
      const weight = fc.oneof(
        fc.constant(1),
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 8_000_000 }),
      );
      const decision = fc.oneof(
        { weight: 9, arbitrary: fc.constant('approve' as const) },
        { weight: 1, arbitrary: fc.constant('reject' as const) },
      );
      const voters = fc.array(fc.record({ weight, decision, ranking }), {
        ...{ minLength: electors, maxLength: electors, size: 'max' },
      });
      const absent = fc.array(weight, { maxLength: 2 });
      return fc.record({ options: fc.constant(options), voters, absent });
    });

/** Forms of a weak order as ballots, by policy. */
function ballotOf(policy: string, ranking: RankingItems): unknown {
  const order = ranking.flat();
  if (tieredPolicies.includes(policy)) return { ranking };
  if (policy === 'instant_runoff') return { ranking: order };
  if (policy === 'plurality') return { option: order[0] };
  const tiers = ranking.map((tier) => [tier].flat());
  if (policy !== 'score') return { approved: tiers.slice(0, 2).flat() };
  const scores = tiers.flatMap((tier, at) => tier.map((name) => [name, Math.max(0, 10 - 3 * at)]));
  return { scores: Object.fromEntries(scores) };
}

function toPoll(policy: string, { options, voters, absent }: Profile): TestPoll {
  const votes = voters.map(({ ranking, ...vote }): TestVote => {
    return ranking.length === 0 ? vote : { ...vote, ballot: ballotOf(policy, ranking) };
  });
  return { options, votes, absent };
}

const parameters: Record<string, readonly Record<string, number>[]> = {
  schulze: [{ margins: 1 }],
  ranked_pairs: [{ margins: 1 }],
  proportional: [{ seats: 1 }, { seats: 16 }],
};

const cases = electionPolicies.flatMap((policy) =>
  [{}, ...(parameters[policy] ?? [])].map((given) => ({ policy, rule: createRule(policy, given) })),
);

test('oracle: defines every rule that chooses', () => {
  expect(Object.keys(methods).sort()).toEqual([...electionPolicies]);
});

test('oracle: chooses as every rule on random weak orders', () => {
  const tiers = { equal: 0, strict: 0 };
  forAll([arbitraryProfile(names.length, 40)], { numRuns: PROFILES }, (profile) => {
    for (const { ranking } of profile.voters) {
      tiers[ranking.some(Array.isArray) ? 'equal' : 'strict'] += 1;
    }
    for (const { policy, rule } of cases) {
      const poll = toPoll(policy, profile);
      assert(!poll.votes.some(({ ballot }) => isRefused(rule, ballot, poll.options)), policy);
      const expected = decideByDefinition(policy, poll, rule.values);
      assert.deepEqual(decidePoll(rule, poll), expected, policy);
    }
  });
  expect(tiers.equal).toBeGreaterThan(PROFILES);
  expect(tiers.strict).toBeGreaterThan(PROFILES);
});

/** Returns the options that win over all orders of the options; members, for a committee. */
function winnersByOrders(policy: string, poll: TestPoll, values: Record<string, number>) {
  const chosen = new Set<string>();
  const seated = new Set<string>();
  for (const options of orders(poll.options)) {
    const { status, choice, standings } = decideByDefinition(policy, { ...poll, options }, values);
    if (status !== 'finalized') return null;
    chosen.add(choice!);
    for (const [name, place] of Object.entries(standings!)) if (place > 0) seated.add(name);
  }
  const seats = Math.min(values.seats ?? 0, poll.options.length);
  const isSeatTie = policy === 'proportional' && chosen.size === 1 && seated.size > seats;
  const winners = isSeatTie ? seated : chosen;
  return winners.size < 2 ? null : poll.options.filter((option) => winners.has(option));
}

function* orders(list: readonly string[]): Generator<string[]> {
  if (list.length === 0) yield [];
  for (const one of list) {
    for (const rest of orders(list.filter((other) => other !== one))) yield [one, ...rest];
  }
}

test('oracle: finds every tie that the order of the options decides', () => {
  const ties = new Map<string, number>();
  forAll([arbitraryProfile(4, 9)], { numRuns: TIED_PROFILES }, (profile) => {
    for (const { policy, rule } of cases) {
      const poll = toPoll(policy, profile);
      const expected = winnersByOrders(policy, poll, rule.values);
      const tie = findPollTie(rule, poll);
      assert.deepEqual(tie?.winners ?? null, expected, policy);
      assert(tie?.exact !== false, policy);
      if (tie) ties.set(policy, (ties.get(policy) ?? 0) + 1);
    }
  });
  expect([...ties.keys()].sort()).toEqual([...electionPolicies]);
});

test('tie: a search over 16 equal options is bounded and names every possible winner', () => {
  const options = Array.from({ length: 16 }, (_, at) => `option-${at}`);
  const rotated = options.map((_, at) => [...options.slice(at), ...options.slice(0, at)]);
  const many = Array.from({ length: 40 }, () => rotated).flat();
  for (const [policy, rankings, isExact] of [
    ['instant_runoff', rotated.slice(0, 3), true],
    ['instant_runoff', many, false],
    ['ranked_pairs', rotated, false],
    ['schulze', rotated, true],
  ] as const) {
    const tie = findPollTie(createRule(policy, {}), {
      options,
      votes: rankings.map((ranking) => ({ ballot: { ranking } })),
    });
    expect([policy, tie?.exact]).toEqual([policy, isExact]);
    expect(tie?.winners.length).toBeGreaterThan(1);
  }
});
