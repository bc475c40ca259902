/** Live memory does not grow in the second half of a long log's replay. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { folkmoot } from '../../support/cli.js';
import { counts } from '../../support/counts.js';
import { suiteFolder } from '../../support/runs.js';

const { agents, blocks } = counts.longLog;
const child = fileURLToPath(new URL('./heap-child.mjs', import.meta.url));
const folder = join(suiteFolder(), 'long');
/** Tolerance, because the number of records in memory before they are moved to disk varies. */
const FACTOR = 1.25;

beforeAll(async () => {
  const size = ['--agents', `${agents}`, '--blocks', `${blocks}`, '--seed', '3'];
  const quick = ['--verifier', 'off', '--no-audit', '--out', folder];
  const ended = await folkmoot(['sim', ...size, ...quick]);
  expect(ended.code, ended.stderr).toBe(0);
});

interface Replayed {
  match: boolean;
  entries: number;
  kept: number;
  alive: { seq: number; mib: number }[];
}

async function replayed(...more: string[]): Promise<Replayed> {
  const room = ['--expose-gc', '--max-old-space-size=8192'];
  const args = [...room, child, join(folder, 'network'), ...more];
  return JSON.parse((await promisify(execFile)(process.execPath, args)).stdout) as Replayed;
}

/** Returns the maximum live memory in each half, in MiB. */
function halves({ alive, entries }: Replayed): { first: number; second: number } {
  const most = (wanted: (seq: number) => boolean) =>
    Math.max(...alive.filter(({ seq }) => wanted(seq)).map(({ mib }) => mib));
  return { first: most((seq) => seq < entries / 2), second: most((seq) => seq >= entries / 2) };
}

test('replay: live memory does not grow with the log', async () => {
  const found = await replayed();
  const { first, second } = halves(found);
  const shown = `${first.toFixed(1)} MiB in the first half, ${second.toFixed(1)} in the second`;
  process.stdout.write(`replay: alive of ${found.entries} entries: ${shown}\n`);
  expect(found.match).toBe(true);
  expect(found.alive.length).toBeGreaterThan(20);
  expect(second).toBeLessThan(FACTOR * first);
});

test('replay: this test detects a replay that keeps the results of each entry', async () => {
  const found = await replayed('keep');
  const { first, second } = halves(found);
  expect(found.kept).toBe(found.entries);
  expect(second).toBeGreaterThan(FACTOR * first);
});
