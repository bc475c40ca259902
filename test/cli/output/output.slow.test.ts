/** `sim --out`: the files in a saved run, and refused folders. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folkmoot } from '../../support/cli.js';
import { expectOneLine, replayJson, type SimJson, simJson } from '../../support/command.js';
import { full } from '../../support/counts.js';
import { temporaryFolder } from '../../support/fixture.js';
import { begin } from '../../support/running-command.js';
import { csvRows, type Line, logLines, signaturesIn, suiteFolder } from '../../support/runs.js';

const small = ['--seed', '7', '--agents', '60', '--blocks', '6'];
/** Options with enough agents to fill batches, or fewer agents with the quick counts. */
const ordinary = full ? ['--seed', '7', '--agents', '300', '--blocks', '20'] : small;

/** A folder with missing parents, which `sim` creates. */
const folder = join(suiteFolder(), 'a', 'run');
let run: SimJson;
let lines: Line[];

beforeAll(async () => {
  run = (await simJson(...small, '--out', folder)).json;
  lines = await logLines(folder);
});

test('sim --out: writes network, summary and tables, without partial files', () => {
  const names = [
    ...['agents.csv', 'blocks.csv', 'edges.csv', 'groups.csv', 'messages.csv', 'network'],
    ...['report.html', 'scenario.json', 'series.csv', 'summary.json'],
  ];
  expect(readdirSync(folder).sort()).toEqual(names);
});

test('sim --out: summary.json equals the output of --json', () => {
  expect(JSON.parse(readFileSync(join(folder, 'summary.json'), 'utf8')) as object).toEqual(run);
  const scenario = JSON.parse(readFileSync(join(folder, 'scenario.json'), 'utf8')) as object;
  expect(scenario).toEqual(run.scenario);
});

test('sim --out: the last entry has the digests of the summary', () => {
  expect(lines).toHaveLength(run.entries);
  const { digest, log_digest } = lines.at(-1)!;
  expect({ digest, log_digest }).toEqual({ digest: run.digest, log_digest: run.log_digest });
  expect(lines.filter(({ kind }) => kind === 'vote')).toHaveLength(run.measures.votes!);
});

test('sim --out: blocks.csv has one row per block, with the outcomes of the summary', () => {
  const rows = csvRows(join(folder, 'blocks.csv'));
  expect(rows).toHaveLength(run.measures.proposed!);
  for (const status of ['finalized', 'rejected', 'expired', 'orphaned'] as const) {
    expect(rows.filter((row) => row.status === status).length, status).toBe(run.measures[status]);
  }
  const final = rows.filter(({ status }) => status === 'finalized');
  const transactions = final.reduce((sum, row) => sum + Number(row.transactions), 0);
  expect(transactions).toBe(run.measures.transactions);
  for (const { approve, electorate } of final) {
    expect(3 * Number(approve)).toBeGreaterThan(2 * Number(electorate));
  }
  expect(final.map(({ height }) => Number(height))).toEqual(final.map((_, index) => index + 1));
  expect(rows.map(({ number }) => Number(number))).toEqual(rows.map((_, index) => index));
});

test('sim --out: agents.csv has one row per agent, with its blocks', () => {
  const rows = csvRows(join(folder, 'agents.csv'));
  expect(rows).toHaveLength(60);
  expect(new Set(rows.map(({ agent_id }) => agent_id)).size).toBe(60);
  const produced = rows.reduce((sum, row) => sum + Number(row.blocks_finalized), 0);
  expect(produced).toBe(run.measures.finalized);
  expect(new Set(rows.map(({ personality }) => personality)).size).toBe(9);
});

test('sim --out: does not change the digest', async () => {
  const { json } = await simJson(...small);
  expect([json.digest, json.log_digest]).toEqual([run.digest, run.log_digest]);
});

test.each([
  ['bft', 'equal', ordinary],
  ['bft', 'reputation', ordinary],
  ['majority', 'equal', small],
  ['majority', 'reputation', small],
  ['veto', 'alliance_bonus', ordinary],
])('sim: %s with %s verifies exactly the logged requests', async (policy, weights, size) => {
  const out = join(temporaryFolder(), 'run');
  const { json } = await simJson(...size, '--policy', policy, '--weights', weights, '--out', out);
  expect(json.verified).toBe(signaturesIn(await logLines(out)));
});

test('sim --verifier off: verifies nothing, with valid signatures in the log', async () => {
  const out = join(temporaryFolder(), 'run');
  const { json } = await simJson(...small, '--verifier', 'off', '--out', out);
  expect(json.verified).toBe(0);
  expect(signaturesIn(await logLines(out))).toBe(signaturesIn(lines));
  const replayed = await replayJson(out, '--signatures');
  expect(replayed).toMatchObject({ match: true, digest: run.digest });
});

test('sim --out: refuses a folder with a run and does not change it', async () => {
  const before = readFileSync(join(folder, 'summary.json'), 'utf8');
  const ended = await folkmoot(['sim', ...small, '--seed', '8', '--out', folder]);
  expectOneLine(ended, 1);
  expect(ended.stderr).toContain(folder);
  expect(readFileSync(join(folder, 'summary.json'), 'utf8')).toBe(before);
  expect(await logLines(folder)).toEqual(lines);
});

test('sim --out: refuses a folder with an incomplete run', async () => {
  const out = join(temporaryFolder(), 'run');
  mkdirSync(join(out, 'network'), { recursive: true });
  expectOneLine(await folkmoot(['sim', ...small, '--out', out]), 1);
  rmSync(join(out, 'network'), { recursive: true });
  expect((await folkmoot(['sim', ...small, '--out', out])).code).toBe(0);
});

test.each([
  ['a path below a file', (inside: string) => join(inside, 'file', 'run')],
  ['a file', (inside: string) => join(inside, 'file')],
  ['a name that is too long', (inside: string) => join(inside, 'x'.repeat(300))],
  ['a folder that cannot be created', () => '/proc/folkmoot-run'],
  ['an empty name', () => ''],
])('sim --out: refuses %s in one line', async (_, place) => {
  const inside = temporaryFolder();
  writeFileSync(join(inside, 'file'), '');
  const args = ['sim', '--agents', '5', '--blocks', '1', '--out', place(inside)];
  expectOneLine(await folkmoot(args), 1);
});

test('sim: a missing temporary folder is a one-line error', async () => {
  const env = { TMPDIR: join(temporaryFolder(), 'gone') };
  expectOneLine(await folkmoot(['sim', '--agents', '5', '--blocks', '1'], { env }), 1);
});

test('sim --out: the run continues when the reader of standard error exits', async () => {
  const out = join(temporaryFolder(), 'run');
  const length = ['--seed', '7', '--agents', '300', '--blocks', '20', '--unsigned'];
  const begun = begin(['sim', ...length, '--out', out, '--json']);
  // Destroyed long before the end, so later progress lines have no reader.
  begun.child.stderr!.destroy();
  expect(await begun.ended).toEqual({ code: 0, signal: null });
  const { digest } = JSON.parse(begun.stdout()) as { digest: string };
  expect((await replayJson(out)).digest).toBe(digest);
});
