/** Coverage of 95 % intervals, by kind, for distributions such as measures have. */
import { type Stream, Streams } from '../../../../dist/sim/rng.js';
import {
  computeStatistics,
  type IntervalKind,
  Sample,
} from '../../../../dist/sim/sweep/statistics.js';
import { counts } from '../../../support/counts.js';

/** Uniform, strictly between 0 and 1. */
const unit = (rng: Stream) => (rng.int(2 ** 31) + 0.5) / 2 ** 31;
const exponential = (rng: Stream) => -Math.log(unit(rng));
const normal = (rng: Stream) => Math.sqrt(2 * exponential(rng)) * Math.cos(2 * Math.PI * unit(rng));

function binomial(rng: Stream, trials: number, chance: number): number {
  let hits = 0;
  for (let trial = 0; trial < trials; trial += 1) hits += unit(rng) < chance ? 1 : 0;
  return hits;
}

function poisson(rng: Stream, mean: number): number {
  let count = 0;
  for (let at = exponential(rng); at < mean; at += exponential(rng)) count += 1;
  return count;
}

interface Case {
  kind: IntervalKind;
  name: string;
  mean: number;
  draw: (rng: Stream) => number;
}

const share = (name: string, mean: number, draw: Case['draw']): Case => {
  return { kind: 'share', name, mean, draw };
};
const lognormal = (kind: IntervalKind, deviation: number): Case => ({
  kind,
  name: `lognormal, deviation ${deviation}`,
  mean: Math.exp((deviation * deviation) / 2),
  draw: (rng) => Math.exp(deviation * normal(rng)),
});

/** The families of docs/sweeps.md, each at the edges of its range. */
const cases: Case[] = [
  ...[0.005, 0.02, 0.1, 0.5, 0.9, 0.98].flatMap((mean) =>
    [1, 5, 20, 100].map((trials) =>
      share(`${trials} blocks, ${mean}`, mean, (rng) => binomial(rng, trials, mean) / trials),
    ),
  ),
  share('normal about .9', 0.9, (rng) => 0.9 + 0.02 * normal(rng)),
  // Blocks of one run are alike, so the share of each run is uniform.
  share('clustered', 0.5, (rng) => binomial(rng, 20, unit(rng)) / 20),
  share('clustered near 0', 1 / 11, (rng) => binomial(rng, 50, 1 - unit(rng) ** 0.1) / 50),
  ...(['t_log', 't_skew'] as const).flatMap((kind): Case[] => [
    { kind, name: 'normal', mean: 10, draw: (rng) => 10 + 2 * normal(rng) },
    { kind, name: 'exponential', mean: 1, draw: exponential },
    { kind, name: 'uniform', mean: 0.5, draw: unit },
    lognormal(kind, 0.5),
    lognormal(kind, 0.6),
    { kind, name: 'very few', mean: 0.1, draw: (rng) => poisson(rng, 0.1) },
    { kind, name: 'mostly 0', mean: 0.4, draw: (rng) => (unit(rng) < 0.1 ? poisson(rng, 4) : 0) },
    { kind, name: 'few', mean: 0.5, draw: (rng) => poisson(rng, 0.5) },
    { kind, name: 'some', mean: 5, draw: (rng) => poisson(rng, 5) },
    { kind, name: 'many none', mean: 1.2, draw: (rng) => (unit(rng) < 0.3 ? poisson(rng, 4) : 0) },
    { kind, name: 'half none', mean: 2, draw: (rng) => (unit(rng) < 0.5 ? poisson(rng, 4) : 0) },
    { kind, name: 'largest of 20', mean: 3.59774, draw: largest },
    // A value with an upper bound is skewed to the left.
    { kind, name: 'ten at most', mean: 9, draw: (rng) => 10 - Math.min(10, exponential(rng)) },
    { kind, name: 'near its end', mean: 500 / 11, draw: (rng) => 50 * unit(rng) ** 0.1 },
    { kind, name: 'a count of 100', mean: 98, draw: (rng) => binomial(rng, 100, 0.98) },
  ]),
  { kind: 't_skew', name: 'difference', mean: 1, draw: (r) => 2 * exponential(r) - exponential(r) },
  { kind: 't_skew', name: 'rarely one more', mean: 0.1, draw: (rng) => (unit(rng) < 0.1 ? 1 : 0) },
];

/** The largest of 20 exponential draws, whose mean is the 20th harmonic number. */
function largest(rng: Stream): number {
  return Math.max(...Array.from({ length: 20 }, () => exponential(rng)));
}

/** A missing interval claims nothing, so it counts as a hit. */
function covers({ kind, mean, draw }: Case, runs: number, rng: Stream): boolean {
  const values = Array.from({ length: runs }, () => draw(rng));
  const { low, high } = computeStatistics(Sample.of(values), kind);
  return low === null || (low <= mean && mean <= high!);
}

function coverage(one: Case, runs: number): number {
  const rng = new Streams('coverage').of(runs, `${one.kind}/${one.name}`);
  let held = 0;
  for (let trial = 0; trial < counts.coverageTrials; trial += 1) {
    if (covers(one, runs, rng)) held += 1;
  }
  return held / counts.coverageTrials;
}

/** With a true coverage of .93, one test in a thousand falls below this bound by chance. */
const least = 0.93 - 3.1 * Math.sqrt((0.93 * 0.07) / counts.coverageTrials);
const floor = counts.coverageTrials >= 2_000 ? 0.93 : least;

describe.each([5, 10, 30])('coverage: %i runs per cell', (runs) => {
  test.each(cases)('coverage: is high enough for $kind, $name', (one) => {
    expect(coverage(one, runs)).toBeGreaterThanOrEqual(floor);
  });
});

/** Heavier tails, with the coverage that docs/sweeps.md states, less 3.1 deviations. */
const beyond: [Case, number][] = (['t_log', 't_skew'] as const).flatMap((kind) => [
  [{ kind, name: 'gamma of shape 0.5', mean: 0.5, draw: (rng) => normal(rng) ** 2 / 2 }, 0.91],
  [lognormal(kind, 0.8), 0.91],
  [lognormal(kind, 1), 0.89],
]);

describe.each([5, 10, 30])('coverage: %i runs per cell, outside the range', (runs) => {
  test.each(beyond)('coverage: reaches the stated value for %o', (one, promised) => {
    const luck = 3.1 * Math.sqrt((promised * (1 - promised)) / counts.coverageTrials);
    expect(coverage(one, runs)).toBeGreaterThanOrEqual(promised - luck);
  });
});
