/** Power indices against brute force and published values, and refused games. */
import {
  computePower,
  decisionGame,
  type Game,
  turnoutGame,
} from '../../../dist/sim/attribution/power.js';
import { fc, forAll } from '../../support/property.js';

const bits = (set: number, voters: number) =>
  Array.from({ length: voters }, (_, voter) => voter).filter((voter) => (set >> voter) & 1);

/** Computes power by definition, over every coalition and every order. */
function bruteForce({ weights, quota, veto }: Game) {
  const voters = weights.length;
  const wins = Array.from({ length: 1 << voters }, (_, set) => {
    const members = bits(set, voters);
    const weight = members.reduce((sum, voter) => sum + weights[voter]!, 0);
    return weight >= quota && veto.every((group) => group.some((one) => members.includes(one)));
  });
  const factorial = (of: number): number => (of < 2 ? 1 : of * factorial(of - 1));
  return weights.map((_, voter) => {
    let swings = 0;
    let orders = 0;
    for (const [set, won] of wins.entries()) {
      if ((set >> voter) & 1 || won || !wins[set | (1 << voter)]) continue;
      const size = bits(set, voters).length;
      swings += 1;
      orders += factorial(size) * factorial(voters - 1 - size);
    }
    return { swings, shapley: orders / factorial(voters) };
  });
}

function expectAsBruteForce(game: Game): void {
  const { swings, banzhaf, decisive, shapley_shubik, refused } = computePower(game);
  const expected = bruteForce(game);
  const all = expected.reduce((sum, one) => sum + one.swings, 0);
  expect([refused, swings]).toEqual([[], expected.map((one) => BigInt(one.swings))]);
  for (const [voter, one] of expected.entries()) {
    expect(shapley_shubik![voter]).toBeCloseTo(one.shapley, 12);
    expect(banzhaf![voter]).toBeCloseTo(all === 0 ? 0 : one.swings / all, 12);
    expect(decisive![voter]).toBeCloseTo(one.swings / 2 ** (expected.length - 1), 12);
  }
}

/** Returns the game of a rule that decides by weight. */
function gameOf(...args: Parameters<typeof decisionGame>): Game {
  const game = decisionGame(...args);
  expect(game).not.toBeNull();
  return game!;
}

const names = ['lawful', 'chaotic', 'neutral', 'greedy'];
const electorate = fc.array(
  fc.record({
    weight: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 90, max: 110 })),
    personality: fc.constantFrom(...names),
  }),
  { minLength: 1, maxLength: 10 },
);
const policies = fc.constantFrom('bft', 'majority', 'veto') as fc.Arbitrary<
  'bft' | 'majority' | 'veto'
>;

test('power: equals a brute-force count for every policy', () => {
  forAll(
    [electorate, policies, fc.integer({ min: 1, max: 10_000 }), fc.constantFrom(1, 7, 10_000)],
    { numRuns: 150 },
    (electors, policy, participation_bps, scale) => {
      const rule = { policy, participation_bps };
      const weights = electors.map(({ weight }) => weight * scale);
      expectAsBruteForce(
        gameOf(
          rule,
          weights,
          electors.map(({ personality }) => personality),
        ),
      );
      const turnout = turnoutGame(rule, weights);
      expect(turnout === null).toBe(policy !== 'majority');
      if (turnout) expectAsBruteForce(turnout);
    },
  );
});

test.each(['bft', 'veto'] as const)('power: equals a count for 16 voters by %s', (by) => {
  const weights = Array.from({ length: 16 }, (_, voter) => 3 + ((voter * 7) % 11));
  // Three groups with a veto, and one that is too small.
  const personalities = weights.map((_, voter) => names[Math.floor(voter / 4.7)]!);
  expectAsBruteForce(gameOf({ policy: by, participation_bps: 0 }, weights, personalities));
});

test('power: is zero for a quota above the total weight', () => {
  expectAsBruteForce({ weights: [3, 2, 1], quota: 7, veto: [] });
  expectAsBruteForce({ weights: [2, 2], quota: 5, veto: [] });
});

