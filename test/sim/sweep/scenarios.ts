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

/** Writes a script for all agents of a scenario; `body` is the body of its vote function. */
export function scripted(folder: string, body: string, name = 'script.mjs', head = ''): Scenario {
  writeFileSync(join(folder, name), `${head}\nexport function vote(view, chance) { ${body} }\n`);
  const strategy = { kind: 'script', module: name };
  const raw = smallRaw();
  return completeScenario({ ...raw, agents: [{ ...raw.agents[0], strategy }] }, folder);
}

/** Writes a scenario as JSON, a subset of YAML. */
export function writeScenario(folder: string, raw: object, name = 'town.yaml'): string {
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify(raw, null, 2));
  return file;
}

/** A script that decides differently in every second process, which no guard can detect. */
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
