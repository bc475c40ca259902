/** Rules that choose, compared with a second implementation on random profiles of weak orders. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { joinTiers, type RankingItems } from '../helpers.js';
import { decideByDefinition, methods } from './oracle.js';
import {
  createRule,
  decidePoll,
  electionPolicies,
  isRefused,
  type TestPoll,
  type TestVote,
  tieredPolicies,
} from './polls.js';

const PROFILES = 2_000;
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

const arbitraryProfile: fc.Arbitrary<Profile> = fc
  .tuple(fc.integer({ min: 2, max: names.length }), fc.integer({ min: 1, max: 40 }))
  .chain(([count, electors]) => {
    const options = names.slice(0, count);
    const joins = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: count, maxLength: count });
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
      minLength: electors,
      maxLength: electors,
      size: 'max',
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
  fc.assert(
    fc.property(arbitraryProfile, (profile) => {
      for (const { ranking } of profile.voters) {
        tiers[ranking.some(Array.isArray) ? 'equal' : 'strict'] += 1;
      }
      for (const { policy, rule } of cases) {
        const poll = toPoll(policy, profile);
        assert(!poll.votes.some(({ ballot }) => isRefused(rule, ballot, poll.options)), policy);
        const expected = decideByDefinition(policy, poll, rule.values);
        assert.deepEqual(decidePoll(rule, poll), expected, policy);
      }
    }),
    { numRuns: PROFILES },
  );
  expect(tiers.equal).toBeGreaterThan(PROFILES);
  expect(tiers.strict).toBeGreaterThan(PROFILES);
});
