/** The scenario of `folkmoot sim` without a file: a mixed town, as large as asked. */
import { completeScenario } from './read/complete.js';
import type { Scenario } from './schema/scenario.js';

/** Every 50th agent is a producer too. */
const AGENTS_PER_PRODUCER = 50;

export const defaultSize = { agents: 1_000, blocks: 100 } as const;

/** As a file would hold it. */
export function defaultRaw(agents: number): Record<string, unknown> {
  const producers = Math.max(1, Math.floor(agents / AGENTS_PER_PRODUCER));
  return {
    title: 'A town',
    question: 'Does a town of all nine personalities decide, and how fast?',
    agents: [{ group: 'town', count: agents, producers }],
    length: { blocks: defaultSize.blocks },
  };
}

/** The default scenario with some of its sections replaced. */
export function defaultScenario(agents: number, sections: Record<string, unknown> = {}): Scenario {
  return completeScenario({ ...defaultRaw(agents), ...sections });
}
