/** Indices of functions with known indices, computed by the code for sweep runs. */
import { completeScenario, type Scenario } from 'folkmoot/sim';
import { generateCells } from '../../../dist/sim/sweep/design.js';
import { computeIndices } from '../../../dist/sim/sweep/indices.js';
import { counts } from '../../support/counts.js';

type Sweep = NonNullable<Scenario['sweep']>;
const paths = [
  ...['links.loss', 'links.duplication', 'topology.rewired', 'producers.memes'],
  ...['consensus.participation', 'consensus.dormant_share', 'social.breaks.rate', 'length.blocks'],
];

function designOf(design: string, factors: number, samples: number, from: number, to: number) {
  const agents = [{ group: 'town', count: 4, producers: 1 }];
  const varied = paths.slice(0, factors).map((path) => ({ path, from, to }));
  const sweep = { design, samples, factors: varied };
  return completeScenario({ title: 'a sweep', agents, sweep }).sweep as Sweep;
}

type Function = (x: readonly number[], seed: string) => number | null;

const rowsOf = (sweep: Sweep, seed: string, f: Function) => {
  const values = [...generateCells(sweep, seed)].map((cell) =>
    f(cell.values as number[], cell.seed),
  );
  return computeIndices(sweep, seed, 'f', values);
};

/** Ishigami and Homma 1990, with a = 7 and b = 0.1. Sobol and Levitan 1999 give these indices. */
const ishigami: Function = ([x = 0, y = 0, z = 0]) =>
  Math.sin(x) + 7 * Math.sin(y) ** 2 + 0.1 * z ** 4 * Math.sin(x);
const ofIshigami = { first: [0.3139, 0.4424, 0], total: [0.5576, 0.4424, 0.2437] };

/** Sobol's g-function. */
const weights = [0, 1, 4.5, 9, 99, 99, 99, 99];
const sobolG: Function = (x) =>
  x.reduce((product, value, at) => {
    const a = weights[at]!;
    return (product * (Math.abs(4 * value - 2) + a)) / (1 + a);
  }, 1);
const parts = weights.map((a) => 1 / (3 * (1 + a) ** 2));
const variance = parts.reduce((product, part) => product * (1 + part), 1) - 1;
const ofSobolG = {
  first: parts.map((part) => part / variance),
  total: parts.map((part) => (part * (variance + 1)) / (1 + part) / variance),
};

describe.each([
  ['Ishigami', ishigami, ofIshigami, 3, -Math.PI, Math.PI],
  ["Sobol's g", sobolG, ofSobolG, 8, 0, 1],
] as const)('sobol: %s', (_, f, known, factors, from, to) => {
  test('sobol: indices approach the known values with many rows', () => {
    for (const { factor, index, value } of rowsOf(
      designOf('sobol', factors, 2_048, from, to),
      '1',
      f,
    )) {
      const expected = known[index as 'first' | 'total'][factor]!;
      expect(value, `${index} of ${factor}`).toBeCloseTo(expected, 1.5);
    }
  });

  test('sobol: intervals contain the known values', () => {
    let held = 0;
    let all = 0;
    for (let seed = 0; seed < counts.indexedDesigns; seed += 1) {
      for (const { factor, index, low, high } of rowsOf(
        designOf('sobol', factors, 256, from, to),
        `${seed}`,
        f,
      )) {
        const expected = known[index as 'first' | 'total'][factor]!;
        all += 1;
        // The published values have four digits.
        if (low! - 5e-5 <= expected && expected <= high! + 5e-5) held += 1;
      }
    }
    expect(held / all).toBeGreaterThanOrEqual(0.93);
  });
});

test('sobol: randomness shared by a block adds to the total variance, but to no index', () => {
  const luck = (seed: string) => Number(seed.split('/')[1]) % 2;
  const found = rowsOf(designOf('sobol', 2, 1_024, 0, 1), 's', ([x = 0], seed) => x + luck(seed));
  const value = (factor: number, index: string) =>
    found.find((row) => row.factor === factor && row.index === index)!.value;
  // The variance of x is 1/12, and that of a coin is 1/4.
  for (const index of ['first', 'total']) expect(value(0, index)).toBeCloseTo(0.25, 1.5);
  expect([value(1, 'first'), value(1, 'total')]).toEqual([0, 0]);
});

