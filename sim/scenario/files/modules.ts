/** The modules of scripts that a scenario names: strategies of groups, and what they change to. */
import type { Scenario } from '../schema/scenario.js';

/** Each once, by its path in the scenario. */
export function scriptModules({ agents, interventions }: Scenario): string[] {
  const strategies = [
    ...agents.map(({ strategy }) => strategy),
    ...interventions.flatMap((one) => (one.kind === 'strategy' ? [one.strategy] : [])),
  ];
  const modules = strategies.flatMap((one) => (one.kind === 'script' ? [one.module] : []));
  return [...new Set(modules)];
}
