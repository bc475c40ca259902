/** Designs of sweeps: which cells they have, whatever the factors are. */
import fc from 'fast-check';
import { completeScenario, type Scenario, ScenarioError } from 'folkmoot/sim';
import { describe, expect, test } from 'vitest';
import { cellsOf, checkDesign, countCells, seedOf } from '../../../dist/sim/sweep/index.js';

type Sweep = NonNullable<Scenario['sweep']>;

/** With its defaults, as a scenario has it. */
function sweepOf(sweep: object): Sweep {
  const agents = [{ group: 'town', count: 4, producers: 1 }];
  return completeScenario({ title: 'a sweep', agents, sweep }).sweep!;
}

const paths = ['links.loss', 'links.latency.mean_ms', 'consensus.dormant_after', 'topology.degree'];
const values = fc.uniqueArray(fc.integer(), { minLength: 1, maxLength: 6 });

describe('sweep: grid', () => {
  test('sweep: a grid has every combination once, the last factor fastest', () => {
    const lists = fc.array(values, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(lists, (each) => {
        const factors = each.map((list, index) => ({ path: paths[index]!, values: list }));
        const sweep = sweepOf({ factors });
        const cells = [...cellsOf(sweep, '1')];
        const expected = each.reduce<number[][]>(
          (before, list) => before.flatMap((row) => list.map((value) => [...row, value])),
          [[]],
        );
        expect(countCells(sweep)).toBe(expected.length);
        expect(cells.map((cell) => cell.values)).toEqual(expected);
        expect(cells.map(({ number }) => number)).toEqual(expected.map((_, index) => index + 1));
      }),
    );
  });

  test('sweep: a grid of a billion cells is not made before it is asked for', () => {
    const list = Array.from({ length: 1_000 }, (_, index) => index);
    const factors = paths.slice(0, 3).map((path) => ({ path, values: list }));
    const sweep = sweepOf({ factors });
    expect(countCells(sweep)).toBe(1e9);
    expect(cellsOf(sweep, '1').next().value).toEqual({ number: 1, values: [0, 0, 0] });
  });
});

test('sweep: a list takes the nth values of all factors together', () => {
  const sweep = sweepOf({
    design: 'list',
    factors: [
      { path: 'links.loss', values: [0, 0.1] },
      { path: 'consensus.policy', values: ['bft', 'veto'] },
    ],
  });
  const cells = [...cellsOf(sweep, '1')].map((cell) => cell.values);
  expect(cells).toEqual([
    [0, 'bft'],
    [0.1, 'veto'],
  ]);
});

describe('sweep: Latin hypercube', () => {
  const samples = fc.integer({ min: 1, max: 200 });
  const seeds = fc.string({ minLength: 1, maxLength: 8 });

  test('sweep: each stratum of a range is sampled once', () => {
    const ends = fc.tuple(fc.integer({ min: -1000, max: 1000 }), fc.integer({ min: 1, max: 1000 }));
    fc.assert(
      fc.property(samples, ends, seeds, (count, [from, width], seed) => {
        const to = from + width;
        const factors = paths.slice(0, 2).map((path) => ({ path, from, to }));
        const sweep = sweepOf({ design: 'lhs', samples: count, factors });
        const cells = [...cellsOf(sweep, seed)];
        expect(cells).toHaveLength(count);
        for (const index of factors.keys()) {
          const column = cells.map((cell) => cell.values[index] as number);
          expect(Math.min(...column)).toBeGreaterThanOrEqual(from);
          expect(Math.max(...column)).toBeLessThanOrEqual(to);
          // Rounding may put a value on the edge of its stratum.
          const strata = column.map((one) => ((one - from) / width) * count);
          strata.sort((a, b) => a - b);
          for (const [place, one] of strata.entries()) {
            expect(one).toBeGreaterThanOrEqual(place - 1e-6);
            expect(one).toBeLessThanOrEqual(place + 1 + 1e-6);
          }
        }
      }),
    );
  });

  test('sweep: whole numbers and listed values come equally often, within one', () => {
    fc.assert(
      fc.property(fc.integer({ min: 5, max: 200 }), seeds, (count, seed) => {
        const factors = [
          { path: 'links.latency.mean_ms', from: 1, to: 5, whole: true },
          { path: 'consensus.policy', values: ['bft', 'majority', 'veto'] },
        ];
        const sweep = sweepOf({ design: 'lhs', samples: count, factors });
        const cells = [...cellsOf(sweep, seed)];
        const expected = [[1, 2, 3, 4, 5] as unknown[], ['bft', 'majority', 'veto']];
        for (const [index, all] of expected.entries()) {
          const counts = all.map((value) => cells.filter((cell) => cell.values[index] === value));
          const lengths = counts.map(({ length }) => length);
          expect(lengths.reduce((sum, one) => sum + one)).toBe(count);
          expect(Math.max(...lengths) - Math.min(...lengths)).toBeLessThanOrEqual(1);
        }
      }),
    );
  });

  test('sweep: the seed alone gives the samples', () => {
    const factors = [{ path: 'links.loss', from: 0, to: 1 }];
    const sweep = sweepOf({ design: 'lhs', samples: 20, factors });
    const shown = (seed: string) => JSON.stringify([...cellsOf(sweep, seed)]);
    expect(shown('1')).toBe(shown('1'));
    expect(shown('1')).not.toBe(shown('2'));
  });
});

