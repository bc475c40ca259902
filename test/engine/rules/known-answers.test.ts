/** Rules of the library against published examples and exact results. */
import { comparePairs, findStrongestPaths } from '../../../dist/engine/rules/election.js';
import type { Verdict } from '../../../dist/engine/rules/rule.js';
import {
  createRule,
  decidePoll,
  hashOf,
  rank,
  rankWeight,
  type TestVote,
  tallyPoll,
} from './polls.js';

const elect = (policy: string, options: string, votes: readonly TestVote[], parameters = {}) =>
  decidePoll(createRule(policy, parameters), { options: options.split(''), votes });

const pairsOf = (options: string, votes: readonly TestVote[]) =>
  comparePairs(
    votes.map(({ weight = 1, ballot }) => {
      const { ranking } = ballot as { ranking: string[] };
      return { weight, ballot: ranking.map((name) => [options.indexOf(name)]) };
    }),
    options.length,
  );

describe('Schulze 2011, example 1: 45 voters rank five options', () => {
  const options = 'ABCDE';
  const votes = Object.entries({
    ...{ ACBED: 5, ADECB: 5, BEDAC: 8, CABED: 3 },
    ...{ CAEBD: 7, CBADE: 2, DCEBA: 7, EBADC: 8 },
  }).flatMap(([ranking, count]) => rank(count, ...ranking));

  test('the order is E, A, C, B, D', () => {
    const standings = { E: 4, A: 3, C: 2, B: 1, D: 0 };
    expect(elect('schulze', options, votes)).toEqual({
      ...{ status: 'finalized', choice: 'E', standings },
    });
  });

  test('the strongest paths have the published strengths', () => {
    const paths = findStrongestPaths(pairsOf(options, votes));
    expect(paths.map((row, a) => row.map((path, b) => (a === b ? 0 : path)))).toEqual([
      [0, 28, 28, 30, 24],
      [25, 0, 28, 33, 24],
      [25, 29, 0, 29, 24],
      [25, 28, 28, 0, 24],
      [25, 28, 28, 31, 0],
    ]);
  });

  test('Borda gives E 102, A 98, B 92, C 89 and D 69', () => {
    const standings = { E: 102, A: 98, B: 92, C: 89, D: 69 };
    expect(elect('borda', options, votes)).toMatchObject({ choice: 'E', standings });
  });
});

describe('Burlington 2009: the runoff does not elect the Condorcet winner', () => {
  // The ballots of the three candidates in the last rounds, in the totals of the official count:
  // Kiss (K), Montroll (M) and Wright (W).
  const votes = [
    ...[rankWeight(2_043, 'K', 'M', 'W'), rankWeight(371, 'K', 'W', 'M'), rankWeight(567, 'K')],
    ...[rankWeight(1_332, 'M', 'K', 'W'), rankWeight(767, 'M', 'W', 'K'), rankWeight(455, 'M')],
    ...[rankWeight(1_513, 'W', 'M', 'K'), rankWeight(495, 'W', 'K', 'M'), rankWeight(1_286, 'W')],
  ];

  test('instant runoff elects Kiss over Wright with 4,313 to 4,061', () => {
    const standings = { K: 4_313, M: 2_554, W: 4_061 };
    expect(elect('instant_runoff', 'KMW', votes)).toMatchObject({ choice: 'K', standings });
  });

  test('Montroll wins both pairs, and Schulze and ranked pairs elect Montroll', () => {
    const [kiss, montroll, wright] = pairsOf('KMW', votes);
    expect(montroll![0]).toBe(4_067);
    expect(montroll![0]).toBeGreaterThan(kiss![1]!);
    expect(montroll![2]).toBe(4_597);
    expect(montroll![2]).toBeGreaterThan(wright![1]!);
    expect(elect('schulze', 'KMW', votes).choice).toBe('M');
    expect(elect('ranked_pairs', 'KMW', votes).choice).toBe('M');
    expect(elect('plurality', 'KMW', votes.map(firstOnly)).choice).toBe('W');
  });
});

