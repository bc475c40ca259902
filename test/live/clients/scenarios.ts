/** Scenarios for live networks: small and fast. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { completeScenario, type Scenario } from 'folkmoot/sim';

/** Returns a scenario as written in a file. */
function hurried(sections: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    title: 'A town in a hurry',
    agents: [{ group: 'town', count: 40, producers: 3, traits: { think_ms: 300 } }],
    producers: { schedule: 'round_robin', block_interval_ms: 700 },
    links: { latency: { mean_ms: 60, spread_ms: 30 } },
    social: { breaks: { rate: 0 } },
    length: { blocks: 40 },
    ...sections,
  };
}

export const hurriedScenario = (sections: Record<string, unknown> = {}): Scenario =>
  completeScenario(hurried(sections));

/** Writes a scenario file for the command line. */
export function scenarioFile(folder: string, sections: Record<string, unknown> = {}): string {
  const file = join(folder, 'town.json');
  writeFileSync(file, JSON.stringify(hurried(sections)));
  return file;
}
