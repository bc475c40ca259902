/** Scenarios for live networks: small towns that are in a hurry. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { completeScenario, type Scenario } from 'folkmoot/sim';

/** As a file would hold it. */
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

/** Writes it where the command line finds it. */
export function scenarioFile(folder: string, sections: Record<string, unknown> = {}): string {
  const file = join(folder, 'town.json');
  writeFileSync(file, JSON.stringify(hurried(sections)));
  return file;
}
