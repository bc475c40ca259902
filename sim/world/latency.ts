/** Latency between agents and the network, by group and region, drawn from the scenario's laws. */
import { groupSizes } from '../scenario/population.js';
import { type Latency, latencyLaws, type Quantile } from '../scenario/schema/latency.js';
import type { Scenario } from '../scenario/schema/scenario.js';

/** Network's name in `links.between`. */
const NETWORK_NAME = 'network';

/** 99.9th percentile of the hash. */
const SLOW = Math.floor(0.999 * 2 ** 32);

export type LinkSource = Pick<Scenario, 'links' | 'agents' | 'population'>;

export interface Latencies {
  /** Returns the sampler for two ordinals. The network's ordinal is below 0. */
  of(from: number, to: number): Sampler;
  /** Minimum latency over all links. */
  shortestMs: number;
  /** 99.9th percentile of latency for the slowest pair. */
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

/** Returns each group's names, in order. The network comes last. */
const placesOf = ({ agents }: LinkSource): ReadonlySet<string>[] => [
  ...agents.map(({ group, region }) => new Set(region === undefined ? [group] : [group, region])),
  new Set([NETWORK_NAME]),
];

/** Returns the last matching entry. */
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

/** Quantile functions from latency files, by path in the scenario. */
type Traces = ReadonlyMap<string, Quantile>;

/** @param traces contents of the latency files. */
export function createLatencySampler(latency: Latency, traces: Traces): Sampler {
  return createSampler(latencyLaws[latency.distribution].quantile(latency, traces));
}

/*
 * Draws integer milliseconds by inverting a distribution: a 32-bit hash is a probability, and the
 * quantile at that probability is the latency. A table, indexed by the hash's first bits, caches
 * the quantiles. For table cells that contain several values, the quantile is computed, so each
 * draw is exact, including the tails.
 */

/** Minimum latency. A lower value would make windows so short that runs become very slow. */
const LEAST_MS = 10;

/** Maps 32 bits of a hash, signed or not, to integer milliseconds. */
type Sampler = (hash: number) => number;

const CELL_BITS = 18;
const IN_CELL = 2 ** 18;
const CELLS = 2 ** 14;
const PLACES = 2 ** 32;
/** Table marks for an uncomputed cell, and for a cell with several values or a large value. */
const EMPTY = 0;
const MIXED = -1;
const LARGEST = 2 ** 15 - 1;

/** @param quantile maps (0, 1) to milliseconds and must not decrease. */
export function createSampler(quantile: (place: number) => number): Sampler {
  // Two bytes a cell, so that the table fits into a processor's first cache.
  const table = new Int16Array(CELLS);
  const exact = (hash: number) =>
    Math.max(LEAST_MS, Math.round(quantile(((hash >>> 0) + 0.5) / PLACES)));
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

export function shortestMs(sampler: Sampler): number {
  return sampler(0);
}
