/** History while a different process writes, and after a kill. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { History } from 'folkmoot';
import { temporaryFolder } from '../../support/fixture.js';
import { main } from '../../support/paths.js';
import { logLines } from '../../support/runs.js';

const child = fileURLToPath(new URL('./prepare-child.mjs', import.meta.url));

const opened = (path: string) => {
  try {
    return History.open({ path, spacing: 64, share: 1 });
  } catch {
    // The network does not exist yet.
    return null;
  }
};

test('history: works during a run of another process, and after a kill', async () => {
  const out = join(temporaryFolder(), 'run');
  const path = join(out, 'network');
  const args = ['sim', '--agents', '60', '--blocks', '60', '--seed', '2', '--verifier', 'off'];
  const run = spawn(process.execPath, [main, ...args, '--out', out], { stdio: 'ignore' });
  let ended = false;
  const end = once(run, 'close').then(() => {
    ended = true;
  });
  const seen: { seq: number; digest: string }[] = [];
  let history = opened(path);
  while (!ended) {
    await setTimeout(20);
    history ??= opened(path);
    if (!history) continue;
    const { seq } = history.end;
    const { position } = await history.at(Math.trunc((seq * seen.length * 7) % (seq + 1)));
    seen.push(position);
  }
  await end;
  expect(run.exitCode).toBe(0);
  expect(seen.length).toBeGreaterThan(3);
  await history?.close();
  const lines = await logLines(out);
  for (const { seq, digest } of seen) expect(digest).toBe(lines[seq]!.digest);

  // The process is killed repeatedly after it has written some checkpoints, until it completes.
  const checkpoints = join(temporaryFolder(), 'checkpoints');
  const left = () => (existsSync(checkpoints) ? readdirSync(checkpoints).length : 0);
  for (let kill = 1; kill <= 3; kill += 1) {
    const preparing = spawn(process.execPath, [child, path, checkpoints], { stdio: 'ignore' });
    const closed = once(preparing, 'close');
    while (left() < 4 * kill && preparing.exitCode === null) await setTimeout(5);
    preparing.kill('SIGKILL');
    await closed;
  }
  expect(left()).toBeGreaterThan(3);
  const after = History.open({ path, checkpoints, spacing: 16, share: 1 });
  for (const seq of [lines.length - 1, 70, 0, 333]) {
    expect((await after.at(seq)).position.digest).toBe(lines[seq]!.digest);
  }
  await after.close();
});
