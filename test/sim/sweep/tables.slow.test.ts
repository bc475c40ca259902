/** Tables other than runs.csv and summary.csv: differences, indices and script measures. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folkmoot } from '../../support/cli.js';
import { temporaryFolder } from '../../support/fixture.js';
import { rowsIn, runsIn, sweepIn } from './folders.js';
import { alternating, smallRaw, writeScenario } from './scenarios.js';

async function swept(raw: object, ...args: string[]): Promise<string> {
  const folder = temporaryFolder();
  const out = join(folder, 'out');
  const { code, stderr } = await sweepIn(writeScenario(folder, raw), out, ...args);
  expect(code, stderr).toBe(0);
  return out;
}

const spread = { path: 'links.latency.spread_ms', name: 'spread', values: [150, 180] };

test('sweep: pairs of the same seed differ less than independent runs', async () => {
  const sweep = { factors: [spread], replicates: 8, baseline: { spread: 150 } };
  const out = await swept({ ...smallRaw(), sweep });
  const of = (name: string) =>
    rowsIn(join(out, name)).filter(({ measure }) => measure === 'finality_mean_ms');
  const [one, two] = of('summary.csv');
  const [difference, ...more] = of('differences.csv');
  expect(more).toEqual([]);
  expect(difference).toMatchObject({ cell: '2', spread: '180', n: '8', interval: 't_skew' });
  expect(Number(difference!.mean)).toBeCloseTo(Number(two!.mean) - Number(one!.mean), 3);
  const unpaired = Math.hypot(Number(one!.sd), Number(two!.sd));
  expect(Number(difference!.sd)).toBeLessThan(unpaired / 2);
});

test('sweep: gives equal cells differences of 0 without an interval', async () => {
  const faults = [{ kind: 'crash', start_ms: 0, length_ms: 10_000, whom: [{ count: 2 }] }];
  const start = { path: 'faults.0.start_ms', name: 'start', values: [3_600_000, 7_200_000] };
  const sweep = { factors: [start], replicates: 4, baseline: { start: 3_600_000 } };
  const out = await swept({ ...smallRaw(), faults, sweep });
  const said = rowsIn(join(out, 'differences.csv')).filter(({ n }) => n === '4');
  expect(said.map(({ measure }) => measure)).toContain('finality_mean_ms');
  for (const { measure, mean, sd, low, interval } of said) {
    expect([measure, mean, sd, low, interval]).toEqual([measure, '0', '0', '', '']);
  }
});

test('sweep: refuses a baseline outside the design', async () => {
  const folder = temporaryFolder();
  const sweep = { factors: [spread], baseline: { spread: 151 } };
  const file = writeScenario(folder, { ...smallRaw(), sweep });
  const { code, stderr } = await sweepIn(file, join(folder, 'out'));
  expect([code, stderr]).toEqual([2, expect.stringMatching(/baseline: no cell has these values/)]);
});

test.each([
  ['morris', ['mean', 'mean_absolute', 'deviation']],
  ['sobol', ['first', 'total']],
])('sweep: %s writes indices of each factor and response', async (design, indices) => {
  const factors = [
    { path: 'links.latency.mean_ms', name: 'latency', from: 200, to: 900, whole: true },
    { path: 'links.duplication', name: 'copies', from: 0, to: 0.1 },
  ];
  const responses = ['finality_mean_ms', 'votes'];
  const sweep = { design, samples: 6, factors, responses };
  const out = await swept({ ...smallRaw(4), length: { blocks: 1 }, sweep });
  const rows = rowsIn(join(out, 'indices.csv'));
  expect(rows.map(({ response, factor, index }) => [response, factor, index])).toEqual(
    responses.flatMap((response) =>
      ['latency', 'copies'].flatMap((factor) => indices.map((index) => [response, factor, index])),
    ),
  );
  const [latency] = rows;
  expect(Number(latency!.value)).toBeGreaterThan(0);
  expect(Number(latency!.n)).toBe(6);
});

/** Sweep in which half of the runs finalize no block. */
const lossy = (sweep: object) => ({
  ...smallRaw(12),
  length: { blocks: 1 },
  sweep: { responses: ['finality_mean_ms', 'finalized_share'], ...sweep },
});