const firstOnly = ({ weight, ballot }: TestVote): TestVote => ({
  ...(weight === undefined ? {} : { weight }),
  ballot: { option: (ballot as { ranking: string[] }).ranking[0] },
});

test('Tennessee: five rules choose three different capitals', () => {
  const votes = [
    ...[rankWeight(42, 'M', 'N', 'C', 'K'), rankWeight(26, 'N', 'C', 'K', 'M')],
    ...[rankWeight(15, 'C', 'K', 'N', 'M'), rankWeight(17, 'K', 'C', 'N', 'M')],
  ];
  const order = { N: 3, C: 2, K: 1, M: 0 };
  expect(elect('ranked_pairs', 'MNCK', votes)).toMatchObject({ choice: 'N', standings: order });
  expect(elect('schulze', 'MNCK', votes)).toMatchObject({ choice: 'N', standings: order });
  const points = { M: 126, N: 194, C: 173, K: 107 };
  expect(elect('borda', 'MNCK', votes)).toMatchObject({ choice: 'N', standings: points });
  const rounds = { M: 42, N: 26, C: 15, K: 58 };
  expect(elect('instant_runoff', 'MNCK', votes)).toMatchObject({ choice: 'K', standings: rounds });
  const first = { M: 42, N: 26, C: 15, K: 17 };
  expect(elect('plurality', 'MNCK', votes.map(firstOnly))).toMatchObject({
    choice: 'M',
    standings: first,
  });
});

describe('Lackner and Skowron 2023: proportional approval voting for two seats', () => {
  const ballots: readonly [count: number, approved: string][] = [
    ...[[3, 'ab'] as const, [6, 'ad'] as const, [4, 'b'] as const],
    ...[[5, 'c'] as const, [5, 'cd'] as const],
  ].map(([count, approved]) => [count, approved]);

  /** Twice the score of a committee of two: a ballot counts 1 + 1/2 if it approves both. */
  const score = (committee: string) =>
    ballots.reduce((sum, [count, approved]) => {
      const members = [...committee].filter((name) => approved.includes(name)).length;
      return sum + count * [0, 2, 3][members]!;
    }, 0);

  test('the best committee is ac, and the sequential rule elects d and then c', () => {
    const committees = ['ab', 'ac', 'ad', 'bc', 'bd', 'cd'];
    const best = Math.max(...committees.map(score));
    expect(committees.filter((committee) => score(committee) === best)).toEqual(['ac']);
    const votes = ballots.map(([weight, all]) => ({ weight, ballot: { approved: [...all] } }));
    const expected = { choice: 'd', standings: { a: 0, b: 0, c: 1, d: 2 } };
    expect(elect('proportional', 'abcd', votes, { seats: 2 })).toMatchObject(expected);
    const single = { a: 9, b: 7, c: 10, d: 11 };
    expect(elect('approval', 'abcd', votes)).toMatchObject({ choice: 'd', standings: single });
  });
});

/** Probabilities of 0 to `most` in a binomial distribution, by logarithms, so none underflows. */
function binomial(units: number, chance: number, most = units): number[] {
  let log = units * Math.log1p(-chance);
  const terms = [Math.exp(log)];
  for (let k = 1; k <= most; k += 1) {
    log += Math.log(((units - k + 1) * chance) / (k * (1 - chance)));
    terms.push(Math.exp(log));
  }
  return terms;
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, number) => all + number, 0);

const seatsOf = ({ standings }: Verdict) => standings!;

test('Gilad et al. 2017: 2,000 seats, threshold 0.685, 80 % honest: fails below 5e-9', () => {
  // Honest seats g and others b: the committee fails unless g > 1370 and g/2 + b <= 1370. With
  // more weight, the binomial distributions approach Poisson distributions and fail more often.
  let before = 0;
  for (const total of [10_000, 100_000, 1_000_000, 100_000_000]) {
    const chance = 2_000 / total;
    const honest = binomial(0.8 * total, chance, 4_000);
    const others = binomial(0.2 * total, chance, Math.min(0.2 * total, 4_000));
    const tails = others.map(() => 0);
    for (let k = others.length - 1; k >= 0; k -= 1) tails[k] = others[k]! + (tails[k + 1] ?? 0);
    const few = sum(honest.slice(0, 1_371));
    const split = sum(
      honest.map((term, g) => term * (tails[Math.max(0, Math.floor(1_370 - g / 2) + 1)] ?? 0)),
    );
    expect(few + split).toBeLessThan(5e-9);
    expect(few + split).toBeGreaterThan(before);
    before = few + split;
  }
  expect(before).toBeGreaterThan(4e-9);
});

