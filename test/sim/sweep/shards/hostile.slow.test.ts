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
  expected: { name: string; code?: string; message: RegExp; problem?: string },
) {
  const folder = temporaryFolder();
  const copies = foldersIn(folder, 2) as [string, string];
  for (const [at, copy] of copies.entries()) cpSync(shards[at]!, copy, { recursive: true });
  await change(...copies);
  const out = join(folder, 'out');
  const found: Error & { code?: string; problem?: string } = await merged(copies, out, {
    made,
  }).then(
    () => expect.unreachable('it was merged'),
    (error) => error,
  );
  const { message, ...keys } = expected;
  expect(found).toMatchObject(keys);
  expect(found.message).toMatch(message);
  expect(found.message).not.toContain('\n');
  expect(existsSync(out)).toBe(false);
}

type Member = Parameters<Change>[0];

/** Sets members of a file, or of one of its members. */
const set = (path: string, more: object, within?: keyof Member) =>
  edit(path, (value) => Object.assign(within ? value[within] : value, more));

const head = (more: object, within?: keyof Member) => (_: string, second: string) =>
  set(join(second, 'sweep.json'), more, within);

const usage = (code: string, message: RegExp) => ({ name: 'SweepError', code, message }) as const;

type Act = Parameters<typeof refused>[0];
type Row = [what: string, code: string, message: RegExp, change: Act];
const row = (...of: Row): Row => of;
/** Changes a run and its checksum. */
const resealed = (what: string, message: RegExp, more: object, within?: keyof Member) =>
  row(what, 'RUN_FILE_INVALID', message, (_, second) => {
    set(join(second, runOf(second)), more, within);
    reseal(second);
  });

const differ = /shard-1 .*shard-2: scenario\.seed is "1" .*"other"/;
test.each([
  row('a different seed', 'SHARDS_DIFFER', differ, head({ seed: 'other' }, 'scenario')),
  row('a different commit', 'SHARDS_DIFFER', /commit is .*"f00"/, head({ commit: 'f00' })),
  row('a different version of Node', 'SHARDS_DIFFER', /node is .*"v1"/, head({ node: 'v1' })),
  row('scripts', 'SHARDS_DIFFER', /modules\.a\.mjs .*"0"/, head({ 'a.mjs': '0' }, 'modules')),
  row(
    'a different number of shards',
    'SHARDS_DIFFER',
    /shard\.of is 2 .*3/,
    head({ of: 3 }, 'shard'),
  ),
  row('a sweep without shards', 'NO_SHARD', /shard-2/, (_, second) => fresh(alone, second)),
  row('an older format', 'DIFFERENT_FORMAT', /shard-2/, head({ format: 1 })),
  row('an empty folder', 'NO_SWEEP', /shard-2/, (_, second) => rmSync(join(second, 'sweep.json'))),
  row('a repeat', 'DUPLICATE_SHARD', /1\/2: .*shard-1 and/, (first, second) =>
    fresh(first, second),
  ),
  row(
    'a run of another shard',
    'MISPLACED_RUN',
    /runs.[0-9a-f]{16}-\d\.json .*shard 1\/2.*shard 2\/2/,
    (first, second) => {
      cpSync(join(first, runOf(first)), join(second, runOf(first)));
      reseal(second);
    },
  ),
  row('a run without a cell', 'MISPLACED_RUN', /0{16}-1\.json/, (_, second) => {
    cpSync(join(second, runOf(second)), join(second, `runs/${'0'.repeat(16)}-1.json`));
    reseal(second);
  }),
])('merge: %s', (_, code, message, change) => refused(change, usage(code, message)));

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

test.each([
  row('a changed run', 'SHARD_FILE_CHANGED', /./, (_, second) =>
    edit(join(second, runOf(second)), (run) => Object.assign(run, { entries: 1 })),
  ),
  row('a truncated run', 'SHARD_FILE_CHANGED', /./, (_, second) =>
    truncateSync(join(second, runOf(second)), 100),
  ),
  row('an added run', 'SHARD_FILE_EXTRA', /./, (_, second) =>
    cpSync(join(second, runOf(second)), join(second, `runs/${'0'.repeat(16)}-1.json`)),
  ),
  row('an invalid seal', 'SEAL_INVALID', /line 4 /, (_, second) =>
    appendFileSync(join(second, 'runs.sha256'), 'x\n'),
  ),
  row('a seal with a path outside the folder', 'SEAL_INVALID', /line 1 /, (_, second) =>
    writeFileSync(join(second, 'runs.sha256'), `${'0'.repeat(64)}  ../../x.json\n`),
  ),
  resealed('a resealed run with a different seed', /seed is "x"; expected "1\/\d"/, { seed: 'x' }),
  resealed(
    'a resealed run with different values',
    /values\.links\.loss is 9; expected 0/,
    { 'links.loss': 9 },
    'values',
  ),
  resealed('a resealed run with a measure that is not a number', /./, {
    measures: { votes: 'many' },
  }),
  resealed('a resealed violation without a rule', /./, { verdict: 'safety' }),
  row('a resealed run that is not JSON', 'SWEEP_FILE_UNREADABLE', /./, (_, second) => {
    writeFileSync(join(second, runOf(second)), '{');
    reseal(second);
  }),
])('merge: %s', (_, problem, detail, change) => refused(change, damaged(problem, detail)));

test.each<[string, Act, RegExp]>([
  ['invalid keys', head({ keys: ['x'] }, 'shard'), /shard\.keys/],
  ['an invalid shard', head({ index: 3 }, 'shard'), /shard is 3\/2/],
  ['a wrong number of cells', head({ cells: 4 }), /cells is 4.*3/],
  ['an invalid scenario', head({ links: 'fast' }, 'scenario'), /sweep\.json: scenario\.links/],
])('merge: refuses a head with %s', (_, change, message) =>
  refused(change, damaged('SWEEP_FILE_INVALID', message)));
