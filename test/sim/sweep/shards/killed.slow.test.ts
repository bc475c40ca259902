/** Killed shards and merges: resumed, they complete with the same output. */
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { folkmoot } from '../../../support/cli.js';
import { counts } from '../../../support/counts.js';
import { temporaryFolder } from '../../../support/fixture.js';
import { suiteFolder } from '../../../support/runs.js';
import { seed } from '../../../support/seeded.js';
import { drawn, expectSame, killed, sweepIn } from '../folders.js';
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
