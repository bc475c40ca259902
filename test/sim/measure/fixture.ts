/** Shared by the measure tests: a small population, and a collector fed event by event. */
import type { Event, Network } from 'folkmoot';
import { personalities, type Row } from 'folkmoot/sim';
import { Collector } from '../../../dist/sim/measure/collector.js';
import type { MeasuredAgent } from '../../../dist/sim/measure/population.js';
import { citizenOf, paperSignatory, START_MS } from '../../support/citizens.js';

export type CollectorScenario = ConstructorParameters<typeof Collector>[0];

/** A scenario with group names, all that the collector reads. */
export function scenarioWith(groups: readonly string[], everyMs = 5_000): CollectorScenario {
  return {
    agents: groups.map((group) => ({ group })) as unknown as CollectorScenario['agents'],
    measure: { every_ms: everyMs, votes: true, decisions: false },
  };
}

/** Agents of the given groups, with the keys of a town's first citizens. */
export function agentsIn(groups: readonly string[]): MeasuredAgent[] {
  return groups.map((group, ordinal) => ({
    ...{ ordinal, id: citizenOf(paperSignatory(ordinal)).id, name: `agent ${ordinal}`, group },
    ...{ personality: 'neutral', traits: personalities.neutral!, strategy: 'personality' },
    capabilities: ['validator'],
  }));
}

export interface Collected {
  collector: Collector;
  rows: Row<'votes.csv'>[];
}

/** A collector for these agents, and its vote rows. */
export function collect(
  groups: readonly string[],
  agents: readonly MeasuredAgent[],
  everyMs?: number,
): Collected {
  const rows: Row<'votes.csv'>[] = [];
  const collector = new Collector(scenarioWith(groups, everyMs), agents, START_MS, {
    onRow: (row) => void rows.push(row),
  });
  return { collector, rows };
}

export const timeOf = (event: Event): number => Date.parse(event.data.timestamp);

export const eventsOf = (network: Network): Event[] => [
  ...network.read.events(1, network.read.position.event_seq),
];