test('sweep: counts runs without a value and bounds the mean over all runs', async () => {
  const factors = [{ path: 'links.loss', name: 'loss', values: [0.3, 0.5] }];
  const out = await swept(lossy({ factors, replicates: 10, baseline: { loss: 0.3 } }));
  const runs = rowsIn(join(out, 'runs.csv'));
  let gaps = 0;
  for (const row of rowsIn(join(out, 'summary.csv'))) {
    const { cell, measure = '', n, mean, missing, mean_least: least, mean_most: most } = row;
    expect(Number(n) + Number(missing), measure).toBe(10);
    if (missing === '0') expect([least, most], measure).toEqual([mean, mean]);
    if (measure !== 'finality_mean_ms') continue;
    const values = runs.filter((run) => run.cell === cell).map((run) => run[measure]!);
    expect(missing).toBe(String(values.filter((value) => value === '').length));
    if (missing === '0') continue;
    gaps += 1;
    const sum = values.reduce((total, value) => total + Number(value), 0);
    expect([Number(least), most]).toEqual([expect.closeTo(sum / 10, 3), '']);
  }
  expect(gaps, 'some cell has a run without a finalized block').toBeGreaterThan(0);
  for (const row of rowsIn(join(out, 'differences.csv'))) {
    expect(Number(row.n) + Number(row.missing), row.measure).toBe(10);
    expect(row.mean, row.measure).not.toMatch(/e-1[5-9]/);
  }
  const report = readFileSync(join(out, 'report.html'), 'utf8');
  expect(report).toContain('<div class="warning">');
  expect(runs.some(({ verdict }) => verdict === 'no_progress')).toBe(true);
  expect(report).toContain('Cells with other verdicts');
  expect(report).toMatch(/\d+ no_progress<\/td>/);
});

test('sweep: counts excluded samples of indices and bounds the index', async () => {
  const factors = [{ path: 'links.loss', name: 'loss', from: 0, to: 0.6 }];
  const out = await swept(lossy({ design: 'sobol', samples: 16, factors }));
  const rows = rowsIn(join(out, 'indices.csv'));
  const of = (name: string) => rows.filter(({ response }) => response === name);
  for (const row of rows) expect(Number(row.n) + Number(row.missing)).toBe(16);
  for (const row of of('finality_mean_ms')) {
    expect(Number(row.missing)).toBeGreaterThan(0);
    expect(row.with_least).not.toBe('');
    expect(row.with_least).not.toBe(row.with_most);
  }
  for (const row of of('finalized_share')) {
    expect([row.missing, row.with_least, row.with_most]).toEqual(['0', row.value, row.value]);
  }
});

test('sweep: writes endings and script measures to the tables', async () => {
  const folder = temporaryFolder();
  const script = `
    export const vote = () => ({ do: 'vote', decision: 'approve' });
    export const report = ({ group }) => (group === null ? { luck: 0.5 } : { size: 6 });`;
  writeFileSync(join(folder, 'own.mjs'), script);
  const [town] = smallRaw().agents;
  const agents = [{ ...town, strategy: { kind: 'script', module: 'own.mjs' } }];
  const factors = [{ path: 'links.loss', name: 'loss', values: [0, 0.1] }];
  const sweep = { factors, replicates: 2, responses: ['reported.luck'] };
  const file = writeScenario(folder, { ...smallRaw(), agents, sweep });
  const out = join(folder, 'out');
  const { code, stderr } = await sweepIn(file, out);
  expect(code, stderr).toBe(0);
  for (const row of rowsIn(join(out, 'runs.csv'))) {
    expect([row.ended_by, row['reported.luck']]).toEqual(['blocks', '0.5']);
  }
  for (const row of rowsIn(join(out, 'run_groups.csv'))) expect(row['reported.size']).toBe('6');
  const summary = rowsIn(join(out, 'summary.csv'));
  const of = (name: string) => summary.filter(({ measure }) => measure === name);
  expect(of('reported.luck').map(({ n, mean }) => [n, mean])).toEqual([
    ...[
      ['2', '0.5'],
      ['2', '0.5'],
    ],
  ]);
  expect(of('ended_by.blocks').map(({ mean, interval }) => [mean, interval])).toEqual([
    ...[
      ['1', 'share'],
      ['1', 'share'],
    ],
  ]);
});

test('sweep: names a script that is not deterministic', async () => {
  const folder = temporaryFolder();
  alternating(folder, 'own.mjs');
  const [town] = smallRaw().agents;
  const agents = [{ ...town, strategy: { kind: 'script', module: 'own.mjs' } }];
  const sweep = { factors: [{ path: 'links.loss', values: [0, 0.1] }], replicates: 2 };
  const file = writeScenario(folder, { ...smallRaw(), agents, sweep });
  const out = join(folder, 'out');
  const { code, stderr } = await sweepIn(file, out);
  expect([code, stderr]).toEqual([12, expect.stringMatching(/not deterministic with own\.mjs/)]);
  expect(stderr).toMatch(/entry \d+ \(vote\)/);
  expect(runsIn(out)).toBe(0);
});

