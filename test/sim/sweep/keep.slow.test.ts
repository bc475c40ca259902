/** `folkmoot sweep --keep`: each run keeps its log in a folder of its own. */
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folkmoot } from '../../support/cli.js';
import { suiteFolder } from '../../support/runs.js';
import { rowsIn, sweepIn } from './folders.js';
import { smallRaw, writeScenario } from './scenarios.js';

const factors = [{ path: 'consensus.policy', values: ['bft', 'majority'] }];
const raw = { ...smallRaw(), seed: 'a', sweep: { factors, replicates: 2 } };
const around = suiteFolder();
const file = writeScenario(around, raw);
const out = join(around, 'out');

beforeAll(async () => {
  const ended = await sweepIn(file, out, '--keep');
  expect(ended.code, ended.stderr).toBe(0);
});

const rows = () => rowsIn(join(out, 'runs.csv'));
const logOf = ({ file: name = '' }: Record<string, string>) =>
  join(out, 'logs', name.replace(/\.json$/, ''));

test('sweep --keep: keeps a folder for each run, which replays to its digest', async () => {
  expect(readdirSync(join(out, 'logs')).sort()).toEqual(
    rows()
      .map(({ file: name = '' }) => name.replace(/\.json$/, ''))
      .sort(),
  );
  for (const row of rows()) {
    const replayed = await folkmoot(['replay', logOf(row), '--json']);
    expect(replayed.code, replayed.stderr).toBe(0);
    expect(JSON.parse(replayed.stdout)).toMatchObject({ digest: row.digest });
  }
});

test('sweep --keep: a folder of a run can be read like that of a single run', async () => {
  const forked = join(around, 'forked');
  const change = '{ kind: remove, whom: [{ group: town, count: 1 }], at_height: 1 }';
  const args = ['fork', logOf(rows()[0]!), '--intervention', change, '--out', forked, '--json'];
  const ended = await folkmoot(args);
  expect(ended.code, ended.stderr).toBe(0);
});

test('sweep --keep --resume: replaces the parts of an interrupted run', async () => {
  const [first, ...others] = rows();
  const before = others.map((row) => readdirSync(logOf(row)));
  rmSync(join(out, 'runs', first!.file!));
  for (const name of ['summary.json', 'blocks.csv']) rmSync(join(logOf(first!), name));
  writeFileSync(join(logOf(first!), 'blocks.csv.part'), 'half a');
  const resumed = await sweepIn(file, out, '--keep', '--resume');
  expect(resumed.code, resumed.stderr).toBe(0);
  expect([rows(), readdirSync(logOf(first!))]).toEqual([[first, ...others], before[0]]);
  expect(others.map((row) => readdirSync(logOf(row)))).toEqual(before);
});

test.each(['a file', 'a link', 'a folder'])('sweep --keep: refuses %s', async (what) => {
  const folder = join(around, `foreign ${what}`);
  const logs = join(folder, 'logs');
  const outside = join(around, `outside ${what}`);
  for (const path of [folder, outside]) mkdirSync(path);
  if (what === 'a file') writeFileSync(logs, 'notes');
  else if (what === 'a link') symlinkSync(outside, logs, 'junction');
  else mkdirSync(logs);
  const refused = await sweepIn(file, folder, '--keep');
  expect(refused.code, refused.stderr).toBe(2);
  expect(refused.stderr).toContain(what === 'a link' ? logs : 'sweep.json');
  expect(readdirSync(outside)).toEqual([]);
  if (what === 'a file') expect(readFileSync(logs, 'utf8')).toBe('notes');
});

test('sweep --keep: is a different sweep than one without logs', async () => {
  const other = await sweepIn(file, out, '--resume');
  expect(other.code).toBe(2);
  expect(other.stderr).toContain('sweep.log');
});

test('sweep with log: keep in the scenario: keeps the logs as well', async () => {
  const told = { ...raw, sweep: { ...raw.sweep, replicates: 1, log: 'keep' } };
  const folder = join(around, 'told');
  const ended = await sweepIn(writeScenario(around, told), folder);
  expect(ended.code, ended.stderr).toBe(0);
  expect(readdirSync(join(folder, 'logs'))).toHaveLength(2);
});
