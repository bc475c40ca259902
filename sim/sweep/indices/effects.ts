/**
 * Elementary effects of Morris (1991): what one step of a factor changes, per whole range of it. Of
 * each factor their mean (in which signs cancel), the mean of their sizes (Campolongo et al. 2007),
 * and their deviation, which is large where it depends on the other factors what a step does.
 *
 * All points of a trajectory share their seed: an effect is a difference of two of its points, in
 * which what chance does to both cancels. Trajectories are averaged over, and have a seed each.
 */
import type { Stream } from '../../rng.js';
import { statisticsOf } from '../statistics/interval.js';
import { Sample } from '../statistics/sample.js';
import { resampled } from './bootstrap.js';
import type { IndexRow, Response } from './row.js';

/** @param stepsOf which factor steps after each point of a trajectory, and by how much. */
export function elementaryEffects(
  { samples }: Response,
  factors: number,
  stepsOf: (trajectory: number) => { factor: number; by: number }[],
  rng: Stream,
): IndexRow[] {
  const effects: number[][] = Array.from({ length: factors }, () => []);
  for (const [trajectory, values] of samples.entries()) {
    for (const [point, { factor, by }] of stepsOf(trajectory).entries()) {
      const [before, after] = [values[point], values[point + 1]];
      if (typeof before === 'number' && typeof after === 'number') {
        effects[factor]!.push((after - before) / by);
      }
    }
  }
  return effects.flatMap((found, factor) => [
    { factor, index: 'mean', ...ofMean(found, 't_skew') },
    { factor, index: 'mean_absolute', ...ofMean(found.map(Math.abs), 't_log') },
    { factor, index: 'deviation', ...deviationOf(found, rng) },
  ]);
}

function ofMean(effects: readonly number[], kind: 't_skew' | 't_log') {
  const { n, mean, low, high } = statisticsOf(Sample.of(effects), kind);
  return { n, value: mean, low, high };
}

function deviationOf(effects: readonly number[], rng: Stream) {
  const deviation = (drawn: Uint32Array) => {
    if (drawn.length < 2) return [null];
    return [Sample.of(Array.from(drawn, (at) => effects[at]!)).moments()!.sd];
  };
  return resampled(effects.length, deviation, rng)[0]!;
}
