/** Killed shards and merges: resumed, they complete with the same output. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { folkmoot } from '../../../support/cli.js';
import { counts } from '../../../support/counts.js';
import { temporaryFolder } from '../../../support/fixture.js';
import { main } from '../../../support/paths.js';
import { suiteFolder } from '../../../support/runs.js';
import { expectSame, sweepIn } from '../folders.js';
import { smallRaw, writeScenario } from '../scenarios.js';
import { dealt, foldersIn, whole } from './shards.js';

const sweep = { factors: [{ path: 'links.loss', values: [0, 0.1, 0.2] }], replicates: 2 };
const around = suiteFolder();
const file = writeScenario(around, { ...smallRaw(), sweep });
const alone = join(around, 'alone');
const shards = foldersIn(around, 2) as [string, string];

beforeAll(async () => {
  await whole(file, alone);
  await dealt(file, around, 2);
});

const children = new Set<ChildProcess>();
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
});

/** Starts a command and kills it after `changes` changes in a folder, unless it ends earlier. */
async function killed(watched: string, changes: number, args: readonly string[]) {
  mkdirSync(watched, { recursive: true });
  let left = changes;
  const child = spawn(process.execPath, [main, ...args], { stdio: 'ignore' });
  children.add(child);
  const watcher = watch(watched, { recursive: true }, () => {
    left -= 1;
    if (left === 0) child.kill('SIGKILL');
  });
  onTestFinished(() => watcher.close());
  await new Promise((resolve) => child.on('close', resolve));
  watcher.close();
  children.delete(child);
}

const seed = Number(process.env.FOLKMOOT_TEST_SEED ?? randomInt(2 ** 31));
const drawn = (count: number, most: number) =>
  Array.from(
    { length: count },
    (_, index) => 1 + ((Math.imul(seed + index, 0x9e3779b1) >>> 0) % most),
  );

describe(`shards: killed, seed ${seed}`, () => {
  test.each(
    drawn(counts.killedSweeps, 16),
  )('shards: a shard killed after %i changes resumes to the same files', async (at) => {
    const out = join(temporaryFolder(), 'out');
    const args = ['sweep', file, '--shard', '2/2', '--resume', '--jobs', '2', '--out', out];
    await killed(out, at, args);
    const { code, stderr } = await sweepIn(file, out, '--shard', '2/2', '--resume');
    expect(code, stderr).toBe(0);
    expectSame(shards[1], out);
  });

  test.each(
    drawn(counts.killedSweeps, 34),
  )('merge: a merge killed after %i changes resumes to the same files', async (at) => {
    const out = join(temporaryFolder(), 'out');
    const args = ['merge', ...shards, '--out', out, '--resume'];
    await killed(out, at, args);
    const again = await folkmoot(args);
    expect(again.code, again.stderr).toBe(0);
    expectSame(alone, out);
  });
});
