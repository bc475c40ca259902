/**
 * Latency between two agents, or between an agent and the network, by group and region.
 * Distributions are quantile functions, which give the same on every machine: docs/model.md.
 */
import { exp, ln, normalQuantile } from '../numbers.js';
import type { Quantile } from '../scenario/files.js';
import { groupSizes } from '../scenario/population.js';
import type { Latency } from '../scenario/schema/network.js';
import type { Scenario } from '../scenario/schema/scenario.js';

/** As `links.between` names the network. */
const NETWORK_NAME = 'network';

/** The hash below which 999 of 1,000 lie. */
const SLOW = Math.floor(0.999 * 2 ** 32);

export type LinkSource = Pick<Scenario, 'links' | 'agents' | 'population'>;

export interface Latencies {
  /** Ordinals; the network is below 0. */
  of(from: number, to: number): Sampler;
  /** The least that any message can need. */
  shortestMs: number;
  /** Of a thousand messages between any two, 999 need no longer. */
  slowMs: number;
}

export function createLatencies(scenario: LinkSource, traces: Traces): Latencies {
  const { latency, between } = scenario.links;
  const samplers = new Map<string, Sampler>();
  const samplerOf = (wanted: Latency): Sampler => {
    const key = JSON.stringify(wanted);
    const sampler = samplers.get(key) ?? createLatencySampler(wanted, traces);
    samplers.set(key, sampler);
    return sampler;
  };
  const usual = samplerOf(latency);
  if (between.length === 0)
    return { of: () => usual, shortestMs: shortestMs(usual), slowMs: usual(SLOW) };
  const places = placesOf(scenario);
  const pairs = places.flatMap((from) =>
    places.map((to) => samplerOf(wantedBetween(scenario, from, to))),
  );
  const placeOf = new Uint8Array(scenario.population);
  let first = 0;
  for (const [index, size] of groupSizes(scenario).entries()) {
    placeOf.fill(index, first, first + size);
    first += size;
  }
  const network = places.length - 1;
  return {
    of: (from, to) =>
      pairs[
        (from < 0 ? network : placeOf[from]!) * places.length + (to < 0 ? network : placeOf[to]!)
      ]!,
    shortestMs: Math.min(...pairs.map(shortestMs)),
    slowMs: Math.max(...pairs.map((sampler) => sampler(SLOW))),
  };
}

/** By what names each group goes, in order; at last the network. */
const placesOf = ({ agents }: LinkSource): ReadonlySet<string>[] => [
  ...agents.map(({ group, region }) => new Set(region === undefined ? [group] : [group, region])),
  new Set([NETWORK_NAME]),
];

/** The last entry that fits. */
function wantedBetween(
  { links: { latency, between } }: LinkSource,
  from: ReadonlySet<string>,
  to: ReadonlySet<string>,
): Latency {
  const found = between.findLast(
    (one) =>
      (from.has(one.from) && to.has(one.to)) ||
      (!one.one_way && from.has(one.to) && to.has(one.from)),
  );
  return found?.latency ?? latency;
}

/** Quantiles of measured latencies, by the file's path in the scenario. */
type Traces = ReadonlyMap<string, Quantile>;

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
export function createLatencySampler(latency: Latency, traces: Traces): Sampler {
  return createSampler(makers[latency.distribution](latency, traces));
}

/*
 * Draws whole milliseconds by inverting a distribution: a 32-bit hash is a place between 0 and 1,
 * and its quantile the time. The inverse is kept as a table of integers by the hash's first bits;
 * only where a cell of it holds more than one millisecond is the quantile computed anew, so each
 * draw is exact to the last bit of the hash, tails included.
 */

/** Less would make the world's windows so short that a run takes for ever. */
const LEAST_MS = 10;

/** From a 32-bit hash to whole milliseconds. */
type Sampler = (hash: number) => number;

const CELL_BITS = 18;
const IN_CELL = 2 ** 18;
const CELLS = 2 ** 14;
const PLACES = 2 ** 32;
/** In the table: a cell that nobody has asked for, and one with several values or a large one. */
const EMPTY = 0;
const MIXED = -1;
const LARGEST = 2 ** 31 - 1;

/** @param quantile from a place above 0 and below 1 to milliseconds; must not fall. */
export function createSampler(quantile: (place: number) => number): Sampler {
  const table = new Int32Array(CELLS);
  const exact = (hash: number) => Math.max(LEAST_MS, Math.round(quantile((hash + 0.5) / PLACES)));
  const fill = (cell: number): number => {
    const first = exact(cell * IN_CELL);
    const last = exact(cell * IN_CELL + IN_CELL - 1);
    table[cell] = first === last && first <= LARGEST ? first : MIXED;
    return table[cell];
  };
  return (hash) => {
    const cell = hash >>> CELL_BITS;
    const kept = table[cell]!;
    const value = kept === EMPTY ? fill(cell) : kept;
    return value === MIXED ? exact(hash) : value;
  };
}

/** The least that a message can need. */
export function shortestMs(sampler: Sampler): number {
  return sampler(0);
}
