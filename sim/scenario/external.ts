/** Whoever decides outside of the process, in a scenario: groups, and what interventions bring. */
import type { Scenario } from './schema/scenario.js';
import { type External, isExternal, type Strategy } from './schema/strategies.js';

/** A strategy of a scenario, wherever it stands. */
export interface Placed<S> {
  /** The group, or the intervention, that has it. */
  group: string;
  /** Where it stands. */
  path: string[];
  strategy: S;
}

type Told = Pick<Scenario, 'agents' | 'interventions'>;

/** In the order of the scenario. */
export function strategiesIn({ agents, interventions }: Told): Placed<Strategy>[] {
  const own = agents.map(({ group, strategy }, index) => {
    return { group, path: ['agents', String(index), 'strategy'], strategy };
  });
  const brought = interventions.flatMap((one, index) => {
    if (one.kind !== 'strategy') return [];
    const path = ['interventions', String(index), 'strategy'];
    return [{ group: `of intervention ${index}`, path, strategy: one.strategy }];
  });
  return [...own, ...brought];
}

export const externalsIn = (scenario: Told): Placed<External>[] =>
  strategiesIn(scenario).flatMap(({ strategy, ...place }) =>
    isExternal(strategy) ? [{ ...place, strategy }] : [],
  );
