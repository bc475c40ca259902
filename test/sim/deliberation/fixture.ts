/** Runs small deliberations; returns the tables and the measures. */
import { join } from 'node:path';
import {
  completeScenario,
  type Row,
  type SimOptions,
  type SimResult,
  simulate,
} from 'folkmoot/sim';
import { temporaryFolder } from '../../support/fixture.js';
import { csvRows } from '../../support/runs.js';
import type { Raw } from '../fixture.js';

type Cells<T extends 'samples.csv' | 'statements.csv'> = Record<keyof Row<T>, string>;

export interface Deliberated {
  result: SimResult;
  folder: string;
  samples: Cells<'samples.csv'>[];
  statements: Cells<'statements.csv'>[];
}

/** Mock models as a group. */
export const group = (name: string, count: number, strategy: Raw, more: Raw = {}): Raw => ({
  ...{ group: name, count, strategy: { kind: 'mock', ...strategy } },
  ...more,
});

export const scenarioOf = (agents: Raw[], deliberation: Raw, sections: Raw = {}) =>
  completeScenario({
    ...{ title: 'a deliberation', signatures: 'none' },
    agents: agents.map((one, index) => (index === 0 ? { producers: 1, ...one } : one)),
    deliberation,
    consensus: { policy: 'majority', dormant_after: 0 },
    length: { blocks: 4 },
    ...sections,
  });

export async function deliberate(
  agents: Raw[],
  deliberation: Raw,
  sections: Raw = {},
  options: SimOptions = {},
): Promise<Deliberated> {
  const folder = join(temporaryFolder(), 'run');
  const scenario = scenarioOf(agents, deliberation, sections);
  const result = await simulate(scenario, { ...options, out: folder });
  const rows = (name: string) => csvRows(join(folder, name));
  return {
    ...{ result, folder },
    samples: rows('samples.csv') as Deliberated['samples'],
    statements: rows('statements.csv') as Deliberated['statements'],
  };
}