/** Weights, quota, swings, and the published Shapley-Shubik index. */
const published: [string, number[], number, bigint[], number[]][] = [
  // Treaty of Rome, article 148; Brams and Affuso, Power and Size, Theory and Decision 7 (1976);
  // Felsenthal and Machover, The Measurement of Voting Power (1998), chapter 5.
  [
    'Council of the European Economic Community, 1958 to 1972',
    [4, 4, 4, 2, 2, 1],
    12,
    [10n, 10n, 10n, 6n, 6n, 0n],
    [14 / 60, 14 / 60, 14 / 60, 9 / 60, 9 / 60, 0],
  ],
  // Charter of the United Nations, article 27, as amended in 1965: nine of fifteen, no permanent
  // member against; Straffin, Power and Stability in Politics (1994).
  [
    'Security Council of the United Nations',
    [7, 7, 7, 7, 7, ...Array.from({ length: 10 }, () => 1)],
    39,
    [...Array.from({ length: 5 }, () => 848n), ...Array.from({ length: 10 }, () => 84n)],
    [...Array.from({ length: 5 }, () => 421 / 2145), ...Array.from({ length: 10 }, () => 4 / 2145)],
  ],
];

test.each(published)('power: equals the values of the %s', (_, weights, quota, swings, shapley) => {
  const power = computePower({ weights, quota, veto: [] });
  expect(power.swings).toEqual(swings);
  for (const [voter, share] of shapley.entries()) {
    expect(power.shapley_shubik![voter]).toBeCloseTo(share, 14);
  }
});

test('power: equals the published values of the Council of nine, 1973 to 1980', () => {
  // Felsenthal and Machover, as above: 53, 29, 21 and 5 of 317 swings.
  const weights = [10, 10, 10, 10, 5, 5, 3, 3, 2];
  const { banzhaf } = computePower({ weights, quota: 41, veto: [] });
  const shares = [0.167, 0.167, 0.167, 0.167, 0.091, 0.091, 0.066, 0.066, 0.016];
  expect(banzhaf!.map((share) => Math.round(1_000 * share) / 1_000)).toEqual(shares);
});

test('power: is exact for a hundred reputations, with swings beyond 2^53', () => {
  const weights = Array.from({ length: 100 }, (_, voter) => 37 + ((voter * 29) % 41));
  const { swings, banzhaf, shapley_shubik } = computePower(
    gameOf({ policy: 'bft', participation_bps: 0 }, weights, []),
  );
  expect(swings!.every((count) => count > 2n ** 53n && count < 2n ** 99n)).toBe(true);
  const sum = (of: readonly number[]) => of.reduce((all, one) => all + one, 0);
  expect(sum(banzhaf!)).toBeCloseTo(1, 12);
  expect(sum(shapley_shubik!)).toBeCloseTo(1, 12);
  // Power increases with weight; equal weights have equal power.
  const order = weights.map((weight, voter) => [weight, shapley_shubik![voter]!] as const);
  order.sort(([a], [b]) => a - b);
  for (const [at, [weight, share]] of order.slice(1).entries()) {
    const [before, less] = order[at]!;
    expect(weight === before ? share === less : share > less).toBe(true);
  }
});

test('power: divides by a common divisor, and refuses other large weights', () => {
  const large = { weights: [1_000_000, 1_000_000, 2_000_000], quota: 2_500_000, veto: [] };
  expect(computePower(large).swings).toEqual([1n, 1n, 3n]);
  const primes = [100_000_007, 200_000_033, 300_000_007];
  const { swings, shapley_shubik, refused } = computePower({
    ...{ weights: primes, quota: 400_000_000, veto: [] },
  });
  expect([swings, shapley_shubik]).toEqual([null, null]);
  expect(refused).toEqual([
    expect.stringMatching(/^banzhaf: .*3 electors of total weight 600000047,/),
    expect.stringMatching(/^shapley_shubik: /),
  ]);
});

test('power: is a thousandth for each of a thousand equal electors', () => {
  const weights = Array.from({ length: 1_000 }, () => 1);
  const power = computePower(gameOf({ policy: 'bft', participation_bps: 0 }, weights, []));
  expect(new Set(power.shapley_shubik)).toEqual(new Set([0.001]));
  // An elector swings if exactly 666 of the other 999 approve: 999 over 666 coalitions.
  let coalitions = 1n;
  for (let one = 1n; one <= 666n; one += 1n) coalitions = (coalitions * (1_000n - one)) / one;
  expect(new Set(power.swings)).toEqual(new Set([coalitions]));
});