test('sweep: replicates of one number share their seed in all cells', () => {
  expect([1, 2].map((replicate) => seedOf('a', replicate))).toEqual(['a/1', 'a/2']);
});

describe('sweep: a design that cannot be meant is refused', () => {
  const loss = { path: 'links.loss', values: [0, 0.1] };
  const range = { path: 'links.loss', from: 0, to: 1 };
  test.each([
    ['no values', { factors: [{ path: 'links.loss' }] }, /has no values/],
    ['a range in a grid', { factors: [range] }, /for the design lhs/],
    ['a factor twice', { factors: [loss, loss] }, /a second time/],
    [
      'a column twice',
      { factors: [loss, { ...loss, path: 'links.duplication', name: 'x' }] },
      null,
    ],
    ['two factors of a name', { factors: [{ ...loss, name: 'x' }, named('x')] }, /a second time/],
    ['the column of a measure', { factors: [{ ...loss, name: 'votes' }] }, /another name/],
    ['the column of a run', { factors: [{ ...loss, name: 'cell' }] }, /another name/],
    ['the seed', { factors: [{ path: 'seed', values: ['1'] }] }, /replicates do that/],
    ['the sweep', { factors: [{ path: 'sweep.replicates', values: [1] }] }, /it is the sweep/],
    ['uneven lists', { design: 'list', factors: [loss, named('y', [1])] }, /as many of each/],
    ['no samples', { design: 'lhs', factors: [range] }, /samples is missing/],
    ['samples of a grid', { samples: 3, factors: [loss] }, /for the design lhs/],
    ['a range without an end', { ...lhs(), factors: [{ path: 'a.b', from: 0 }] }, /from and to/],
    ['a range backwards', { ...lhs(), factors: [{ ...range, from: 2 }] }, /at most to/],
    ['a range and values', { ...lhs(), factors: [{ ...range, values: [1] }] }, /one of them/],
    ['parts of whole numbers', { ...lhs(), factors: [part()] }, /expected whole numbers/],
    ['an unknown measure', { factors: [loss], responses: ['luck'] }, /luck is no measure/],
  ])('sweep: %s', (_, sweep, message) => {
    const check = () => checkDesign(sweepOf(sweep));
    if (message === null) return expect(check).not.toThrow();
    expect(check).toThrow(ScenarioError);
    expect(check).toThrow(message);
  });

  function named(name: string, list = [1, 2]) {
    return { path: `consensus.${name}`, name, values: list };
  }
  function lhs() {
    return { design: 'lhs', samples: 3 };
  }
  function part() {
    return { path: 'links.loss', from: 0.5, to: 2, whole: true };
  }
});
