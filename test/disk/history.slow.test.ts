/** History continues on a nearly full or failing disk. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { History } from 'folkmoot';
import { simJson } from '../support/command.js';
import { temporaryFolder } from '../support/fixture.js';
import { type Line, logLines } from '../support/runs.js';
import { faulty, why } from './faulty.js';

const child = fileURLToPath(new URL('../engine/history/prepare-child.mjs', import.meta.url));
const run = promisify(execFile);

async function kept(): Promise<{ path: string; lines: Line[] }> {
  const out = join(temporaryFolder(), 'run');
  await simJson('--agents', '40', '--blocks', '12', '--seed', '3', '--out', out);
  return { path: join(out, 'network'), lines: await logLines(out) };
}

/** Compares a random half of all entries, and the first and last entry, with the log. */
async function expectTold(history: History, lines: readonly Line[]): Promise<void> {
  for (const seq of [lines.length - 1, 0, 7, Math.trunc(lines.length / 2), 100]) {
    expect((await history.at(seq)).position.digest).toBe(lines[seq]!.digest);
  }
}

test('history: writes nothing on a nearly full disk, and still reads', async (context) => {
  const { path, lines } = await kept();
  const disk = temporaryFolder();
  const mount = ['-t', 'tmpfs', '-o', 'size=64m', 'folkmoot-test', disk];
  if (spawnSync('mount', mount).status !== 0) {
    return context.skip('this process may not mount a file system');
  }
  onTestFinished(() => void spawnSync('umount', ['-l', disk]));
  const checkpoints = join(disk, 'history');
  const history = History.open({ path, checkpoints, spacing: 16, share: 1 });
  await expectTold(history, lines);
  const { count, bytes, problem } = history.checkpoints;
  expect([count, bytes]).toEqual([0, 0]);
  expect(problem).toMatch(/history: less than 268435456 bytes/);
  await history.close();
  expect(readdirSync(checkpoints)).toEqual([]);
});

test.skipIf(why)('history: continues if a write of a checkpoint fails', async () => {
  const { path, lines } = await kept();
  const folder = temporaryFolder();
  for (const [name, rules] of [
    ['write', 'pwrite:3+:28'],
    ['half', 'pwrite:2:0,pwrite:4+:28'],
    ['sync', 'fsync:2+:5'],
    ['rename', 'rename:2+:28'],
  ]) {
    const checkpoints = join(folder, name!);
    mkdirSync(checkpoints);
    writeFileSync(join(checkpoints, 'another file'), 'stays');
    const env = { ...process.env, ...faulty({ folder: checkpoints, rules: rules! }) };
    const { stdout, stderr } = await run(process.execPath, [child, path, checkpoints], { env });
    expect([name, stdout, stderr]).toEqual([name, expect.stringMatching(/cannot write files/), '']);
    const left = readdirSync(checkpoints);
    expect([name, left.filter((file) => file.endsWith('.tmp'))]).toEqual([name, []]);
    expect([name, left.length]).toEqual([name, expect.toSatisfy((count) => count < 6)]);
    // Checkpoints written earlier are valid, and the next read continues from them.
    const history = History.open({ path, checkpoints, spacing: 16, share: 1 });
    await expectTold(history, lines);
    expect(history.checkpoints.problem).toBe(null);
    expect(history.checkpoints.count).toBeGreaterThan(left.length - 1);
    await history.close();
  }
});
