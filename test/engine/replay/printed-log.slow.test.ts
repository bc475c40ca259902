/** The printed log: its format, its replay, and changed lines. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folkmoot } from '../../support/cli.js';
import {
  expectOneLine,
  logText,
  replayJson,
  type SimJson,
  simJson,
} from '../../support/command.js';
import { temporaryFolder } from '../../support/fixture.js';
import { main } from '../../support/paths.js';
import { type Line, linesOf, replayPrinted, suiteFolder } from '../../support/runs.js';

const folder = join(suiteFolder(), 'run');
let run: SimJson;
let printed: string[];

beforeAll(async () => {
  run = (await simJson('--seed', '7', '--agents', '60', '--blocks', '6', '--out', folder)).json;
  printed = linesOf(await logText(folder));
});

function fileOf(lines: readonly string[]): string {
  const file = join(temporaryFolder(), 'run.ndjson');
  writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
  return file;
}

const parse = (line: string) => JSON.parse(line) as Line;
const changeLine = (seq: number, change: (line: Line) => object) =>
  fileOf(printed.map((line, at) => (at === seq ? JSON.stringify(change(parse(line))) : line)));

test('log: prints one line per entry, with all members', () => {
  expect(printed).toHaveLength(run.entries);
  for (const [index, text] of printed.entries()) {
    const { file, ...line } = parse(text);
    const names = 'seq at kind public_key target timestamp signature body log_digest digest';
    expect(Object.keys(line).join(' ')).toBe(names);
    expect(line.seq).toBe(index);
    expect(file !== undefined).toBe(line.kind === 'meme');
  }
});

test('log: includes both ends of --from and --to', async () => {
  const part = async (...args: string[]) => linesOf(await logText(folder, ...args));
  expect(await part('--from', '10', '--to', '12')).toEqual(printed.slice(10, 13));
  const late = run.entries - 5;
  expect(await part('--from', `${late}`)).toEqual(printed.slice(late));
  expect(await part('--to', '0')).toEqual(printed.slice(0, 1));
  expect(await folkmoot(['log', folder, '--from', '5', '--to', '4'])).toMatchObject({ code: 2 });
  const beyond = await folkmoot(['log', folder, '--from', `${run.entries}`]);
  const end = new RegExp(`^folkmoot: .* ${run.entries - 1}\n$`);
  expect(beyond).toMatchObject({ code: 0, stdout: '', stderr: expect.stringMatching(end) });
});

test('log: succeeds if its reader closes early', () => {
  const piped = `'${process.execPath}' '${main}' log '${folder}' | head -n 1`;
  const out = execFileSync('bash', ['-o', 'pipefail', '-c', piped], { encoding: 'utf8' });
  expect(out).toBe(`${printed[0]}\n`);
});

test('replay: gives the same digests for a printed log', async () => {
  const { digest, log_digest, entries } = run;
  const found = await replayJson(fileOf(printed), '--signatures');
  expect(found).toEqual({ match: true, entries, digest, log_digest, first_divergence: null });
});

test('replay: accepts a printed log without digests', async () => {
  const lines = printed.map((text) => {
    const { digest: _, log_digest: __, ...line } = parse(text);
    return JSON.stringify(line);
  });
  const { digest, log_digest } = run;
  expect(await replayPrinted(fileOf(lines))).toMatchObject({ match: true, digest, log_digest });
});

test.each([
  ['a body', (line: Line) => ({ ...line, body: ` ${line.body}` }), 'log_digest'],
  ['a header field', (line: Line) => ({ ...line, target: '/' }), 'log_digest'],
  ['a digest', (line: Line) => ({ ...line, digest: '0'.repeat(64) }), 'digest'],
  ['a log digest', (line: Line) => ({ ...line, log_digest: '' }), 'log_digest'],
  ['a number', (line: Line) => ({ ...line, seq: line.seq + 1 }), 'entry'],
  ['a kind', (line: Line) => ({ ...line, kind: 'boast' }), 'entry'],
])('replay: reports a changed line: %s', async (_, change, what) => {
  const seq = printed.findIndex((line, at) => at > 150 && parse(line).kind === 'vote');
  const found = await replayPrinted(changeLine(seq, change));
  expect(found.first_divergence).toMatchObject({ seq, what });
});

test('replay: reports a missing line', async () => {
  const found = await replayPrinted(fileOf(printed.filter((_, seq) => seq !== 200)));
  expect(found.first_divergence).toMatchObject({ seq: 200, what: 'entry', found: 'entry 201' });
});

test('replay: prints the entry, kind and both values of a divergence', async () => {
  const { stdout, code } = await folkmoot([
    'replay',
    changeLine(200, (line) => ({ ...line, digest: 'f'.repeat(64) })),
  ]);
  expect(code).toBe(12);
  const [first, second, expected, found] = linesOf(stdout);
  const { kind, digest } = parse(printed[200]!);
  expect(first).toMatch(/ 200 matching entries$/);
  expect(second).toBe(`entry 200 (${kind}): digest`);
  expect([expected, found]).toEqual([`  expected ${digest}`, `  found    ${'f'.repeat(64)}`]);
});

test.each([
  ['invalid JSON', 'nonsense'],
  ['null', 'null'],
  ['a list', '[]'],
  ['a line without numbers', '{"kind":"tick"}'],
  ['a member `file` that is not text', JSON.stringify({ ...emptyLine(), kind: 'tick', file: 5 })],
  ['an unreadable genesis', JSON.stringify({ ...emptyLine(), kind: 'genesis' })],
])('replay: refuses a file with %s in one line', async (_, line) => {
  expectOneLine(await folkmoot(['replay', fileOf([line])]));
});

test('replay: reports a divergence before a later unreadable line', async () => {
  const text = JSON.stringify({ ...parse(printed[100]!), digest: 'f'.repeat(64) });
  const unreadable = printed.with(120, 'nonsense');
  const { first_divergence } = await replayJson(fileOf(unreadable.with(100, text)));
  expect(first_divergence).toMatchObject({ seq: 100, what: 'digest' });
  expectOneLine(await folkmoot(['replay', fileOf(unreadable)]));
});

test('replay: does not match an empty file', async () => {
  const found = await replayJson(fileOf([]));
  expect(found).toMatchObject({ match: false, entries: 0, first_divergence: { what: 'entry' } });
});

function emptyLine(): object {
  const texts = { public_key: '', target: '', timestamp: '', signature: '', body: '{' };
  return { seq: 0, at: 0, ...texts };
}