test('sweep: --audit lists the audited runs, and changes nothing else', async () => {
  const raw = { ...smallRaw(4), length: { blocks: 1 } };
  const sweep = { factors: [{ path: 'links.loss', values: [0] }], replicates: 2 };
  const folders = new Map<string, string>();
  for (const which of ['all', 'first', 'none']) {
    folders.set(which, await swept({ ...raw, sweep }, '--audit', which));
  }
  const kept = (which: string) =>
    rowsIn(join(folders.get(which)!, 'runs.csv')).map(({ file }) =>
      JSON.parse(readFileSync(join(folders.get(which)!, 'runs', file!), 'utf8')),
    );
  const audited = (which: string) => kept(which).map((one) => one.audited);
  expect([audited('all'), audited('first'), audited('none')]).toEqual([
    ...[
      [true, true],
      [true, false],
      [false, false],
    ],
  ]);
  const rest = (which: string) => kept(which).map(({ audited: _, ...one }) => one);
  expect(rest('none')).toEqual(rest('all'));
});

/** A sweep of a script that reports 3 opinions for its group and nothing for the run. */
function grouped(responses: string[]) {
  const folder = temporaryFolder();
  const script = `
    export const vote = () => ({ do: 'vote', decision: 'approve' });
    export const report = ({ group }) => (group === null ? null : { opinions_left: 3 });`;
  writeFileSync(join(folder, 'own.mjs'), script);
  const [town] = smallRaw().agents;
  const agents = [{ ...town, strategy: { kind: 'script', module: 'own.mjs' } }];
  const factors = [{ path: 'links.loss', name: 'loss', values: [0, 0.1] }];
  const sweep = { factors, replicates: 2, responses };
  const file = writeScenario(folder, { ...smallRaw(), agents, sweep });
  return { file, folder, out: join(folder, 'out') };
}

test('sweep: a response without a value in any run has an exit code', async () => {
  const { file, out, folder } = grouped(['reported.opinions_left', 'finalized_share']);
  const { code, stdout, stderr } = await sweepIn(file, out, '--json');
  const reported = ['reported.opinions_left@town'];
  expect([code, JSON.parse(stdout).empty]).toEqual([
    18,
    [{ response: 'reported.opinions_left', reported }],
  ]);
  expect(stderr).toContain(reported[0]);
  const rows = rowsIn(join(out, 'summary.csv'));
  const of = rows.filter(({ measure }) => measure === 'reported.opinions_left');
  expect(of.map(({ n, missing }) => [n, missing])).toEqual([
    ['0', '2'],
    ['0', '2'],
  ]);
  // One shard may lack a value that another one has; the merge decides.
  const shards = [1, 2].map((index) => join(folder, `${index}`));
  for (const [at, shard] of shards.entries()) {
    expect((await sweepIn(file, shard, '--shard', `${at + 1}/2`)).code).toBe(0);
  }
  expect((await folkmoot(['merge', ...shards, '--out', join(folder, 'merged')])).code).toBe(18);
});

test('sweep: a response names a group', async () => {
  const { file, out } = grouped(['reported.opinions_left@town']);
  const { code, stderr } = await sweepIn(file, out);
  expect(code, stderr).toBe(0);
  const column = 'reported.opinions_left@town';
  expect(rowsIn(join(out, 'runs.csv')).map((row) => row[column])).toEqual(['3', '3', '3', '3']);
  const rows = rowsIn(join(out, 'summary.csv')).filter(({ measure }) => measure === column);
  expect(rows.map(({ n, mean }) => [n, mean])).toEqual([
    ['2', '3'],
    ['2', '3'],
  ]);
  expect(readFileSync(join(out, 'report.html'), 'utf8')).toContain('opinions_left of group town');
});

test.each([
  ['a group that no cell has', ['reported.luck@city'], /reported\.luck@town/],
  ['a name that no script may use', ['reported.Luck'], /unknown measure: reported\.Luck/],
  ['an inherited name', ['constructor'], /unknown measure: constructor/],
])('sweep: refuses %s before the first run', async (_, responses, message) => {
  const { file, out } = grouped(responses);
  const { code, stderr } = await sweepIn(file, out);
  expect([[code, stderr], existsSync(out)]).toEqual([[2, expect.stringMatching(message)], false]);
});

test('sweep: refuses a response of scripts without a script', async () => {
  const folder = temporaryFolder();
  const factors = [{ path: 'links.loss', name: 'loss', values: [0, 0.1] }];
  const sweep = { factors, responses: ['reported.luck'] };
  const file = writeScenario(folder, { ...smallRaw(), sweep });
  const { code, stderr } = await sweepIn(file, join(folder, 'out'));
  expect([code, stderr]).toEqual([2, expect.stringMatching(/no script and no deliberation/)]);
});
