/**
 * Latency of links: its laws and its schema. A law is one row: schema, documents, checks, drawn
 * scenarios and samplers follow from it. A law is a quantile function that returns identical values
 * on every machine; see docs/model.md.
 */
import { type Static, Type } from '../../../engine/protocol/bundled/typebox.js';
import { exp, ln, normalQuantile } from '../../numbers.js';
import { about, integerFrom, numberFrom, OneOf, section, Text } from './common.js';

/** Maps a probability in (0, 1) to milliseconds. Does not decrease. */
export type Quantile = (place: number) => number;

interface LatencyLaw {
  /** Meaning of `spread_ms`. Absent if the law ignores it. */
  spread?: string;
  /** Member that only this law has. */
  own?: 'shape' | 'file';
  /** @param traces quantile functions from latency files, by path in the scenario. */
  quantile(
    options: { mean_ms: number; spread_ms: number; shape?: number; file?: string },
    traces: ReadonlyMap<string, Quantile>,
  ): Quantile;
}

const DEVIATION = 'standard deviation';

/** Laws by name. Their order determines what `swarm` draws, so a new law comes last. */
const laws = {
  constant: {
    quantile:
      ({ mean_ms }) =>
      () =>
        mean_ms,
  },
  uniform: {
    spread: 'half the width',
    quantile: ({ mean_ms, spread_ms }) => {
      return (place) => mean_ms + spread_ms * (2 * place - 1);
    },
  },
  normal: {
    spread: DEVIATION,
    quantile: ({ mean_ms, spread_ms }) => {
      return (place) => mean_ms + spread_ms * normalQuantile(place);
    },
  },
  exponential: {
    spread: DEVIATION,
    quantile: ({ mean_ms, spread_ms }) => {
      return (place) => mean_ms - spread_ms - spread_ms * ln(1 - place);
    },
  },
  lognormal: {
    spread: DEVIATION,
    quantile: ({ mean_ms, spread_ms }) => {
      const ratio = spread_ms / mean_ms;
      const variance = ln(1 + ratio * ratio);
      const [middle, sigma] = [ln(mean_ms) - variance / 2, Math.sqrt(variance)];
      return (place) => exp(middle + sigma * normalQuantile(place));
    },
  },
  pareto: {
    spread: DEVIATION,
    own: 'shape',
    quantile: ({ mean_ms, spread_ms, shape }) => {
      // If no shape is given, solve a (a - 2) = (m / s)^2 for mean m and deviation s.
      const ratio = mean_ms / spread_ms;
      const power = shape ?? 1 + Math.sqrt(1 + ratio * ratio);
      if (power === Number.POSITIVE_INFINITY) return () => mean_ms;
      const least = (mean_ms * (power - 1)) / power;
      return (place) => least * exp(-ln(1 - place) / power);
    },
  },
  empirical: {
    own: 'file',
    // The file was validated with the scenario.
    quantile: ({ file }, traces) => traces.get(file!)!,
  },
} satisfies Record<string, LatencyLaw>;

export const latencyLaws: Record<keyof typeof laws, LatencyLaw> = laws;
export const latencyLawNames = Object.keys(laws) as (keyof typeof laws)[];

/** Returns the meanings of `spread_ms`, each with its laws. */
function describeSpreads(): string {
  const spreads = new Map<string, string[]>();
  for (const name of latencyLawNames) {
    const { spread } = latencyLaws[name];
    if (spread !== undefined) spreads.set(spread, [...(spreads.get(spread) ?? []), name]);
  }
  return [...spreads].map(([spread, names]) => `${names.join(', ')}: ${spread}`).join('; ');
}

export const Latency = Type.Object(
  {
    distribution: OneOf(
      latencyLawNames,
      'uniform',
      'drawn independently for each message and link',
    ),
    mean_ms: integerFrom(1, 600_000, 'mean latency of a message', 200),
    spread_ms: integerFrom(0, 600_000, describeSpreads(), 100),
    shape: Type.Optional(
      numberFrom(
        1.1,
        100,
        'pareto: exponent, instead of spread_ms; above 1, so that the mean is finite',
      ),
    ),
    file: Type.Optional(
      Text(
        500,
        "empirical: a CSV file in the scenario's folder with one sample in milliseconds per " +
          'line, or lines of quantile,ms from quantile 0 to 1',
      ),
    ),
  },
  {
    ...section,
    ...about('at least 10 ms; lower draws are raised to it'),
    examples: [{ mean_ms: 50 }],
  },
);

export type Latency = Static<typeof Latency>;
