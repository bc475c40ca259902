/** Latency distributions as quantile functions, the same on every machine: docs/model.md. */
import { exp, ln } from '../../../numbers/logarithm.js';
import { normalQuantile } from '../../../numbers/normal.js';
import type { Quantile } from '../../../scenario/files/trace.js';
import type { Latency } from '../../../scenario/schema/links.js';
import { type Sampler, samplerOf } from './sampler.js';

/** Quantiles of measured latencies, by the file's path in the scenario. */
export type Traces = ReadonlyMap<string, Quantile>;

type Maker = (latency: Latency, traces: Traces) => Quantile;

const makers: Record<Latency['distribution'], Maker> = {
  constant:
    ({ mean_ms }) =>
    () =>
      mean_ms,
  uniform: ({ mean_ms, spread_ms }) => {
    return (place) => mean_ms + spread_ms * (2 * place - 1);
  },
  normal: ({ mean_ms, spread_ms }) => {
    return (place) => mean_ms + spread_ms * normalQuantile(place);
  },
  exponential: ({ mean_ms, spread_ms }) => {
    return (place) => mean_ms - spread_ms - spread_ms * ln(1 - place);
  },
  lognormal: ({ mean_ms, spread_ms }) => {
    const ratio = spread_ms / mean_ms;
    const variance = ln(1 + ratio * ratio);
    const [middle, sigma] = [ln(mean_ms) - variance / 2, Math.sqrt(variance)];
    return (place) => exp(middle + sigma * normalQuantile(place));
  },
  pareto: ({ mean_ms, spread_ms, shape }) => {
    // Of mean m and deviation s where no shape is given: a (a - 2) = (m / s)^2.
    const ratio = mean_ms / spread_ms;
    const power = shape ?? 1 + Math.sqrt(1 + ratio * ratio);
    if (power === Number.POSITIVE_INFINITY) return () => mean_ms;
    const least = (mean_ms * (power - 1)) / power;
    return (place) => least * exp(-ln(1 - place) / power);
  },
  // That it has a file, and that it is there, is checked on the way in.
  empirical: ({ file }, traces) => traces.get(file!)!,
};

/** @param traces files that empirical distributions name. */
export function latencyOf(latency: Latency, traces: Traces): Sampler {
  return samplerOf(makers[latency.distribution](latency, traces));
}
