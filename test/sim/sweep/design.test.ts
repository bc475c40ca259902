/** Cells of the designs of sweeps. */
import { completeScenario, type Scenario, ScenarioError } from 'folkmoot/sim';
import {
  assertDesign,
  countCells,
  formatSeed,
  generateCells,
} from '../../../dist/sim/sweep/design.js';
import { fc, forAll } from '../../support/property.js';

type Sweep = NonNullable<Scenario['sweep']>;

function sweepOf(sweep: object): Sweep {
  const agents = [{ group: 'town', count: 4, producers: 1 }];
  return completeScenario({ title: 'a sweep', agents, sweep }).sweep!;
}

const paths = ['links.loss', 'links.latency.mean_ms', 'consensus.dormant_after', 'topology.degree'];
const values = fc.uniqueArray(fc.integer(), { minLength: 1, maxLength: 6 });

test('sweep: lists every combination of a grid once, varying the last factor fastest', () => {
  const lists = fc.array(values, { minLength: 1, maxLength: 4 });
  forAll([lists], (each) => {
    const factors = each.map((list, index) => ({ path: paths[index]!, values: list }));
    const sweep = sweepOf({ factors });
    const cells = [...generateCells(sweep, '1')];
    const expected = each.reduce<number[][]>(
      (before, list) => before.flatMap((row) => list.map((value) => [...row, value])),
      [[]],
    );
    expect(countCells(sweep)).toBe(expected.length);
    expect(cells.map((cell) => cell.values)).toEqual(expected);
    expect(cells.map(({ number }) => number)).toEqual(expected.map((_, index) => index + 1));
  });
});

test('sweep: generates a grid lazily', () => {
  const list = Array.from({ length: 1_000 }, (_, index) => index);
  const factors = paths.slice(0, 3).map((path) => ({ path, values: list }));
  const sweep = sweepOf({ factors });
  expect(countCells(sweep)).toBe(1e9);
  expect(generateCells(sweep, '1').next().value).toMatchObject({ number: 1, values: [0, 0, 0] });
});

test('sweep: combines the nth values of a list', () => {
  const sweep = sweepOf({
    design: 'list',
    factors: [
      { path: 'links.loss', values: [0, 0.1] },
      { path: 'consensus.policy', values: ['bft', 'veto'] },
    ],
  });
  const cells = [...generateCells(sweep, '1')].map((cell) => cell.values);
  expect(cells).toEqual([
    [0, 'bft'],
    [0.1, 'veto'],
  ]);
});

describe('sweep: Latin hypercube', () => {
  const samples = fc.integer({ min: 1, max: 200 });
  const seeds = fc.string({ minLength: 1, maxLength: 8 });

  test('sweep: samples each stratum of a range once', () => {
    const ends = fc.tuple(fc.integer({ min: -1000, max: 1000 }), fc.integer({ min: 1, max: 1000 }));
    forAll([samples, ends, seeds], (count, [from, width], seed) => {
      const to = from + width;
      const factors = paths.slice(0, 2).map((path) => ({ path, from, to }));
      const sweep = sweepOf({ design: 'lhs', samples: count, factors });
      const cells = [...generateCells(sweep, seed)];
      expect(cells).toHaveLength(count);
      for (const index of factors.keys()) {
        const column = cells.map((cell) => cell.values[index] as number);
        expect(Math.min(...column)).toBeGreaterThanOrEqual(from);
        expect(Math.max(...column)).toBeLessThanOrEqual(to);
        // Rounding may move a value to the edge of its stratum.
        const strata = column.map((one) => ((one - from) / width) * count);
        strata.sort((a, b) => a - b);
        for (const [place, one] of strata.entries()) {
          expect(one).toBeGreaterThanOrEqual(place - 1e-6);
          expect(one).toBeLessThanOrEqual(place + 1 + 1e-6);
        }
      }
    });
  });

  test('sweep: samples integers and listed values equally often, within one', () => {
    forAll([fc.integer({ min: 5, max: 200 }), seeds], (count, seed) => {
      const factors = [
        { path: 'links.latency.mean_ms', from: 1, to: 5, whole: true },
        { path: 'consensus.policy', values: ['bft', 'majority', 'veto'] },
      ];
      const sweep = sweepOf({ design: 'lhs', samples: count, factors });
      const cells = [...generateCells(sweep, seed)];
      const expected = [[1, 2, 3, 4, 5] as unknown[], ['bft', 'majority', 'veto']];
      for (const [index, all] of expected.entries()) {
        const counts = all.map((value) => cells.filter((cell) => cell.values[index] === value));
        const lengths = counts.map(({ length }) => length);
        expect(lengths.reduce((sum, one) => sum + one)).toBe(count);
        expect(Math.max(...lengths) - Math.min(...lengths)).toBeLessThanOrEqual(1);
      }
    });
  });

  test('sweep: derives the samples from the seed alone', () => {
    const factors = [{ path: 'links.loss', from: 0, to: 1 }];
    const sweep = sweepOf({ design: 'lhs', samples: 20, factors });
    const shown = (seed: string) => JSON.stringify([...generateCells(sweep, seed)]);
    expect(shown('1')).toBe(shown('1'));
    expect(shown('1')).not.toBe(shown('2'));
  });
});

