/** Seeded draws: values, frequencies, independence and refusals. */
import type { Stream } from 'folkmoot/sim';
import { Streams } from '../../dist/sim/rng.js';

const streamOf = (name: string): Stream => new Streams('draws').of('world', name);
const times = <T>(count: number, draw: () => T): T[] => Array.from({ length: count }, draw);

/** Standard deviations from the expected count that one of 10^5 seeds exceeds. */
const SIGMAS = 4.4;

function expectBinomial(found: number, draws: number, probability: number): void {
  const expected = draws * probability;
  const most = SIGMAS * Math.sqrt(expected * (1 - probability));
  expect(Math.abs(found - expected), `${found} of ${draws}`).toBeLessThanOrEqual(most);
}

test.each([
  0.5, 0.1, 0.9995, 0.0004, 0.00001,
])('chance: is true with probability %d', (probability) => {
  const rng = streamOf(`chance ${probability}`);
  let found = 0;
  for (let draw = 0; draw < 2_000_000; draw += 1) if (rng.chance(probability)) found += 1;
  expectBinomial(found, 2_000_000, probability);
});

test('chance: is never true for 0 and always for 1, with one draw each', () => {
  const [rng, twin] = [streamOf('ends'), streamOf('ends')];
  expect(times(10_000, () => rng.chance(0)).some((hit) => hit)).toBe(false);
  expect(times(10_000, () => rng.chance(1)).every((hit) => hit)).toBe(true);
  for (let draw = 0; draw < 20_000; draw += 1) twin.chance(0.5);
  expect(rng.int(1_000_000)).toBe(twin.int(1_000_000));
});

test.each([-0.1, 1.0001, 500, Number.NaN, Infinity])('chance: refuses %d', (probability) => {
  const expected = `chance(${probability}): expected a probability from 0 to 1`;
  expect(() => streamOf('bad').chance(probability)).toThrow(new RangeError(expected));
});

test('int: gives each number equally often, also beyond 32 bits', () => {
  const rng = streamOf('int');
  const dice = times(60_000, () => rng.int(6));
  for (let face = 0; face < 6; face += 1) {
    expectBinomial(dice.filter((one) => one === face).length, 60_000, 1 / 6);
  }
  const odd = times(10_000, () => rng.int(2 ** 53)).filter((one) => one % 2 === 1).length;
  expectBinomial(odd, 10_000, 0.5);
});

test.each([0, -1, 1.5, Number.NaN, 2 ** 54])('int: refuses %d', (below) => {
  expect(() => streamOf('bad').int(below)).toThrow(RangeError);
});

test('real: gives numbers from 0 to 1, with 53 bits', () => {
  const rng = streamOf('real');
  const values = times(100_000, () => rng.real());
  expect(values.every((value) => value >= 0 && value < 1)).toBe(true);
  expectBinomial(values.filter((value) => value < 0.3).length, 100_000, 0.3);
  expectBinomial(values.filter((value) => (value * 2 ** 53) % 2 === 1).length, 100_000, 0.5);
  expect(values.every((value) => Number.isInteger(value * 2 ** 53))).toBe(true);
});

test('normal: has the expected counts within one, two and three deviations', () => {
  const rng = streamOf('normal');
  const values = times(200_000, () => (rng.normal(7, 3) - 7) / 3);
  for (const [within, share] of [
    [1, 0.6826894921],
    [2, 0.9544997361],
    [3, 0.9973002039],
  ] as const) {
    expectBinomial(values.filter((value) => Math.abs(value) < within).length, 200_000, share);
  }
  expectBinomial(values.filter((value) => value > 0).length, 200_000, 0.5);
  expect(times(3, () => streamOf('twice').normal())).toEqual(
    times(3, () => streamOf('twice').normal()),
  );
});

test('choice: draws in proportion to the weights, and never a weight of zero', () => {
  const rng = streamOf('choice');
  const drawn = times(100_000, () => rng.choice(['a', 'b', 'c', 'd'], [1, 0, 2.5, 0]));
  const count = (name: string) => drawn.filter((one) => one === name).length;
  expectBinomial(count('a'), 100_000, 1 / 3.5);
  expect([count('b'), count('d')]).toEqual([0, 0]);
  expectBinomial(
    times(30_000, () => rng.choice([1, 2, 3])).filter((x) => x === 2).length,
    30_000,
    1 / 3,
  );
});

test.each([
  ['too few', [1]],
  ['a negative weight', [2, -1]],
  ['all zero', [0, 0]],
  ['not a number', [1, Number.NaN]],
  ['infinite', [1, Infinity]],
])('choice: refuses weights: %s', (_, weights) => {
  expect(() => streamOf('bad').choice(['a', 'b'], weights)).toThrow(/expected 2 weights of 0 or/);
});

