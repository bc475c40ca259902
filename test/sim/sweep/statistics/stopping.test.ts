/** The stopping rule of a cell, and its effect on the coverage of the interval. */
import { type Stream, Streams } from '../../../../dist/sim/rng.js';
import {
  computeStatistics,
  type IntervalKind,
  Sample,
} from '../../../../dist/sim/sweep/statistics.js';
import {
  getLevel,
  isNarrow,
  nextReplicates,
  Replicates,
} from '../../../../dist/sim/sweep/stopping.js';
import { counts } from '../../../support/counts.js';

const sweepOf = (until: object, replicates = 5) =>
  ({ replicates, responses: ['votes'], until: { most: 1_000, ...until } }) as never;

const width = (low: number, mean: number, high: number) => ({ low, mean, high }) as never;

test('stopping: looks at 30 runs or the given number, then after half as many again', () => {
  expect(new Replicates(sweepOf({ half_width: 1 }), 1).of(1)).toBe(30);
  expect(new Replicates(sweepOf({ half_width: 1 }, 50), 1).of(1)).toBe(50);
  expect(new Replicates(sweepOf({ half_width: 1, most: 20 }), 1).of(1)).toBe(20);
  expect(new Replicates({ replicates: 3 } as never, 2).of(2)).toBe(3);
  const looks: (number | null)[] = [30];
  while (looks.at(-1) !== null) looks.push(nextReplicates(sweepOf({ most: 120 }), looks.at(-1)!));
  expect(looks).toEqual([30, 45, 68, 102, 120, null]);
});

test('stopping: accepts widths in units or percent, and requires a known interval', () => {
  expect(isNarrow({ half_width: 2 } as never, width(8, 10, 12))).toBe(true);
  expect(isNarrow({ half_width: 1.9 } as never, width(8, 10, 12))).toBe(false);
  expect(isNarrow({ percent: 20 } as never, width(8, 10, 12))).toBe(true);
  expect(isNarrow({ percent: 19 } as never, width(-12, -10, -8))).toBe(false);
  expect(isNarrow({ percent: 100 } as never, width(-1, 0, 1))).toBe(false);
  expect(
    isNarrow({ half_width: 9 } as never, computeStatistics(Sample.of([4, 4, 4]), 't_log')),
  ).toBe(false);
});

test('stopping: keeps a settled cell settled, and checks each cell separately', () => {
  const replicates = new Replicates(sweepOf({ half_width: 1, most: 45 }), 2);
  const noise = (cell: number, count: number) =>
    Array.from({ length: count }, (_, index) => 10 + (cell === 1 ? 0.1 : 10) * (index % 2));
  expect(replicates.finishCells(noise, 't_log')).toBe(true);
  expect([replicates.of(1), replicates.of(2)]).toEqual([30, 45]);
  expect(replicates.finishCells(noise, 't_log')).toBe(false);
  expect([replicates.of(1), replicates.of(2)]).toEqual([30, 45]);
});

const unit = (rng: Stream) => (rng.int(2 ** 31) + 0.5) / 2 ** 31;
const exponential = (rng: Stream) => -Math.log(unit(rng));
const gamma = (rng: Stream) => (exponential(rng) + exponential(rng)) / 2;
const lognormal = (rng: Stream, deviation: number) => Math.exp(rng.normal(0, deviation));
const share = (rng: Stream, chance: number) =>
  Array.from({ length: 20 }, () => Number(unit(rng) < chance)).reduce((a, b) => a + b) / 20;

// Widths at which some cells stop at the first look and others much later.
test.each([
  ['t_log', 'normal', 10, [0.9, 0.7], (rng: Stream) => rng.normal(10, 2)],
  ['t_log', 'exponential', 1, [0.45, 0.35, 0.3], exponential],
  ['t_log', 'gamma of shape 2', 1, [0.35, 0.3, 0.2], gamma],
  ['t_log', 'lognormal', Math.exp(0.125), [0.2, 0.15], (rng: Stream) => lognormal(rng, 0.5)],
  ['t_skew', 'difference', 1, [0.8, 0.6], (rng: Stream) => 2 * exponential(rng) - exponential(rng)],
  ['share', 'of 20 blocks, .3', 0.3, [0.035, 0.05], (rng: Stream) => share(rng, 0.3)],
  ['share', 'of 20 blocks, .02', 0.02, [0.013], (rng: Stream) => share(rng, 0.02)],
  ['share', 'yes or no', 0.8, [0.15], (rng: Stream) => Number(unit(rng) < 0.8)],
] as const)('stopping: %s, %s', (kind, name, mean, widths, draw) => {
  for (const half of widths) {
    const { held, looks } = stopped(kind, `${name}/${half}`, mean, half, draw);
    expect(looks.size, 'cells stop at different looks').toBeGreaterThan(1);
    expect(held / counts.coverageTrials, `half width ${half}`).toBeGreaterThanOrEqual(0.94);
  }
});

function stopped(
  kind: IntervalKind,
  name: string,
  mean: number,
  half: number,
  draw: (rng: Stream) => number,
) {
  const sweep = sweepOf({ half_width: half });
  const rng = new Streams('stopping').of('world', name);
  const looks = new Map<number, number>();
  let held = 0;
  for (let trial = 0; trial < counts.coverageTrials; trial += 1) {
    const drawn: number[] = [];
    const replicates = new Replicates(sweep, 1);
    const valuesOf = (_: number, count: number) => {
      while (drawn.length < count) drawn.push(draw(rng));
      return drawn;
    };
    while (replicates.finishCells(valuesOf, kind));
    const { low, high } = computeStatistics(Sample.of(drawn), kind, getLevel(sweep));
    expect((high! - low!) / 2).toBeLessThanOrEqual(drawn.length < 1_000 ? half : 1);
    if (low! <= mean && mean <= high!) held += 1;
    looks.set(drawn.length, (looks.get(drawn.length) ?? 0) + 1);
  }
  return { held, looks };
}
