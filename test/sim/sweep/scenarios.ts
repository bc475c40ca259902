/** Small scenarios for sweeps and jobs: each run takes some tens of milliseconds. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { completeScenario, type Scenario } from 'folkmoot/sim';

export const smallRaw = (agents = 6) => ({
  title: 'a small town',
  agents: [{ group: 'town', count: agents, producers: 2, strategy: { kind: 'honest' } }],
  consensus: { voting_period_ms: 5_000 },
  length: { blocks: 2 },
});

export const small = (agents?: number): Scenario => completeScenario(smallRaw(agents));

/** A script for all agents of a scenario; `body` is what its vote does. */
export function scripted(folder: string, body: string, name = 'script.mjs', head = ''): Scenario {
  writeFileSync(join(folder, name), `${head}\nexport function vote(view, chance) { ${body} }\n`);
  const strategy = { kind: 'script', module: name };
  const raw = smallRaw();
  return completeScenario({ ...raw, agents: [{ ...raw.agents[0], strategy }] }, folder);
}

/** A file of a scenario, as JSON, which YAML is a superset of. */
export function writeScenario(folder: string, raw: object, name = 'town.yaml'): string {
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify(raw, null, 2));
  return file;
}

/** A script that decides otherwise in every other process: a guard cannot know all it may read. */
export function alternating(folder: string, name: string): void {
  const count = JSON.stringify(join(folder, 'processes.txt'));
  const text = `import { appendFileSync, statSync } from 'node:fs';
let approves;
function drawn() {
  appendFileSync(${count}, '.');
  return statSync(${count}).size % 2 === 1;
}
export const vote = () => ({ do: 'vote', decision: (approves ??= drawn()) ? 'approve' : 'reject' });
`;
  writeFileSync(join(folder, name), text);
}