describe('sweep: shares seeds between compared cells only', () => {
  const range = (path: string) => ({ path, from: 0, to: 1 });
  const factors = [range('links.loss'), range('links.duplication')];
  const seedsOf = (sweep: object) =>
    [...generateCells(sweepOf(sweep), 'a')].map(({ seed }) => formatSeed(seed, 1));

  test.each([
    ['grid', { factors: [{ path: 'links.loss', values: [0, 1] }] }, ['a/1', 'a/1']],
    ['lhs', { design: 'lhs', samples: 3, factors }, ['a/1/1', 'a/2/1', 'a/3/1']],
    [
      'morris: a trajectory',
      { design: 'morris', samples: 2, factors },
      ['a/1/1', 'a/1/1', 'a/1/1', 'a/2/1', 'a/2/1', 'a/2/1'],
    ],
    [
      'sobol: a block',
      { design: 'sobol', samples: 2, factors },
      ['a/1/1', 'a/1/1', 'a/1/1', 'a/1/1', 'a/2/1', 'a/2/1', 'a/2/1', 'a/2/1'],
    ],
  ])('sweep: %s', (_, sweep, seeds) => {
    expect(seedsOf(sweep)).toEqual(seeds);
  });
});

describe('sweep: morris', () => {
  const seeds = fc.string({ minLength: 1, maxLength: 8 });
  const factors = paths.map((path) => ({ path, from: 0, to: 3 }));

  test('sweep: takes one step per factor, of more than half its range', () => {
    const levels = fc.integer({ min: 1, max: 8 }).map((half) => 2 * half);
    forAll([levels, seeds], (count, seed) => {
      const sweep = sweepOf({ design: 'morris', samples: 6, levels: count, factors });
      const cells = [...generateCells(sweep, seed)].map(({ values: of }) => of as number[]);
      expect(cells).toHaveLength(6 * 5);
      for (let begin = 0; begin < cells.length; begin += 5) {
        const moved = [1, 2, 3, 4].map((point) => {
          const [a, b] = [cells[begin + point - 1]!, cells[begin + point]!];
          const steps = a.flatMap((value, at) => (value === b[at] ? [] : [at]));
          expect(steps).toHaveLength(1);
          const size = Math.abs(a[steps[0]!]! - b[steps[0]!]!) / 3;
          expect(size).toBeCloseTo(count / (2 * (count - 1)), 9);
          return steps[0]!;
        });
        expect(moved.sort()).toEqual([0, 1, 2, 3]);
      }
      for (const value of cells.flat()) {
        const level = (value / 3) * (count - 1);
        expect(level).toBeCloseTo(Math.round(level), 9);
        expect(value).toBeLessThanOrEqual(3 + 1e-9);
        expect(value).toBeGreaterThanOrEqual(-1e-9);
      }
    });
  });

  test('sweep: uses every level equally often', () => {
    const sweep = sweepOf({ design: 'morris', samples: 3_000, levels: 4, factors });
    const counts = [0, 0, 0, 0];
    for (const { values: of } of generateCells(sweep, '1'))
      counts[Math.round(of[2] as number)]! += 1;
    for (const count of counts) expect(count / (3_000 * 5)).toBeCloseTo(0.25, 1);
  });
});

test.each([
  ['morris', 5],
  ['sobol', 6],
] as const)('sweep: %s with more samples begins with the earlier samples', (design, each) => {
  const factors = paths.map((path) => ({ path, from: 0, to: 1 }));
  const cells = (samples: number) => [...generateCells(sweepOf({ design, samples, factors }), 's')];
  expect(cells(7)).toHaveLength(7 * each);
  expect(cells(12).slice(0, 7 * each)).toEqual(cells(7));
});

