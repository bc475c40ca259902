/** Statistics of pairs of runs: exact test, interval, Holm's correction and looks. */
import {
  computeEffect,
  detectableWith,
  equivalence,
  holm,
  type Judgement,
  judgeLook,
  mcNemar,
  type Pairs,
  planLooks,
} from '../../../dist/sim/attribution/effects.js';
import { Streams } from '../../../dist/sim/rng.js';
import { counts } from '../../support/counts.js';
import { fc, forAll } from '../../support/property.js';

const choose = (of: number, some: number): number =>
  some === 0 ? 1 : (choose(of - 1, some - 1) * of) / some;

test('McNemar: equals the binomial distribution, and keeps the significance level', () => {
  expect([mcNemar(0, 0), mcNemar(5, 5)]).toEqual([1, 1]);
  expect(mcNemar(0, 13)).toBeCloseTo(2 / 2 ** 13, 12);
  // Sokal and Rohlf's form: two of twelve, twice (1 + 12 + 66) of 4096.
  expect(mcNemar(2, 10)).toBeCloseTo((2 * 79) / 4_096, 12);
  for (const level of [0.05, 0.01, 0.05 / 7]) {
    for (let tosses = 1; tosses <= 40; tosses += 1) {
      let chance = 0;
      for (let heads = 0; heads <= tosses; heads += 1) {
        const p = mcNemar(heads, tosses - heads);
        expect(p).toBe(mcNemar(tosses - heads, heads));
        if (p <= level) chance += choose(tosses, heads) / 2 ** tosses;
      }
      expect(chance).toBeLessThanOrEqual(level);
    }
  }
});

test('effect: has the sign of the omission, inside an interval that narrows', () => {
  forAll([fc.nat(30), fc.nat(30), fc.nat(30)], (both, only_with, only_without) => {
    const pairs = both + only_with + only_without + 1;
    const { difference, low, high } = computeEffect({ pairs, both, only_with, only_without });
    expect(Math.sign(difference)).toBe(Math.sign(only_without - only_with));
    expect(low).toBeLessThanOrEqual(difference);
    expect(high).toBeGreaterThanOrEqual(difference);
    expect(low >= -1 && high <= 1).toBe(true);
    const many = computeEffect({
      ...{ pairs: 100 * pairs, both: 100 * both, only_with: 100 * only_with },
      only_without: 100 * only_without,
    });
    expect(many.high - many.low).toBeLessThan(high - low);
  });
  // Bonett and Price (2012): the Laplace-adjusted interval, by hand for 12 of 12.
  const all = computeEffect({ pairs: 12, both: 0, only_with: 12, only_without: 0 });
  expect(all.low).toBe(-1);
  expect(all.high).toBeCloseTo(-12 / 14 + 1.95996 * Math.sqrt((1 - (12 / 14) ** 2) / 14), 4);
});

test('Holm: steps down, keeps the order, and never lowers a p-value', () => {
  expect([holm([0.01, 0.04, 0.03]), holm([])]).toEqual([[0.03, 0.06, 0.06], []]);
  forAll([fc.array(fc.double({ min: 0, max: 1, noNaN: true }))], (ps) => {
    const adjusted = holm(ps);
    for (const [a, p] of ps.entries()) {
      expect(adjusted[a]).toBeGreaterThanOrEqual(p);
      expect(adjusted[a]).toBeLessThanOrEqual(Math.min(1, p * ps.length) + 1e-12 + 1);
      for (const [b, q] of ps.entries()) if (p < q) expect(adjusted[a]! <= adjusted[b]!).toBe(true);
    }
  });
});

test('detectable: finds an effect of that size in 4 of 5 trials', () => {
  const rng = new Streams('pairs of runs').of('world', 'detectable');
  const found = (pairs: number, level: number, effect: number) => {
    let significant = 0;
    for (let trial = 0; trial < counts.pairedTrials; trial += 1) {
      let differ = 0;
      for (let pair = 0; pair < pairs; pair += 1) if (rng.chance(effect)) differ += 1;
      if (mcNemar(differ, 0) <= level) significant += 1;
    }
    return significant / counts.pairedTrials;
  };
  // Four standard deviations of a share of 0.8.
  const margin = 4 * Math.sqrt(0.16 / counts.pairedTrials);
  for (const [pairs, level] of [
    [20, 0.005],
    [20, 0.05],
    [100, 0.05 / 7],
  ] as const) {
    const effect = detectableWith(pairs, level)!;
    expect(Math.abs(found(pairs, level, effect) - 0.8)).toBeLessThan(margin);
    expect(found(pairs, level, effect / 2)).toBeLessThan(0.5);
  }
  // An effect of -0.187, as each of ten agents has, is far below the power of 20 pairs.
  expect(detectableWith(20, 0.005)).toBeGreaterThan(0.4);
  expect(found(20, 0.005, 0.187)).toBeLessThan(0.05);
  expect(detectableWith(5, 0.005)).toBe(null);
});

