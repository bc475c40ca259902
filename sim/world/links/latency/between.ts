/** Which latency holds between two agents, or an agent and the network: by group and region. */
import { groupSizes } from '../../../scenario/population.js';
import type { Latency } from '../../../scenario/schema/links.js';
import type { Scenario } from '../../../scenario/schema/scenario.js';
import { latencyOf, type Traces } from './distributions.js';
import { type Sampler, shortestMs } from './sampler.js';

/** As `links.between` names the network. */
const NETWORK_NAME = 'network';

/** The hash below which 999 of 1,000 lie. */
const SLOW = Math.floor(0.999 * 2 ** 32);

export type Linked = Pick<Scenario, 'links' | 'agents' | 'population'>;

export interface Latencies {
  /** Ordinals; the network is below 0. */
  of(from: number, to: number): Sampler;
  /** The least that any message can need. */
  shortestMs: number;
  /** Of a thousand messages between any two, 999 need no longer. */
  slowMs: number;
}

export function latenciesOf(scenario: Linked, traces: Traces): Latencies {
  const { latency, between } = scenario.links;
  const samplers = new Map<string, Sampler>();
  const samplerOf = (wanted: Latency): Sampler => {
    const key = JSON.stringify(wanted);
    const sampler = samplers.get(key) ?? latencyOf(wanted, traces);
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
const placesOf = ({ agents }: Linked): ReadonlySet<string>[] => [
  ...agents.map(({ group, region }) => new Set(region === undefined ? [group] : [group, region])),
  new Set([NETWORK_NAME]),
];

/** The last entry that fits. */
function wantedBetween(
  { links: { latency, between } }: Linked,
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