describe('sweep: sobol', () => {
  const factors = paths.map((path) => ({ path, from: 0, to: 1 }));

  test('sweep: builds blocks of A, B, and A with each factor of B', () => {
    const sweep = sweepOf({ design: 'sobol', samples: 16, factors });
    const cells = [...generateCells(sweep, '1')].map(({ values: of }) => of as number[]);
    for (let begin = 0; begin < cells.length; begin += 6) {
      const [a, b, ...mixed] = cells.slice(begin, begin + 6);
      for (const [at, row] of mixed.entries()) expect(row).toEqual(a!.with(at, b![at]!));
    }
  });

  test('sweep: puts one of 2^m rows in each 2^m-th of every factor, for any seed', () => {
    forAll([fc.integer({ min: 0, max: 8 }), fc.string({ maxLength: 8 })], (m, seed) => {
      const sweep = sweepOf({ design: 'sobol', samples: 2 ** m, factors });
      const cells = [...generateCells(sweep, seed)].map(({ values: of }) => of as number[]);
      for (const row of [0, 1]) {
        const rows = cells.filter((_, index) => index % 6 === row);
        for (const at of factors.keys()) {
          const strata = rows.map((values) => Math.floor(values[at]! * 2 ** m));
          expect(strata.sort((a, b) => a - b)).toEqual([...rows.keys()]);
        }
      }
    });
  });
});

describe('sweep: checks a design', () => {
  const loss = { path: 'links.loss', values: [0, 0.1] };
  const range = { path: 'links.loss', from: 0, to: 1 };
  test.each([
    ['no values', { factors: [{ path: 'links.loss' }] }, /has no values/],
    ['a range in a grid', { factors: [range] }, /for the designs lhs, morris and sobol/],
    ['a duplicate factor', { factors: [loss, loss] }, /links\.loss\) is a duplicate/],
    [
      'a duplicate column label, which is valid',
      { factors: [loss, { ...loss, path: 'links.duplication', name: 'x' }] },
      null,
    ],
    [
      'two factors with the same name',
      { factors: [{ ...loss, name: 'x' }, named('x')] },
      /consensus\.x\) is a duplicate/,
    ],
    ['the column of a measure', { factors: [{ ...loss, name: 'votes' }] }, /column: votes/],
    ['the column of a run', { factors: [{ ...loss, name: 'cell' }] }, /column: cell/],
    ['the seed', { factors: [{ path: 'seed', values: ['1'] }] }, /\(seed\) cannot vary/],
    [
      'the sweep',
      { factors: [{ path: 'sweep.replicates', values: [1] }] },
      /\(sweep\.replicates\) cannot vary/,
    ],
    ['two lengths', { design: 'list', factors: [loss, named('y', [1])] }, /1 values; expected 2/],
    ['no samples', { design: 'lhs', factors: [range] }, /samples is missing/],
    ['samples of a grid', { samples: 3, factors: [loss] }, /samples applies to/],
    ['levels of a grid', { levels: 4, factors: [loss] }, /levels applies to/],
    ['odd levels', { design: 'morris', samples: 3, levels: 5, factors: [range] }, /even/],
    ['no rows', { design: 'sobol', factors: [range] }, /samples is missing/],
    ['a width of indices', { ...sobol(), until: { half_width: 1 } }, /raise samples/],
    ['a large width', { factors: [loss], until: { half_width: 5 } }, /finalized_share.*0 to 1/],
    ['no width', { factors: [loss], until: {} }, /half_width or percent/],
    [
      'two widths',
      { factors: [loss], until: { half_width: 0.1, percent: 1 } },
      /half_width or percent/,
    ],
    [
      'a width of an unknown measure',
      { factors: [loss], until: { percent: 1, response: 'luck' } },
      /until\.response: .*luck/,
    ],
    ['a baseline of samples', { ...lhs(), factors: [range], baseline: {} }, /baseline applies to/],
    ['half a baseline', { factors: [loss], baseline: {} }, /links.loss is missing/],
    ['an unknown factor', { factors: [loss], baseline: { luck: 1 } }, /unknown factor: luck/],
    ['a script measure, which is valid', { factors: [loss], responses: ['reported.luck'] }, null],
    ['a range without an end', { ...lhs(), factors: [{ path: 'a.b', from: 0 }] }, /from and to/],
    ['a reversed range', { ...lhs(), factors: [{ ...range, from: 2 }] }, /at most to/],
    ['a range and values', { ...lhs(), factors: [{ ...range, values: [1] }] }, /one of them/],
    ['fractions as bounds', { ...lhs(), factors: [part()] }, /0\.5 to 2; expected integers/],
    ['an unknown measure', { factors: [loss], responses: ['luck'] }, /unknown measure: luck/],
  ])('sweep: %s', (_, sweep, message) => {
    const check = () => assertDesign(sweepOf(sweep));
    if (message === null) return expect(check).not.toThrow();
    expect(check).toThrow(ScenarioError);
    expect(check).toThrow(message);
  });

  function named(name: string, list = [1, 2]) {
    return { path: `consensus.${name}`, name, values: list };
  }
  function sobol() {
    return { design: 'sobol', samples: 8, factors: [range] };
  }
  function lhs() {
    return { design: 'lhs', samples: 3 };
  }
  function part() {
    return { path: 'links.loss', from: 0.5, to: 2, whole: true };
  }
});
