/** The simulator's cases: scripted agents in virtual time, without signatures, and starting up. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { simulate, usualScenario } from '../sim/index.js';

const run = promisify(execFile);
const cli = fileURLToPath(new URL('../cli/main.js', import.meta.url));

/** Nine of ten agents vote, with complete social life on a small world. */
function town(agents: number, blocks: number) {
  const validators = Math.floor((agents * 9) / 10);
  return usualScenario(agents, {
    agents: [
      { group: 'validators', count: validators, producers: Math.ceil(agents / 50) },
      { group: 'others', count: agents - validators, capabilities: ['producer'] },
    ],
    signatures: 'none',
    length: { blocks },
  });
}

/** Votes a second of a whole run: agents, engine, digests, measures, auditor; state in memory. */
export async function simulatedRate(agents: number, blocks: number): Promise<number> {
  const started = performance.now();
  const { measures } = await simulate(town(agents, blocks), { store: 'memory' });
  return ((measures.votes ?? 0) * 1000) / (performance.now() - started);
}

const timed = async (args: readonly string[]): Promise<number> => {
  const started = performance.now();
  await run(process.execPath, args);
  return performance.now() - started;
};

/** How many times as long as an empty process a process takes that runs 100 agents for a block. */
export async function startUp(): Promise<number> {
  const nothing = await timed(['-e', '0']);
  return (await timed([cli, 'sim', '--agents', '100', '--blocks', '1', '--json'])) / nothing;
}

/** Peak memory, bytes, of a process that runs so many agents. */
export async function simulatedMemory(agents: number): Promise<number> {
  const flags = ['--agents', String(agents), '--blocks', '1', '--unsigned', '--store', 'memory'];
  const { stdout } = await run(process.execPath, [cli, 'sim', ...flags, '--json']);
  return (JSON.parse(stdout) as { peak_rss_bytes: number }).peak_rss_bytes;
}