test('Gilad et al. 2017: such a committee decides, but not without the honest seats', () => {
  const rule = createRule('committee', { size: 2_000, for_bps: 6_850, of_drawn: 0 });
  for (let block = 0; block < 5; block += 1) {
    const votes: TestVote[] = Array.from({ length: 5_000 }, (_, agent) => ({
      decision: agent % 5 === 0 ? 'reject' : 'approve',
      weight: 20,
    }));
    const poll = { options: [], votes, hash: hashOf(block) };
    const verdict = decidePoll(rule, poll);
    expect(verdict.status).toBe('finalized');
    const { approve, reject, seats } = seatsOf(verdict);
    expect(approve! + reject!).toBe(seats);
    const [honest, others] = [votes.slice(0, 4_000), votes.slice(4_000)];
    const absent = others.map(() => 20);
    const missing = {
      ...poll,
      votes: honest.map((vote) => ({ ...vote, decision: 'approve' as const })).slice(0, 3_000),
      absent: [...absent, ...honest.slice(3_000).map(() => 20)],
    };
    expect(decidePoll(rule, missing).status).toBe('expired');
  }
});

test.each([
  ['units of a small weight', { weight: 40, total: 1_000, size: 100 }],
  ['units of a weight that is drawn in chunks', { weight: 900, total: 1_000, size: 100 }],
  ['units that mostly get a seat', { weight: 30, total: 100, size: 80 }],
  ['a single unit', { weight: 1, total: 10, size: 3 }],
])('Gilad et al. 2017: seats of an elector have a binomial distribution: %s', (_, {
  weight,
  total,
  size,
}) => {
  const DRAWS = 4_000;
  const rule = createRule('committee', { size });
  const counts = Array.from({ length: weight + 1 }, () => 0);
  for (let block = 0; block < DRAWS; block += 1) {
    const votes = [{ weight }];
    const poll = { options: [], votes, absent: [total - weight], hash: hashOf(`draw ${block}`) };
    counts[seatsOf(tallyPoll(rule, poll, true)).approve!]! += 1;
  }
  // Chi-squared over values with at least five expected draws, the others together.
  const expected = binomial(weight, size / total).map((chance) => chance * DRAWS);
  let [squares, cells] = [0, 0];
  const rest = { counted: 0, expected: 0 };
  for (const [seats, mean] of expected.entries()) {
    if (mean < 5) {
      rest.counted += counts[seats]!;
      rest.expected += mean;
      continue;
    }
    squares += (counts[seats]! - mean) ** 2 / mean;
    cells += 1;
  }
  if (rest.expected > 1) squares += (rest.counted - rest.expected) ** 2 / rest.expected;
  // Five standard deviations of a chi-squared distribution. The draws are fixed by their hashes.
  expect(squares).toBeLessThan(cells + 5 * Math.sqrt(2 * cells));
});

test.each([
  [9, 4_375, 2_000],
  [31, 3_000, 3_100],
  [9, 10_000, 1_000],
  [9, 0, 9_000],
])('Kish 1965: %i votes, correlation %i bps: %i / 1,000', (count, correlation_bps, effective) => {
  const votes = Array.from({ length: count }, () => ({ ballot: { model: 'm' } }));
  const at = (least_effective: number) => {
    return elect('effective', '', votes, { correlation_bps, least_effective });
  };
  const standings = { approve: effective, reject: 0, effective };
  expect(at(effective)).toEqual({ status: 'finalized', standings });
  expect(at(effective + 1)).toEqual({ status: 'expired', standings });
});
