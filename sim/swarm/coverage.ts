/** How often a swarm has drawn what can be drawn: what stays at 0 was not tested. */
import { policies, weightings } from '../../engine/internal.js';
import { Fault } from '../scenario/schema/faults.js';
import { Latency } from '../scenario/schema/links.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import { Producing } from '../scenario/schema/scenario.js';
import { isExternal, Strategy } from '../scenario/schema/strategies.js';
import { Topology } from '../scenario/schema/topology.js';

/** How many of the drawn scenarios held what. */
export type Coverage = Record<string, Record<string, number>>;

interface Kinds {
  anyOf: readonly { properties: { kind: { const: string } } }[];
}

const kindsOf = (union: unknown): string[] =>
  (union as Kinds).anyOf.map(({ properties }) => properties.kind.const);

const zeros = (names: readonly string[]): Record<string, number> =>
  Object.fromEntries(names.map((name) => [name, 0]));

export function emptyCoverage(): Coverage {
  return {
    policy: zeros(policies),
    weights: zeros(weightings),
    // A script is a file, and some others decide: a swarm draws none of them.
    strategy: zeros(kindsOf(Strategy).filter((kind) => kind !== 'script' && !isExternal({ kind }))),
    fault: zeros(kindsOf(Fault)),
    // Nor does it draw what else is a file.
    latency: zeros(Latency.properties.distribution.enum.filter((name) => name !== 'empirical')),
    topology: zeros(Topology.properties.kind.enum.filter((name) => name !== 'edges')),
    schedule: zeros(Producing.properties.schedule.enum),
    signatures: zeros(['verified', 'unverified', 'none']),
    limits: zeros(['off', 'spec']),
    stay: zeros(['throughout', 'join', 'leave']),
    uplink: zeros(['no limit', 'of all', 'of a group']),
  };
}

export function cover(coverage: Coverage, scenario: Scenario): void {
  const { consensus, agents, faults, topology, links, producers, signatures, limits } = scenario;
  const drawn: Record<string, string[]> = {
    policy: [consensus.policy],
    weights: [consensus.weights],
    strategy: agents.map(({ strategy }) => strategy.kind),
    fault: faults.map(({ kind }) => kind),
    latency: [links.latency.distribution],
    topology: [topology.kind],
    schedule: [producers.schedule],
    signatures: [signatures],
    limits: [limits],
    stay: agents.flatMap(({ join, leave }) => {
      const kinds = [...(join ? ['join'] : []), ...(leave ? ['leave'] : [])];
      return kinds.length === 0 ? ['throughout'] : kinds;
    }),
    uplink: [
      ...(links.uplink_kbps === undefined ? ['no limit'] : ['of all']),
      ...agents.flatMap(({ uplink_kbps }) => (uplink_kbps === undefined ? [] : ['of a group'])),
    ],
  };
  for (const [what, kinds] of Object.entries(drawn)) {
    const counts = coverage[what]!;
    for (const kind of new Set(kinds)) counts[kind] = (counts[kind] ?? 0) + 1;
  }
}
