/** Tests row processing: medians over rounds, and goals. */
import { type Case, defineCase } from '../../dist/bench/case.js';
import { measureRate } from '../../dist/bench/raw/raw.js';
import { bench, printResult } from '../../dist/bench/run.js';

/** Yields 3, 1 and 2 in three rounds, with the given members. */
function changing(name: string, everyRound: boolean): Case {
  const values = [3, 1, 2];
  return defineCase({
    name,
    about: 'a case of the tests',
    everyRound,
    sizes: { small: 1, large: 100 },
    run: async (factor, { r }) => {
      const value = factor * (values.shift() ?? 0);
      return [
        { name: 'figure', per_s: value * r, of_r: value },
        { name: 'goal', ratio: value, wanted: 2 },
        { name: 'limit', value, unit: 'KiB', allowed: 1 },
      ];
    },
  });
}

const measured = (...cases: Case[]) =>
  bench({ cases, size: 'small', seed: 'test', progress: () => {} });

test('bench: figures of every round are reduced to medians', async () => {
  const result = await measured(changing('each', true), changing('once', false));
  expect(result.rounds).toBe(3);
  expect(result.r_rounds).toHaveLength(3);
  const [figure, goal, , once] = result.cases;
  expect(figure).toMatchObject({ case: 'each', of_r: 2 });
  expect(goal).toMatchObject({ ratio: 2, wanted: 2 });
  expect(once).toMatchObject({ case: 'once', of_r: 3 });
});

test('bench: the text shows which goals are met', async () => {
  const text = printResult(await measured(changing('each', true)));
  expect(text).toMatch(/^goal +2\.00 +at least 2 +yes$/m);
  expect(text).toMatch(/^limit +2 KiB +at most 1 +no$/m);
});

test('bench: a failing case reports why, and the others are measured', async () => {
  const broken = defineCase({
    name: 'broken',
    about: 'a case of the tests',
    sizes: { small: null, large: null },
    run: async () => {
      throw new Error('library not found');
    },
  });
  const { cases } = await measured(broken, changing('once', false));
  expect(cases[0]).toEqual({
    ...{ case: 'broken', name: 'not measured', note: 'library not found' },
  });
  expect(cases[1]).toMatchObject({ case: 'once', of_r: 3 });
});

test('measure: uses every item of measureRate once, and rethrows failures', () => {
  let made = 0;
  const seen = new Set<number>();
  const { perSecond, cpuUs } = measureRate(
    (count) => Array.from({ length: count }, () => made++),
    (item) => {
      expect(seen.has(item)).toBe(false);
      seen.add(item);
    },
    0.05,
  );
  expect(perSecond).toBeGreaterThan(0);
  expect(cpuUs).toBeGreaterThan(0);
  expect(seen.size).toBe(made);
  const fails = () => {
    throw new Error('no good');
  };
  expect(() => measureRate((count) => Array(count).fill(1), fails, 0.05)).toThrow('no good');
});