test('sobol: gives no index for a constant, and omits a block with a missing value', () => {
  const design = designOf('sobol', 2, 8, 0, 1);
  for (const { value, low, high } of rowsOf(design, '1', () => 3)) {
    expect([value, low, high]).toEqual([null, null, null]);
  }
  let calls = 0;
  const [row] = rowsOf(design, '1', ([x = 0]) => (++calls === 1 ? null : x));
  expect(row).toMatchObject({ n: 7 });
});

const effects = (f: Function, seed = '1', samples = 20) => {
  const rows = rowsOf(designOf('morris', 3, samples, -1, 3), seed, f);
  return (factor: number, index: string) =>
    rows.find((row) => row.factor === factor && row.index === index)!;
};

test('morris: effects are slope times range for a linear function, without variance', () => {
  const of = effects(([x = 0, y = 0]) => 2 * x - 3 * y);
  expect([0, 1, 2].map((factor) => of(factor, 'mean').value)).toEqual([8, -12, 0]);
  expect([0, 1, 2].map((factor) => of(factor, 'mean_absolute').value)).toEqual([8, 12, 0]);
  for (const factor of [0, 1, 2]) expect(of(factor, 'deviation').value).toBeCloseTo(0, 6);
  expect(of(2, 'mean')).toMatchObject({ n: 20, low: null, high: null });
});

test('morris: effects refer to the whole range, also for listed values and integers', () => {
  const factors = [
    { path: paths[0], values: [0, 1] },
    { path: paths[1], values: [0, 0.5, 1] },
    { path: 'length.blocks', from: 1, to: 4, whole: true },
    { path: paths[2], values: [0.5] },
  ];
  const agents = [{ group: 'town', count: 4, producers: 1 }];
  const given = { design: 'morris', samples: 20, factors };
  const sweep = completeScenario({ title: 'a sweep', agents, sweep: given }).sweep as Sweep;
  const linear: Function = ([x = 0, y = 0, z = 0]) => 2 * x - 3 * y + z;
  const rows = rowsOf(sweep, '1', linear);
  for (const [factor, effect] of [2, -3, 3, 0].entries()) {
    const of = (index: string) =>
      rows.find((row) => row.factor === factor && row.index === index)!.value;
    expect(of('mean')).toBeCloseTo(effect, 9);
    expect(of('mean_absolute')).toBeCloseTo(Math.abs(effect), 9);
    expect(of('deviation')).toBeCloseTo(0, 9);
  }
});

test('morris: effects show an interaction as a deviation; signs cancel in the mean', () => {
  // x runs from -1 to 3 in steps of 8/3. y z has the effect 4 z, of mean 4 (z has mean 1).
  const of = effects(([x = 0, y = 0, z = 0]) => (x - 1) ** 2 + y * z, '1', 400);
  expect(of(0, 'mean').value!).toBeCloseTo(0, 0);
  expect(of(0, 'mean_absolute').value).toBeGreaterThan(4);
  expect(of(1, 'mean').value).toBeCloseTo(4, 0);
  expect(of(1, 'deviation').value).toBeGreaterThan(4);
  for (const index of ['mean', 'mean_absolute', 'deviation']) {
    const { low, value, high } = of(1, index);
    expect(low!).toBeLessThan(value!);
    expect(high!).toBeGreaterThan(value!);
  }
});

test('morris: intervals contain the mean of many trajectories', () => {
  const f: Function = ([x = 0, y = 0, z = 0]) => x * y + z ** 3;
  const exact = effects(f, 'many', 4_000);
  let held = 0;
  const all = 3 * counts.indexedDesigns;
  for (let seed = 0; seed < counts.indexedDesigns; seed += 1) {
    const of = effects(f, `${seed}`, 10);
    for (const factor of [0, 1, 2]) {
      const { low, high } = of(factor, 'mean');
      const known = exact(factor, 'mean').value!;
      if (low === null || (low <= known && known <= high!)) held += 1;
    }
  }
  expect(held / all).toBeGreaterThanOrEqual(0.9);
});
