/**
 * Conclusions of a study: the rates of two arms, their difference in pairs of runs with the same
 * seed, and an exact test. Holm's procedure bounds the probability of a false conclusion over all
 * effects. Runs with the same question form a cluster, which then counts as one observation.
 */
import { computeEffect, holm, mcNemar } from '../attribution/effects.js';
import { Streams } from '../rng.js';
import { boundsOfMean, computeStatistics, Sample, wilsonScore } from '../sweep/statistics.js';

/** One run in one arm. Runs of both arms with the same pair differ only in the arm. */
export interface Observation {
  pair: string;
  /** Question of the run; runs with the same question are one cluster. */
  cluster: string;
  /** Null for a run without an outcome. */
  value: number | null;
}

interface ArmFigures {
  /** Runs with an outcome. */
  n: number;
  missing: number;
  clusters: number;
  mean: number | null;
  low: number | null;
  high: number | null;
  /** Mean over all runs if all missing outcomes were 0, or 1. */
  mean_least: number | null;
  mean_most: number | null;
}

export interface EffectFigures {
  arms: [ArmFigures, ArmFigures];
  /** Pairs with both outcomes, and those in which the second arm is higher, or lower. */
  pairs: number;
  higher: number;
  lower: number;
  /** Mean of second minus first, with a 95 % interval. */
  difference: number | null;
  low: number | null;
  high: number | null;
  /** Exact test that both directions are equally probable. */
  p: number;
}

/** Estimates an effect. Clusters are counted only if runs share them. */
export function estimateEffect(
  a: readonly Observation[],
  b: readonly Observation[],
): EffectFigures {
  const others = new Map(b.map((one) => [one.pair, one.value]));
  const differences = a.flatMap(({ pair, cluster, value }) => {
    const other = others.get(pair) ?? null;
    return value === null || other === null ? [] : [{ cluster, value: other - value }];
  });
  const units = meansByCluster(differences);
  const higher = units.filter((value) => value > 0).length;
  const lower = units.filter((value) => value < 0).length;
  const arms: EffectFigures['arms'] = [toArm(a), toArm(b)];
  const counts = { arms, pairs: units.length, higher, lower };
  const p = mcNemar(higher, lower);
  if (units.length === 0) return { ...counts, difference: null, low: null, high: null, p };
  // Binary outcomes have an interval for McNemar's pairs; it is valid for few pairs.
  if (units.every((value) => Number.isInteger(value) && Math.abs(value) <= 1)) {
    const pairs = { pairs: units.length, both: 0, only_with: lower, only_without: higher };
    return { ...counts, ...computeEffect(pairs) };
  }
  const { mean, low, high } = computeStatistics(Sample.of(units), 't_skew');
  return { ...counts, difference: mean, low, high, p: signFlip(units) };
}

/** Number of pairs up to which all signs are tried, and number of random signs otherwise. */
const MOST_EXACT = 13;
const SIGNS = 9_999;

/**
 * Fisher's randomization test of pairs: the share of assignments of signs whose sum is at least as
 * far from 0. With many pairs, the assignments are drawn, always in the same way.
 */
export function signFlip(differences: readonly number[]): number {
  const values = differences.filter((value) => value !== 0);
  const size = Math.abs(values.reduce((sum, value) => sum + value, 0)) * (1 - 1e-12);
  const isFar = (isNegative: (at: number) => boolean): boolean =>
    Math.abs(values.reduce((sum, value, at) => sum + (isNegative(at) ? -value : value), 0)) >= size;
  const isExact = values.length <= MOST_EXACT;
  const count = isExact ? 1 << values.length : SIGNS;
  let far = 0;
  const rng = new Streams('folkmoot/study').of('world', 'signs');
  for (let draw = 0; draw < count; draw += 1) {
    if (isFar(isExact ? (at) => ((draw >> at) & 1) === 1 : () => rng.int(2) === 1)) far += 1;
  }
  return isExact ? far / count : (1 + far) / (1 + count);
}

/** Adjusts the p-values of all effects of a family. */
export function adjustEffects<T extends EffectFigures>(effects: readonly T[]) {
  const adjusted = holm(effects.map(({ p }) => p));
  return effects.map((one, at) => ({ ...one, p_holm: adjusted[at]! }));
}

function toArm(observations: readonly Observation[]): ArmFigures {
  const known = observations.flatMap(({ cluster, value }) =>
    value === null ? [] : [{ cluster, value }],
  );
  const missing = observations.length - known.length;
  const units = meansByCluster(known);
  const counts = { n: known.length, missing, clusters: units.length };
  const isRate = known.every(({ value }) => value >= 0 && value <= 1);
  const ranges = observations.map(({ value }) => {
    const [least, most] = isRate ? [0, 1] : [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
    return { low: value ?? least, high: value ?? most };
  });
  return { ...counts, ...intervalOf(units, isRate), ...boundsOfMean(ranges) };
}

function intervalOf(units: readonly number[], isRate: boolean) {
  const mean = Sample.of(units).moments()?.mean ?? null;
  if (mean === null) return { mean, low: null, high: null };
  if (units.every((value) => value === 0 || value === 1)) {
    return { mean, ...wilsonScore(mean, units.length) };
  }
  const { low, high } = computeStatistics(Sample.of(units), isRate ? 'share' : 't_skew');
  return { mean, low, high };
}

/** Returns one value for each cluster: the mean of its runs. */
function meansByCluster(values: readonly { cluster: string; value: number }[]): number[] {
  const clusters = new Map<string, Sample>();
  for (const { cluster, value } of values) {
    const sample = clusters.get(cluster) ?? new Sample();
    clusters.set(cluster, sample);
    sample.add(value);
  }
  return [...clusters.values()].map((sample) => sample.moments()!.mean);
}
