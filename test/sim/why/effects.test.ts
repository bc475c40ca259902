/** What pairs of runs say: the exact test, its interval, and what Holm makes of many. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Streams } from '../../../dist/sim/rng.js';
import { detectableWith, effectOf, holm, mcNemar } from '../../../dist/sim/why/ablation/effects.js';
import { counts } from '../../support/counts.js';

const choose = (of: number, some: number): number =>
  some === 0 ? 1 : (choose(of - 1, some - 1) * of) / some;

test('McNemar: as the binomial distribution has it, and never below a level too often', () => {
  expect(mcNemar(0, 0)).toBe(1);
  expect(mcNemar(5, 5)).toBe(1);
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

test('effect: its sign is that of leaving out; its interval has it in it, and narrows', () => {
  fc.assert(
    fc.property(fc.nat(30), fc.nat(30), fc.nat(30), (both, only_with, only_without) => {
      const pairs = both + only_with + only_without + 1;
      const { difference, low, high } = effectOf({ pairs, both, only_with, only_without });
      expect(Math.sign(difference)).toBe(Math.sign(only_without - only_with));
      expect(low).toBeLessThanOrEqual(difference);
      expect(high).toBeGreaterThanOrEqual(difference);
      expect(low >= -1 && high <= 1).toBe(true);
      const many = effectOf({
        pairs: 100 * pairs,
        both: 100 * both,
        only_with: 100 * only_with,
        only_without: 100 * only_without,
      });
      expect(many.high - many.low).toBeLessThan(high - low);
    }),
  );
  // Bonett and Price (2012): the Laplace-adjusted interval, by hand for 12 of 12.
  const all = effectOf({ pairs: 12, both: 0, only_with: 12, only_without: 0 });
  expect(all.low).toBe(-1);
  expect(all.high).toBeCloseTo(-12 / 14 + 1.95996 * Math.sqrt((1 - (12 / 14) ** 2) / 14), 4);
});

test('Holm: steps down, keeps the order, and is never below what it adjusts', () => {
  expect(holm([0.01, 0.04, 0.03])).toEqual([0.03, 0.06, 0.06]);
  expect(holm([])).toEqual([]);
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true })), (ps) => {
      const adjusted = holm(ps);
      for (const [a, p] of ps.entries()) {
        expect(adjusted[a]).toBeGreaterThanOrEqual(p);
        expect(adjusted[a]).toBeLessThanOrEqual(Math.min(1, p * ps.length) + 1e-12 + 1);
        for (const [b, q] of ps.entries())
          if (p < q) expect(adjusted[a]! <= adjusted[b]!).toBe(true);
      }
    }),
  );
});

test('detectable: 4 of 5 trials find an effect of that size, fewer a smaller one', () => {
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
  // An effect of -0.187, which each of ten agents has, is far below what 20 pairs can show.
  expect(detectableWith(20, 0.005)).toBeGreaterThan(0.4);
  expect(found(20, 0.005, 0.187)).toBeLessThan(0.05);
  expect(detectableWith(5, 0.005)).toBe(null);
});
