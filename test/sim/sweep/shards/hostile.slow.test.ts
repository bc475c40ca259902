/** Shards of different sweeps, and modified shards: a merge refuses them without output. */
import { appendFileSync, cpSync, existsSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../support/fixture.js';
import { type Change, edit, fresh, reseal, runOf } from './changes.js';
import { foldersIn, made, merged, sixRuns } from './shards.js';

const { alone, shards } = sixRuns();

/** Merges changed copies of the shards, which must fail without output. */
async function refused(
  change: (first: string, second: string) => unknown,
  expected: { name: string; code?: string; message?: RegExp; problem?: string },
  more: readonly string[] = [],
) {
  const folder = temporaryFolder();
  const copies = foldersIn(folder, 2) as [string, string];
  for (const [at, copy] of copies.entries()) cpSync(shards[at]!, copy, { recursive: true });
  await change(...copies);
  const out = join(folder, 'out');
  const found: Error & { code?: string; problem?: string } = await merged(
    [...copies, ...more],
    out,
    {
      made,
    },
  ).then(
    () => expect.unreachable('it was merged'),
    (error) => error,
  );
  const { message, ...keys } = expected;
  expect(found).toMatchObject(keys);
  if (message) expect(found.message).toMatch(message);
  expect(found.message).not.toContain('\n');
  expect(existsSync(out)).toBe(false);
}

type Member = Parameters<Change>[0];

/** Sets members of a file, or of one of its members. */
const set = (path: string, more: object, within?: keyof Member) =>
  edit(path, (value) => Object.assign(within ? value[within] : value, more));

const head = (more: object, within?: keyof Member) => (_: string, second: string) =>
  set(join(second, 'sweep.json'), more, within);

const resealed = (more: object, within?: keyof Member) => (_: string, second: string) => {
  set(join(second, runOf(second)), more, within);
  reseal(second);
};

const usage = (code: string, message?: RegExp) =>
  ({ name: 'SweepError', code, ...(message ? { message } : {}) }) as const;

test.each<[string, Parameters<typeof refused>[0], string, RegExp?]>([
  [
    'a different seed',
    head({ seed: 'other' }, 'scenario'),
    'SHARDS_DIFFER',
    /shard-1 .*shard-2: scenario\.seed is "1" .*"other"/,
  ],
  ['a different commit', head({ commit: 'f00' }), 'SHARDS_DIFFER', /commit is .*"f00"/],
  ['a different version of Node', head({ node: 'v1' }), 'SHARDS_DIFFER', /node is .*"v1"/],
  ['scripts', head({ 'a.mjs': '0' }, 'modules'), 'SHARDS_DIFFER', /modules\.a\.mjs .*"0"/],
  ['a different number of shards', head({ of: 3 }, 'shard'), 'SHARDS_DIFFER', /shard\.of is 2 .*3/],
  ['a sweep without shards', (_, second) => fresh(alone, second), 'NO_SHARD', /shard-2/],
  ['an older format', head({ format: 1 }), 'DIFFERENT_FORMAT', /shard-2/],
  ['an empty folder', (_, second) => rmSync(join(second, 'sweep.json')), 'NO_SWEEP', /shard-2/],
  ['a repeat', (first, second) => fresh(first, second), 'DUPLICATE_SHARD', /1\/2: .*shard-1 and/],
  [
    'a run of another shard',
    (first, second) => {
      cpSync(join(first, runOf(first)), join(second, runOf(first)));
      reseal(second);
    },
    'MISPLACED_RUN',
    /runs.[0-9a-f]{16}-\d\.json .*shard 1\/2.*shard 2\/2/,
  ],
  [
    'a run without a cell',
    (_, second) => {
      cpSync(join(second, runOf(second)), join(second, `runs/${'0'.repeat(16)}-1.json`));
      reseal(second);
    },
    'MISPLACED_RUN',
    /0{16}-1\.json/,
  ],
])('merge: %s', (_, change, code, message) => refused(change, usage(code, message)));

test('merge: refuses to merge with another build', async () => {
  const other = { ...made, version: '9.9.9' };
  const out = join(temporaryFolder(), 'out');
  await expect(merged(shards, out, { made: other })).rejects.toMatchObject({
    code: 'DIFFERENT_BUILD',
    message: expect.stringMatching(/shard-1: version .*9\.9\.9/),
  });
  await expect(merged([], out)).rejects.toMatchObject({ code: 'NOTHING_TO_MERGE' });
});

const damaged = (problem: string, message: RegExp) =>
  ({ name: 'StoreError', problem, message }) as const;

test.each<[string, Parameters<typeof refused>[0], problem: string, detail?: RegExp]>([
  [
    'a changed run',
    (_, second) => edit(join(second, runOf(second)), (run) => Object.assign(run, { entries: 1 })),
    'SHARD_FILE_CHANGED',
  ],
  [
    'a truncated run',
    (_, second) => truncateSync(join(second, runOf(second)), 100),
    'SHARD_FILE_CHANGED',
  ],
  [
    'an added run',
    (_, second) =>
      cpSync(join(second, runOf(second)), join(second, `runs/${'0'.repeat(16)}-1.json`)),
    'SHARD_FILE_EXTRA',
  ],
  [
    'an invalid seal',
    (_, second) => appendFileSync(join(second, 'runs.sha256'), 'x\n'),
    'SEAL_INVALID',
    /line 4 /,
  ],
  [
    'a seal with a path outside the folder',
    (_, second) => writeFileSync(join(second, 'runs.sha256'), `${'0'.repeat(64)}  ../../x.json\n`),
    'SEAL_INVALID',
    /line 1 /,
  ],
  [
    'a resealed run with a different seed',
    resealed({ seed: 'x' }),
    'RUN_FILE_INVALID',
    /seed is "x"; expected "1\/\d"/,
  ],
  [
    'a resealed run with different values',
    resealed({ 'links.loss': 9 }, 'values'),
    'RUN_FILE_INVALID',
    /values\.links\.loss is 9; expected 0/,
  ],
  [
    'a resealed run with a measure that is not a number',
    resealed({ measures: { votes: 'many' } }),
    'RUN_FILE_INVALID',
  ],
  ['a resealed violation without a rule', resealed({ verdict: 'safety' }), 'RUN_FILE_INVALID'],
  [
    'a resealed run that is not JSON',
    (_, second) => {
      writeFileSync(join(second, runOf(second)), '{');
      reseal(second);
    },
    'SWEEP_FILE_UNREADABLE',
  ],
])('merge: %s', (_, change, problem, detail = /./) => refused(change, damaged(problem, detail)));

test.each<[string, Parameters<typeof refused>[0], RegExp]>([
  ['invalid keys', head({ keys: ['x'] }, 'shard'), /shard\.keys/],
  ['an invalid shard', head({ index: 3 }, 'shard'), /shard is 3\/2/],
  ['a wrong number of cells', head({ cells: 4 }), /cells is 4.*3/],
  ['an invalid scenario', head({ links: 'fast' }, 'scenario'), /sweep\.json: scenario\.links/],
])('merge: refuses a head with %s', (_, change, message) =>
  refused(change, damaged('SWEEP_FILE_INVALID', message)));
