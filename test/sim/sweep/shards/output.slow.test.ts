/** Folders that are there: merged into, or gone on with, with more or as another shard. */
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../../support/fixture.js';
import { suiteFolder } from '../../../support/runs.js';
import { expectSame, filesIn } from '../folders.js';
import { smallRaw, writeScenario } from '../scenarios.js';
import { edit, fresh, runOf } from './changes.js';
import { dealt, foldersIn, merged, whole } from './shards.js';

const sweep = { factors: [{ path: 'links.loss', values: [0, 0.1, 0.2] }], replicates: 2 };
const around = suiteFolder();
const file = writeScenario(around, { ...smallRaw(), sweep });
const alone = join(around, 'alone');
const shards = foldersIn(around, 2) as [string, string];

beforeAll(async () => {
  await whole(file, alone);
  await dealt(file, around, 2);
});

describe('merge: into a folder that is there', () => {
  async function refusedInto(prepare: (out: string) => unknown, message: RegExp, resume = true) {
    const out = join(temporaryFolder(), 'out');
    mkdirSync(out);
    await prepare(out);
    const before = filesIn(out);
    await expect(merged(shards, out, { resume })).rejects.toThrow(message);
    before.delete('writer.lock');
    const after = filesIn(out);
    after.delete('writer.lock');
    expect(after).toEqual(before);
  }

  test('merge: a sweep, without --resume', () =>
    refusedInto((out) => fresh(alone, out), /holds a sweep already; .*--resume/, false));

  test('merge: one of the shards', () =>
    refusedInto(
      (out) => fresh(shards[0], out),
      /another sweep: shard is "1\/2" there and "none" now/,
    ));

  test('merge: a network', () =>
    refusedInto((out) => writeFileSync(join(out, 'data.mdb'), ''), /data of a network/));

  test('merge: runs of something else', () =>
    refusedInto((out) => mkdirSync(join(out, 'runs')), /holds runs of something else/));

  test('merge: a merge whose run was changed', () =>
    refusedInto((out) => {
      fresh(alone, out);
      edit(join(out, runOf(shards[0])), (run) => Object.assign(run, { entries: 1 }));
    }, /\.json .*shard-1.*--resume/));

  test('merge: the same merge, finished', async () => {
    const out = join(temporaryFolder(), 'out');
    cpSync(alone, out, { recursive: true });
    await merged(shards, out, { resume: true });
    expectSame(alone, out);
  });

  test('sweep: a shard is gone on with as that shard only', async () => {
    const one = { shard: { index: 1, of: 2 }, resume: true };
    const out = join(temporaryFolder(), 'out');
    cpSync(shards[0], out, { recursive: true });
    const before = filesIn(out);
    for (const [options, message] of [
      [{ resume: true }, /shard is "1\/2" there and "none" now/],
      [{ ...one, shard: { index: 2, of: 2 } }, /shard is "1\/2" there and "2\/2" now/],
      [{ ...one, shard: { index: 1, of: 3 } }, /shard is "1\/2" there and "1\/3" now/],
      [{ ...one, resume: false }, /holds a sweep already/],
    ] as const) {
      await expect(whole(file, out, options)).rejects.toThrow(message);
    }
    expect(filesIn(out)).toEqual(before);
  });
});

describe('shards: that get more of something', () => {
  const fileOf = (more: object) =>
    writeScenario(temporaryFolder(), { ...smallRaw(), sweep: { ...sweep, ...more } });

  test('shards: replicates, which leave every run where it is', async () => {
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

  test('shards: values between the old ones, after which runs are dealt to others', async () => {
    const folder = temporaryFolder();
    const values = [0, 0.05, 0.1, 0.2];
    const large = fileOf({ factors: [{ path: 'links.loss', values }] });
    await dealt(file, folder, 2);
    const [first] = foldersIn(folder, 2) as [string, string];
    const before = filesIn(first);
    await expect(dealt(large, folder, 2, { resume: true })).rejects.toThrow(
      /holds the run .*\.json, which is none of shard 1\/2 as it is dealt now; nothing was changed/,
    );
    expect(filesIn(first)).toEqual(before);
  });
});
