/** Shards of different sweeps, or not as they were left: a merge writes nothing of them. */
import { appendFileSync, cpSync, existsSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../../support/fixture.js';
import { suiteFolder } from '../../../support/runs.js';
import { smallRaw, writeScenario } from '../scenarios.js';
import { type Change, edit, fresh, reseal, runOf } from './changes.js';
import { dealt, foldersIn, made, merged, whole } from './shards.js';

const sweep = { factors: [{ path: 'links.loss', values: [0, 0.1, 0.2] }], replicates: 2 };
const around = suiteFolder();
const file = writeScenario(around, { ...smallRaw(), sweep });
const alone = join(around, 'alone');
const shards = foldersIn(around, 2) as [string, string];

beforeAll(async () => {
  await whole(file, alone);
  await dealt(file, around, 2);
});

/** Copies of the shards in which something is done; their merge is refused, and writes nothing. */
async function refused(
  change: (first: string, second: string) => unknown,
  expected: { name: 'SweepError' | 'StoreError'; message: RegExp; problem?: string },
  more: readonly string[] = [],
) {
  const folder = temporaryFolder();
  const copies = foldersIn(folder, 2) as [string, string];
  for (const [at, copy] of copies.entries()) cpSync(shards[at]!, copy, { recursive: true });
  await change(...copies);
  const out = join(folder, 'out');
  const found: Error & { problem?: string } = await merged([...copies, ...more], out, {
    made,
  }).then(
    () => expect.unreachable('it was merged'),
    (error) => error,
  );
  expect([found.name, found.message]).toEqual([
    expected.name,
    expect.stringMatching(expected.message),
  ]);
  if (expected.problem) expect(found.problem).toBe(expected.problem);
  expect(found.message).not.toContain('\n');
  expect(existsSync(out)).toBe(false);
}

const head = (change: Change) => (_: string, second: string) =>
  edit(join(second, 'sweep.json'), change);

const editedRun = (change: Change) => (_: string, second: string) => {
  edit(join(second, runOf(second)), change);
  reseal(second);
};

describe('merge: shards that do not belong together', () => {
  const usage = (message: RegExp) => ({ name: 'SweepError', message }) as const;

  test.each<[string, Parameters<typeof refused>[0], RegExp]>([
    [
      'another sweep',
      head(({ scenario }) => Object.assign(scenario, { seed: 'other' })),
      /shard-2 holds another sweep than .*shard-1: scenario\.seed is "1" there and "other" here/,
    ],
    [
      'another commit',
      head((one) => Object.assign(one, { commit: 'f00' })),
      /commit is .* "f00" here/,
    ],
    ['another Node', head((one) => Object.assign(one, { node: 'v1' })), /node is .* "v1" here/],
    [
      'another script',
      head(({ modules }) => Object.assign(modules, { 'a.mjs': '0' })),
      /modules\.a\.mjs is nothing there and "0" here/,
    ],
    [
      'dealt to others',
      head(({ shard }) => Object.assign(shard, { of: 3 })),
      /shard\.of is 2 there and 3/,
    ],
    [
      'no shard',
      (_, second) => fresh(alone, second),
      /holds a sweep that is no shard; expected folders of/,
    ],
    ['a format of before', head((one) => Object.assign(one, { format: 1 })), /is of another build/],
    [
      'nothing',
      (_, second) => rmSync(join(second, 'sweep.json')),
      /shard-2 holds no sweep; expected/,
    ],
    [
      'the same again',
      (first, second) => fresh(first, second),
      /shard 1\/2 is there twice: .*shard-1 and/,
    ],
    [
      'a run of the other',
      (first, second) => {
        cpSync(join(first, runOf(first)), join(second, runOf(first)));
        reseal(second);
      },
      /runs.[0-9a-f]{16}-\d\.json is of shard 1\/2, and lies in shard 2\/2/,
    ],
    [
      'a run of nothing',
      (_, second) => {
        cpSync(join(second, runOf(second)), join(second, `runs/${'0'.repeat(16)}-1.json`));
        reseal(second);
      },
      /0{16}-1\.json is of no cell of the sweep/,
    ],
  ])('merge: %s', (_, change, message) => refused(change, usage(message)));

  test('merge: by another build than ran them', async () => {
    const other = { ...made, version: '9.9.9' };
    const out = join(temporaryFolder(), 'out');
    await expect(merged(shards, out, { made: other })).rejects.toThrow(
      /shard-1 is of another build: version is ".*" there and "9\.9\.9" here/,
    );
    await expect(merged([], out)).rejects.toThrow(/nothing to merge/);
  });
});

describe('merge: shards that are not as they were left', () => {
  const damaged = (problem: string, message: RegExp) =>
    ({ name: 'StoreError', problem, message }) as const;

  test.each<[string, Parameters<typeof refused>[0], problem: string, detail?: RegExp]>([
    [
      'a run that was changed',
      (_, second) => edit(join(second, runOf(second)), (run) => Object.assign(run, { entries: 1 })),
      'SHARD_FILE_CHANGED',
    ],
    [
      'a run that was cut short',
      (_, second) => truncateSync(join(second, runOf(second)), 100),
      'SHARD_FILE_CHANGED',
    ],
    [
      'a run that came later',
      (_, second) =>
        cpSync(join(second, runOf(second)), join(second, `runs/${'0'.repeat(16)}-1.json`)),
      'SHARD_FILE_EXTRA',
    ],
    [
      'a seal that is none',
      (_, second) => appendFileSync(join(second, 'runs.sha256'), 'x\n'),
      'SEAL_INVALID',
      /line 4 /,
    ],
    [
      'a seal that leads elsewhere',
      (_, second) =>
        writeFileSync(join(second, 'runs.sha256'), `${'0'.repeat(64)}  ../../x.json\n`),
      'SEAL_INVALID',
      /line 1 /,
    ],
    [
      'a changed and sealed run, of another seed',
      editedRun((run) => Object.assign(run, { seed: 'x' })),
      'SWEEP_FILE_INVALID',
      /seed is "x"; expected "1\/\d"/,
    ],
    [
      'of other values',
      editedRun(({ values }) => Object.assign(values, { 'links.loss': 9 })),
      'SWEEP_FILE_INVALID',
      /values\.links\.loss is 9; expected 0/,
    ],
    [
      'without measures that are numbers',
      editedRun((run) => Object.assign(run, { measures: { votes: 'many' } })),
      'SWEEP_FILE_INVALID',
    ],
    [
      'that broke no rule it names',
      editedRun((run) => Object.assign(run, { verdict: 'safety' })),
      'SWEEP_FILE_INVALID',
    ],
    [
      'that is no JSON',
      (_, second) => {
        writeFileSync(join(second, runOf(second)), '{');
        reseal(second);
      },
      'SWEEP_FILE_UNREADABLE',
    ],
  ])('merge: %s', (_, change, problem, detail = /./) => refused(change, damaged(problem, detail)));

  test.each<[string, Change, RegExp]>([
    [
      'keys that are none',
      ({ shard }) => Object.assign(shard, { keys: ['x'] }),
      /shard\.keys are not/,
    ],
    ['a part of nothing', ({ shard }) => Object.assign(shard, { index: 3 }), /shard is 3\/2/],
    ['other cells', (one) => Object.assign(one, { cells: 4 }), /cells is 4; its design has 3/],
    [
      'a scenario that cannot be',
      ({ scenario }) => Object.assign(scenario, { links: 'fast' }),
      /sweep\.json: scenario\.links/,
    ],
  ])('merge: a head with %s', (_, change, message) =>
    refused(head(change), damaged('SWEEP_FILE_INVALID', message)));
});