test('equivalence: matches exact bounds, and claims nothing for few pairs', () => {
  const none = (pairs: number): Pairs => ({ pairs, both: pairs, only_with: 0, only_without: 0 });
  // Without a discordant pair both bounds are 1 - (p / 2)^(1 / n): (1 - 0.1)^40 is p / 2.
  expect(equivalence(none(40), 0.1)).toBeCloseTo(2 * 0.9 ** 40, 9);
  expect(equivalence(none(5), 0.1)).toBe(1);
  expect(equivalence({ pairs: 40, both: 0, only_with: 0, only_without: 40 }, 0.9)).toBe(1);
  expect(equivalence(none(10_000), 0.001)).toBeCloseTo(2 * 0.999 ** 10_000, 9);
});

test('looks: doubles the pairs up to the maximum', () => {
  expect([planLooks(20, 20), planLooks(20, 100)]).toEqual([[20], [20, 40, 80, 100]]);
});

/** Shares of discordant pairs: finalized only with the candidate, and only without it. */
type Truth = readonly [onlyWith: number, onlyWithout: number];

const sequence = new Streams('sequences of pairs').of('world', 'looks');

/** Adds pairs as the ablation does; returns the judgements of the last look. */
function sequential(truths: readonly Truth[], most: number, margin: number | null): Judgement[] {
  const sizes = planLooks(20, most);
  const pairs = truths.map((): Pairs => ({ pairs: 0, both: 0, only_with: 0, only_without: 0 }));
  let judged: Judgement[] = [];
  for (const size of sizes) {
    for (const [at, [onlyWith, onlyWithout]] of truths.entries()) {
      const one = pairs[at]!;
      if (judged[at]?.significant || judged[at]?.within_margin) continue;
      for (; one.pairs < size; one.pairs += 1) {
        if (sequence.chance(onlyWith)) one.only_with += 1;
        else if (sequence.chance(onlyWithout / (1 - onlyWith))) one.only_without += 1;
      }
    }
    judged = judgeLook(pairs, judged, { looks: sizes.length, margin });
  }
  return judged;
}

const shareOf = (trials: number, isHit: () => boolean): number => {
  let hits = 0;
  for (let trial = 0; trial < trials; trial += 1) if (isHit()) hits += 1;
  return hits / trials;
};

test('looks: finds nothing in 19 of 20 sequences without an effect', () => {
  const { sequences } = counts;
  const truths = Array.from({ length: 5 }, (): Truth => [0.25, 0.25]);
  const wrong = shareOf(sequences, () =>
    sequential(truths, 160, null).some(({ significant }) => significant),
  );
  expect(wrong).toBeLessThanOrEqual(0.05 + 3 * Math.sqrt(0.0475 / sequences));
});

test('looks: in 19 of 20 sequences, does not report an effect at the margin as smaller', () => {
  const { sequences } = counts;
  const wrong = shareOf(sequences, () =>
    sequential(
      [
        [0.1, 0],
        [0, 0.1],
      ],
      320,
      0.1,
    ).some(({ within_margin }) => within_margin),
  );
  expect(wrong).toBeLessThanOrEqual(0.05 + 3 * Math.sqrt(0.0475 / sequences));
});

test('looks: finds an effect with 160 pairs that 20 pairs do not show', () => {
  const trials = Math.ceil(counts.sequences / 4);
  // Each of ten agents changes the chance by -0.187.
  const truths = Array.from({ length: 10 }, (): Truth => [0.187, 0]);
  const found = (most: number) =>
    shareOf(trials, () => sequential(truths, most, null)[0]!.significant);
  expect(found(20)).toBeLessThan(0.1);
  expect(found(160)).toBeGreaterThan(0.8);
  expect(shareOf(trials, () => sequential([[0, 0]], 160, 0.1)[0]!.within_margin)).toBe(1);
});
