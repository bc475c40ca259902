/** `folkmoot archive`: moves entries into segments, changes nothing else, reports damage. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { openLmdbStore, printLine, SCHEMA_VERSION, storedLines, tables } from 'folkmoot';
import { type CrashPoint, crashPoints } from 'folkmoot/testing';
import { folkmoot } from '../../support/cli.js';
import { expectOneLine, logText, replayJson } from '../../support/command.js';
import { copyOf, linesOf, openForReading, replayHere, suiteFolder } from '../../support/runs.js';

const suite = suiteFolder();
const run = join(suite, 'run');
const other = join(suite, 'other');
/** The same run with three archive segments. */
const archived = join(suite, 'archived');
let log = '';
let lines: string[] = [];
let entries = 0;

const size = ['--agents', '60', '--blocks', '10'];
const segmentsIn = (folder: string) => readdirSync(join(folder, 'network', 'archive')).sort();
const archive = (folder: string, before: number, ...more: string[]) =>
  folkmoot(['archive', folder, '--before', String(before), ...more]);

/** Reads the lines of a folder's log in this process, with both ends inclusive. */
async function linesFrom(folder: string, from: number, to: number): Promise<string[]> {
  const store = openForReading(join(folder, 'network'));
  try {
    return [...storedLines(store, from, to)].map((line) => JSON.stringify(printLine(line)));
  } finally {
    await store.close();
  }
}

/** Expects the original log and a matching replay. */
async function expectSame(folder: string): Promise<void> {
  expect(await linesFrom(folder, 0, entries)).toEqual(lines);
  const replayed = await replayHere(join(folder, 'network'), false);
  expect(replayed).toMatchObject({ match: true, entries });
}

beforeAll(async () => {
  for (const [seed, out] of [
    ['7', run],
    ['8', other],
  ] as const) {
    expect((await folkmoot(['sim', '--seed', seed, ...size, '--out', out])).code).toBe(0);
  }
  log = await logText(run);
  lines = linesOf(log);
  entries = lines.length;
  cpSync(run, archived, { recursive: true });
  for (const before of [200, 300, 400]) expect((await archive(archived, before)).code).toBe(0);
  expect((await archive(other, 300)).code).toBe(0);
});

test('archive: does not change log, replay and digests', async () => {
  expect(await logText(archived)).toBe(log);
  expect(await replayJson(archived, '--signatures')).toEqual(await replayJson(run, '--signatures'));
  const part = await logText(archived, '--from', '150', '--to', '350');
  expect(part).toBe(`${log.split('\n').slice(150, 351).join('\n')}\n`);
  expect(segmentsIn(archived)).toEqual([
    '0000000000000001-0000000000000199.seg',
    '0000000000000200-0000000000000299.seg',
    '0000000000000300-0000000000000399.seg',
  ]);
});

test('archive: the Python code in docs/protocol.md reads and checks a segment', (context) => {
  if (spawnSync('python3', ['--version']).status !== 0) return context.skip('no python3 here');
  const protocol = readFileSync(join(import.meta.dirname, '../../../docs/protocol.md'), 'utf8');
  const scripts = [...protocol.matchAll(/```python\n([\s\S]*?)```/g)].map(([, code]) => code!);
  const script = scripts.find((code) => code.includes('log_digest_before'))!;
  const files = segmentsIn(archived).map((name) => join(archived, 'network', 'archive', name));
  const printed = files.flatMap((file) =>
    linesOf(execFileSync('python3', ['-c', script, file], { encoding: 'utf8' })),
  );
  expect(printed).toHaveLength(399);
  flip(files[0]!, 5_000);
  expect(spawnSync('python3', ['-c', script, files[0]!]).status).toBe(1);
  flip(files[0]!, 5_000);
});

test('archive: shrinks data.mdb, or keeps the free space with --no-compact', async () => {
  const data = (folder: string) => statSync(join(folder, 'network', 'data.mdb')).size;
  const copy = copyOf(run);
  const kept = await archive(copy, entries, '--no-compact', '--json');
  expect(kept.code, kept.stderr).toBe(0);
  expect(JSON.parse(kept.stdout)).toMatchObject({ first: 1, last: entries - 2, compacted: false });
  expect(data(copy)).toBeGreaterThanOrEqual(data(run));
  const shrunk = JSON.parse((await archive(copy, 1, '--json')).stdout);
  expect(shrunk).toMatchObject({ first: null, last: null, segments: 0, compacted: true });
  expect(data(copy)).toBe(shrunk.data_bytes);
  const files = segmentsIn(copy).map((name) => join(copy, 'network', 'archive', name));
  const whole = data(copy) + files.reduce((sum, file) => sum + statSync(file).size, 0);
  expect(whole).toBeLessThan(0.7 * data(run));
  expect(await logText(copy)).toBe(log);
  expect((await replayJson(copy)).match).toBe(true);
});

test('archive --dry-run: prints the entries to move and changes nothing', async () => {
  const copy = copyOf(run);
  const before = readFileSync(join(copy, 'network', 'data.mdb'));
  const told = await archive(copy, 500, '--dry-run');
  expect([told.code, told.stdout]).toEqual([0, 'would move entries 1 to 499\n']);
  expect(readFileSync(join(copy, 'network', 'data.mdb')).equals(before)).toBe(true);
  expect(readdirSync(join(copy, 'network'))).not.toContain('archive');
  const beyond = await archive(copy, entries + 5, '--dry-run');
  expect(beyond.stdout).toBe(`would move entries 1 to ${entries - 2}\n`);
  expect(beyond.stderr).toContain(`entries from ${entries - 1} on are not moved`);
});

