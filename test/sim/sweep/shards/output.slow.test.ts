/** Existing output folders: merged into, resumed, extended, or used for another shard. */

import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../support/fixture.js';
import { copyOf } from '../../../support/runs.js';
import { expectSame, filesIn } from '../folders.js';
import { smallRaw, writeScenario } from '../scenarios.js';
import { edit, fresh, runOf } from './changes.js';
import { dealt, foldersIn, merged, sixRuns, whole } from './shards.js';

const { sweep, file, alone, shards } = sixRuns();

async function refusedInto(
  prepare: (out: string) => unknown,
  expected: { code: string; message?: unknown },
  resume = true,
) {
  const out = join(temporaryFolder(), 'out');
  mkdirSync(out);
  await prepare(out);
  const before = filesIn(out);
  await expect(merged(shards, out, { resume })).rejects.toMatchObject(expected);
  before.delete('writer.lock');
  const after = filesIn(out);
  after.delete('writer.lock');
  expect(after).toEqual(before);
}

test('merge: refuses a sweep without --resume', () =>
  refusedInto((out) => fresh(alone, out), { code: 'SWEEP_EXISTS' }, false));

test('merge: refuses the folder of a shard', () =>
  refusedInto((out) => fresh(shards[0], out), {
    code: 'DIFFERENT_SWEEP',
    message: expect.stringContaining('shard is "1/2" there and "none" now'),
  }));

test('merge: refuses the folder of a network', () =>
  refusedInto((out) => writeFileSync(join(out, 'data.mdb'), ''), { code: 'OTHER_NETWORK' }));

test('merge: refuses runs without a sweep', () =>
  refusedInto((out) => mkdirSync(join(out, 'runs')), { code: 'FOREIGN_RUNS' }));

test('merge: refuses a merge with a changed run', () =>
  refusedInto(
    (out) => {
      fresh(alone, out);
      edit(join(out, runOf(shards[0])), (run) => Object.assign(run, { entries: 1 }));
    },
    { code: 'CORRUPT', message: expect.stringMatching(/shard-1.*--resume/) },
  ));

test('merge: accepts the output of the same merge', async () => {
  const out = copyOf(alone, 'out');
  await merged(shards, out, { resume: true });
  expectSame(alone, out);
});

test('merge: into an existing folder: sweep: resumes a shard only as the same shard', async () => {
  const one = { shard: { index: 1, of: 2 }, resume: true };
  const out = join(temporaryFolder(), 'out');
  cpSync(shards[0], out, { recursive: true });
  const before = filesIn(out);
  for (const [options, code] of [
    [{ resume: true }, 'DIFFERENT_SWEEP'],
    [{ ...one, shard: { index: 2, of: 2 } }, 'DIFFERENT_SWEEP'],
    [{ ...one, shard: { index: 1, of: 3 } }, 'DIFFERENT_SWEEP'],
    [{ ...one, resume: false }, 'SWEEP_EXISTS'],
  ] as const) {
    await expect(whole(file, out, options)).rejects.toMatchObject({ code });
  }
  expect(filesIn(out)).toEqual(before);
});

const fileOf = (more: object) =>
  writeScenario(temporaryFolder(), { ...smallRaw(), sweep: { ...sweep, ...more } });

test('shards: keep every run in place if replicates are added', async () => {
  const folder = temporaryFolder();
  const [small, large] = [fileOf({}), fileOf({ replicates: 3 })];
  await dealt(small, folder, 2);
  const kept = foldersIn(folder, 2).map((shard) => readdirSync(join(shard, 'runs')));
  await dealt(large, folder, 2, { resume: true });
  for (const [at, shard] of foldersIn(folder, 2).entries()) {
    expect(readdirSync(join(shard, 'runs'))).toEqual(expect.arrayContaining(kept[at]!));
  }
  const [alone, out] = [join(folder, 'alone'), join(folder, 'out')];
  await whole(large, alone);
  await merged(foldersIn(folder, 2), out);
  expectSame(alone, out);
});

test('shards: refuse values that move runs to other shards', async () => {
  const folder = temporaryFolder();
  const large = fileOf({ factors: [{ path: 'links.loss', values: [0, 0.05, 0.1, 0.2] }] });
  await dealt(file, folder, 2);
  const [first] = foldersIn(folder, 2) as [string, string];
  const before = filesIn(first);
  await expect(dealt(large, folder, 2, { resume: true })).rejects.toMatchObject({
    code: 'FOREIGN_RUN',
    message: expect.stringMatching(/shard 1\/2: .*\.json/),
  });
  expect(filesIn(first)).toEqual(before);
});