test('pick: refuses an empty list', () => {
  expect(() => streamOf('bad').pick([])).toThrow(RangeError);
  expect(() => streamOf('bad').choice([])).toThrow(RangeError);
  expect(streamOf('bad').shuffle([])).toEqual([]);
});

test('shuffle: returns a copy, with each order equally often', () => {
  const rng = streamOf('shuffle');
  const given = Object.freeze(['a', 'b', 'c']);
  const orders = times(60_000, () => rng.shuffle(given).join(''));
  expect(new Set(orders).size).toBe(6);
  for (const order of new Set(orders)) {
    expectBinomial(orders.filter((one) => one === order).length, 60_000, 1 / 6);
  }
});

test('streams: draws of one stream do not shift another', () => {
  const [one, two] = [new Streams('s'), new Streams('s')];
  one.of(1, 'votes').real();
  expect(one.of(2, 'votes').real()).toBe(two.of(2, 'votes').real());
  expect(one.of(1, 'talk').real()).toBe(two.of(1, 'talk').real());
  expect(new Streams('t').of(1, 'talk').real()).not.toBe(new Streams('s').of(1, 'talk').real());
});

describe('draws about a subject', () => {
  const streams = new Streams('about');
  const [AGENTS, PLACES, NUMBERS] = [250, 8, 50];

  /** Draws of every agent about every block: small and regular integers, as in a run. */
  function* all(purpose: string, draws = 1): Iterable<number[]> {
    for (let place = 0; place < PLACES; place += 1) {
      for (let number = 0; number < NUMBERS; number += 1) {
        for (let agent = 0; agent < AGENTS; agent += 1) {
          const stream = streams.about(agent, purpose, { place, number });
          yield times(draws, () => stream.int(2 ** 32));
        }
      }
    }
  }

  /** Expects equal frequencies in the cells of a table. One table of 10^5 exceeds the bound. */
  function expectEven(pairs: Iterable<[number, number]>): void {
    const cells = new Float64Array(256);
    let count = 0;
    for (const [a, b] of pairs) {
      cells[(a >>> 28) * 16 + (b >>> 28)]! += 1;
      count += 1;
    }
    const expected = count / cells.length;
    const chiSquare = cells.reduce((sum, found) => sum + (found - expected) ** 2 / expected, 0);
    // Quantiles of chi-square with 255 degrees of freedom, by Wilson and Hilferty.
    expect(chiSquare).toBeLessThan(363);
    expect(chiSquare).toBeGreaterThan(168);
  }

  const firsts = (purpose: string) => Array.from(all(purpose), ([first]) => first!);
  /** Pairs each element with the element `step` places later. */
  const beside = (list: readonly number[], step: number) =>
    list.map((one, at): [number, number] => [one, list[(at + step) % list.length]!]);

  test.each([
    ['agents', 1],
    ['numbers of blocks', AGENTS],
    ['producers', AGENTS * NUMBERS],
  ])('are independent for neighbouring %s', (_, step) => {
    expectEven(beside(firsts('whim'), step));
  });

  test('are independent within a stream and between two purposes', () => {
    expectEven(Array.from(all('whim', 2), ([one, two]) => [one!, two!] as [number, number]));
    const other = firsts('pace');
    expectEven(firsts('whim').map((one, at) => [one, other[at]!] as [number, number]));
  });

  test('differ in the second number for two subjects that agree in the first', () => {
    const seen = new Map<number, number>();
    let agree = 0;
    for (const [one, two] of all('whim', 2)) {
      if (seen.get(one!) === two) agree += 1;
      seen.set(one!, two!);
    }
    expect(seen.size).toBeGreaterThan(AGENTS * PLACES * NUMBERS - 20);
    expect(agree).toBe(0);
  });

  test('are reproducible, and differ by seed, agent, subject, round and purpose', () => {
    const draw = (seed = 's', agent = 1, place = 2, number = 3, round = 0, purpose = 'whim') =>
      new Streams(seed).about(agent, purpose, { place, number }, round).real();
    expect(draw()).toBe(draw());
    const others = [
      ...[draw('t'), draw('s', 2), draw('s', 1, 1), draw('s', 1, -2), draw('s', 1, 2, 4)],
      ...[draw('s', 1, 3, 2), draw('s', 1, 2, 3, 1), draw('s', 1, 2, 3, 0, 'pace')],
    ];
    expect(new Set([draw(), ...others]).size).toBe(others.length + 1);
  });
});