test('archive: refuses a locked folder, a missing folder and a missing --before', async () => {
  const held = join(copyOf(run), 'network');
  const writer = openLmdbStore({ path: held, tables, schemaVersion: SCHEMA_VERSION });
  const locked = await archive(held, 100);
  expectOneLine(locked);
  expect([locked.code, locked.stderr]).toEqual([13, expect.stringContaining('stop the server')]);
  await writer.close();
  const missing = await archive(join(suite, 'nothing'), 100);
  expectOneLine(missing);
  expect([missing.code, (await folkmoot(['archive', held])).code]).toEqual([2, 2]);
  expect((await archive(held, -1)).code).toBe(2);
});

/** Crash points of `archive`, with the minimum number of passes. */
const points = crashPoints.filter((point) => /^(archive|compact)\./.test(point));
const plans = points.flatMap((point): { point: CrashPoint; pass: number }[] =>
  point === 'archive.trimmed' ? [1, 2].map((pass) => ({ point, pass })) : [{ point, pass: 1 }],
);

test.each(plans)('archive: loses nothing when killed at pass $pass of $point', async (plan) => {
  const { point, pass } = plan;
  const copy = copyOf(run);
  const env = { FOLKMOOT_CRASH_AT: `${point}:${pass}` };
  const killed = await folkmoot(['archive', copy, '--before', '2000'], { env });
  expect(killed.signal, killed.stdout + killed.stderr).toBe('SIGKILL');
  await expectSame(copy);
  const again = await archive(copy, 2_000);
  expect(again.code, again.stderr).toBe(0);
  await expectSame(copy);
  expect(segmentsIn(copy)).toHaveLength(1);
  expect(readdirSync(join(copy, 'network')).sort()).toEqual(
    expect.arrayContaining(['archive', 'begun', 'data.mdb', 'lock.mdb', 'writer.lock']),
  );
  expect(readdirSync(join(copy, 'network'))).not.toContain('compacted.tmp');
});

const middle = '0000000000000200-0000000000000299.seg';
const inMiddle = (folder: string) => join(folder, 'network', 'archive', middle);

function flip(file: string, at: number): void {
  const bytes = readFileSync(file);
  bytes[at < 0 ? bytes.length + at : at]! ^= 4;
  writeFileSync(file, bytes);
}

describe('archive: a damaged segment', () => {
  const damage: [string, (folder: string) => void][] = [
    ['a flipped bit in a block', (folder) => flip(inMiddle(folder), 5_000)],
    ['a flipped bit in the index', (folder) => flip(inMiddle(folder), -200)],
    ['cut', (folder) => truncateSync(inMiddle(folder), statSync(inMiddle(folder)).size - 1)],
    ['empty', (folder) => truncateSync(inMiddle(folder), 0)],
    ['longer', (folder) => writeFileSync(inMiddle(folder), 'x', { flag: 'a' })],
    ['missing', (folder) => rmSync(inMiddle(folder))],
    [
      'another of the same folder',
      (folder) =>
        cpSync(inMiddle(folder).replace(middle, segmentsIn(folder)[0]!), inMiddle(folder)),
    ],
    [
      "another network's",
      (folder) =>
        cpSync(join(other, 'network', 'archive', segmentsIn(other)[0]!), inMiddle(folder)),
    ],
    [
      'a folder',
      (folder) => {
        rmSync(inMiddle(folder));
        mkdirSync(inMiddle(folder));
      },
    ],
  ];

  test.each(damage)('%s: is reported, others stay readable', async (_, break_) => {
    const folder = copyOf(archived);
    break_(folder);
    const replayed = await folkmoot(['replay', folder]);
    expectOneLine(replayed);
    expect(replayed.code).toBe(13);
    for (const part of [middle, 'entries 200 to 299']) expect(replayed.stderr).toContain(part);
    expect(replayed.stderr).toMatch(/sha256 [0-9a-f]{64}/);
    expect(await linesFrom(folder, 300, entries)).toEqual(lines.slice(300));
    expect(await linesFrom(folder, 0, 199)).toEqual(lines.slice(0, 200));
    const printed = await folkmoot(['log', folder]);
    expect(printed.code).toBe(13);
    // The lines preceding the damage are correct.
    expect(log.startsWith(printed.stdout)).toBe(true);
    rmSync(inMiddle(folder), { recursive: true, force: true });
    cpSync(inMiddle(archived), inMiddle(folder));
    await expectSame(folder);
  });
});

test('archive: reports a folder copied without its archive', async () => {
  const folder = copyOf(archived);
  renameSync(join(folder, 'network', 'archive'), join(folder, 'elsewhere'));
  for (const command of ['replay', 'log']) {
    const ended = await folkmoot([command, folder]);
    expect(ended.code).toBe(13);
    expect(ended.stderr).toContain('archive/0000000000000001-0000000000000199.seg');
    expect(ended.stderr).toContain('ENOENT');
  }
  // Archiving more entries does not require the missing segment.
  expect((await archive(folder, 500)).code).toBe(0);
  for (const name of readdirSync(join(folder, 'elsewhere'))) {
    cpSync(join(folder, 'elsewhere', name), join(folder, 'network', 'archive', name));
  }
  await expectSame(folder);
});
