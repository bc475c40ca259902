/** `folkmoot sweep`: tables, folder and failures. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { measures } from 'folkmoot/sim';
import { measureKinds } from '../../../dist/report/shared/measures.js';
import { computeStatistics, Sample } from '../../../dist/sim/sweep/statistics.js';
import { folkmoot } from '../../support/cli.js';
import { type Ended, expectOneLine } from '../../support/command.js';
import { temporaryFolder } from '../../support/fixture.js';
import { linesOf, suiteFolder } from '../../support/runs.js';
import { expectSame, filesIn, rowsIn, runsIn, sweepIn } from './folders.js';
import { smallRaw, writeScenario } from './scenarios.js';

const factors = [
  { path: 'agents.town.count', name: 'agents', values: [4, 6] },
  { path: 'consensus.policy', values: ['bft', 'majority'] },
];
const raw = { ...smallRaw(), seed: 'a', sweep: { factors, replicates: 3 } };
const around = suiteFolder();
const file = writeScenario(around, raw);
const out = join(around, 'out');
let ended: Ended;

beforeAll(async () => {
  ended = await sweepIn(file, out, '--json');
});

test('sweep --json: prints planned and completed runs, and the verdicts', () => {
  expect(ended.code, ended.stderr).toBe(0);
  expect(JSON.parse(ended.stdout)).toEqual({
    ...{ out, planned: 12, completed: 12 },
    ...{ verdicts: { pass: 12, no_progress: 0, conflict: 0, safety: 0, error: 0 }, failed: null },
    ...{ finished: true, empty: [], without_effect: [] },
  });
  expect(linesOf(ended.stderr)).toContain('12/12 runs');
});

test('sweep: writes each run once to runs.csv, with the seed of its replicate', () => {
  const rows = rowsIn(join(out, 'runs.csv'));
  expect(Object.keys(rows[0]!)).toEqual([
    ...['run', 'cell', 'replicate', 'seed', 'agents', 'consensus.policy'],
    ...Object.keys(measures),
    ...['verdict', 'ended_by', 'digest', 'trace_digest', 'file'],
  ]);
  const shown = rows.map((r) => [r.run, r.cell, r.seed, r.agents, r['consensus.policy']]);
  const cells = [4, 6].flatMap((count) => ['bft', 'majority'].map((policy) => [count, policy]));
  const expected = cells.flatMap((values, cell) =>
    [1, 2, 3].map((replicate) => [cell * 3 + replicate, cell + 1, `a/${replicate}`, ...values]),
  );
  expect(shown).toEqual(expected.map((row) => row.map(String)));
  expect(new Set(rows.map(({ trace_digest }) => trace_digest)).size).toBe(12);
  expect(new Set(rows.map(({ digest }) => digest))).toEqual(new Set(['']));
});

test('sweep: derives summary.csv from runs.csv', () => {
  const runs = rowsIn(join(out, 'runs.csv'));
  const rows = rowsIn(join(out, 'summary.csv'));
  expect(rows).toHaveLength(4 * (Object.keys(measures).length + 2));
  for (const { cell, measure, n, mean, sd, low, high, interval } of rows) {
    const of = (run: Record<string, string>) => {
      if (measure === 'passed') return String(+(run.verdict === 'pass'));
      if (measure === 'ended_by.blocks') return String(+(run.ended_by === 'blocks'));
      return run[measure!]!;
    };
    const values = runs.filter((run) => run.cell === cell).map(of);
    const sample = Sample.of(values.filter((value) => value !== '').map(Number));
    const kind = measureKinds[measure as keyof typeof measureKinds] ?? 'share';
    const made = computeStatistics(sample, kind === 'share' ? 'share' : 't_log');
    const found = Object.values(made).map((value) => String(value ?? ''));
    expect([n, mean, sd, low, high, interval], `${cell} ${measure}`).toEqual(found);
  }
});

test('sweep: a single run with a log has the trace of the table', async () => {
  const row = rowsIn(join(out, 'runs.csv'))[10]!;
  const set = ['--set', `agents.town.count=${row.agents}`, '--set', 'consensus.policy=majority'];
  const { trace_digest, verdict, file: name } = row;
  const record = ['--verify-trace', join(out, 'runs', name!)];
  const alone = await folkmoot(['sim', file, '--seed', row.seed!, ...set, ...record, '--json']);
  expect(alone.code).toBe(0);
  expect(JSON.parse(alone.stdout)).toMatchObject({ trace_digest, verdict });
  expect((await folkmoot(['sim', file, '--seed', 'b', ...set, ...record, '--json'])).code).toBe(12);
});

test('sweep --log full: adds the digest of each log, and changes nothing else', async () => {
  const logged = join(around, 'logged');
  expect((await sweepIn(file, logged, '--log', 'full')).code).toBe(0);
  const rows = rowsIn(join(logged, 'runs.csv'));
  for (const [index, { digest, ...same }] of rows.entries()) {
    expect({ ...same, digest: '' }).toEqual(rowsIn(join(out, 'runs.csv'))[index]);
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
  }
  const set = ['--set', 'agents.town.count=6', '--set', 'consensus.policy=majority'];
  const row = rows[10]!;
  const alone = await folkmoot(['sim', file, '--seed', row.seed!, ...set, '--json']);
  expect(JSON.parse(alone.stdout)).toMatchObject({ digest: row.digest });
});

test('sweep: writes each group to run_groups.csv, equal to a single run', async () => {
  const rows = rowsIn(join(out, 'run_groups.csv'));
  expect(rows.map(({ cell, replicate, group }) => `${cell}/${replicate} ${group}`)).toEqual(
    [1, 2, 3, 4].flatMap((cell) => [1, 2, 3].map((replicate) => `${cell}/${replicate} town`)),
  );
  const alone = join(temporaryFolder(), 'alone');
  const set = ['--set', 'agents.town.count=6', '--set', 'consensus.policy=bft'];
  await folkmoot(['sim', file, '--seed', 'a/2', ...set, '--out', alone]);
  const [group] = rowsIn(join(alone, 'groups.csv'));
  expect(rows.find((r) => r.cell === '3' && r.replicate === '2')).toMatchObject(group!);
});

test('sweep: records the configuration and version in sweep.json', () => {
  const head = JSON.parse(readFileSync(join(out, 'sweep.json'), 'utf8'));
  expect(head).toMatchObject({ format: 3, node: process.version, cells: 4, runs: 12, modules: {} });
  expect(head.scenario).toMatchObject({ title: 'a small town', sweep: { replicates: 3 } });
});

const refused = async (sweep: object, message: RegExp) => {
  const folder = temporaryFolder();
  const bad = writeScenario(folder, { ...smallRaw(), sweep });
  const result = await sweepIn(bad, join(folder, 'out'));
  expect(result.code, result.stderr).toBe(2);
  expectOneLine(result);
  expect(result.stderr).toMatch(message);
  expect([...filesIn(folder).keys()]).toEqual(['town.yaml']);
};

test.each([
  ['an unknown path', { path: 'agents.town.luck', values: [1] }, /town\.luck=1.*agents\.0\.luck/],
  ['an unknown group', { path: 'agents.city.count', values: [1] }, /agents\.city\.count.*town/],
  ['a bad value', { path: 'consensus.policy', values: ['bft', 'luck'] }, /cell 2.*policy=luck/],
  ['too few electors', { path: 'consensus.min_validators', values: [6, 7] }, /cell 2.*=7/],
  ['no values', { path: 'consensus.policy' }, /has no values/],
])('sweep: %s', (_, factor, message) => refused({ factors: [factor] }, message));

test('sweep: refuses too many cells', () => {
  const values = Array.from({ length: 1_000 }, (_, index) => index);
  const many = ['links.latency.mean_ms', 'links.latency.spread_ms'];
  return refused({ factors: many.map((path) => ({ path, values })) }, /1000000 cells/);
});

test('sweep: refuses a scenario without a sweep', async () => {
  const folder = temporaryFolder();
  const result = await sweepIn(writeScenario(folder, smallRaw()), join(folder, 'out'));
  expect([result.code, result.stderr]).toEqual([2, expect.stringMatching(/sweep is missing/)]);
});

/** The script throws in the second of three cells. */
function failing(folder: string): string {
  const text = `export function vote(view) {
    if (view.parameters.mood === 2) throw new Error('in a bad mood');
    return { do: 'vote', decision: 'approve' };
  }`;
  writeFileSync(join(folder, 'moody.mjs'), text);
  const strategy = { kind: 'script', module: 'moody.mjs', parameters: { mood: 1 } };
  const [town] = smallRaw().agents;
  const path = 'agents.town.strategy.parameters.mood';
  const sweep = { factors: [{ path, name: 'mood', values: [1, 2, 3] }], replicates: 2 };
  return writeScenario(folder, { ...smallRaw(), agents: [{ ...town, strategy }], sweep });
}

test('sweep: stops with a command that reproduces the failure', async () => {
  const folder = temporaryFolder();
  const moody = failing(folder);
  const kept = join(folder, 'out');
  const stopped = await sweepIn(moody, kept);
  expect(stopped.code, stopped.stderr).toBe(2);
  const [what, how, further] = linesOf(stopped.stderr).slice(-3);
  expect(what).toMatch(
    /^folkmoot: run 1 of cell 2 failed, .*moody\.mjs: vote for agent .*: in a bad mood/,
  );
  const set = '--set agents.town.strategy.parameters.mood=2';
  expect(how).toMatch(/^to reproduce: node \S*dist\/cli\/main\.js sim /);
  expect(how).toContain(` sim ${moody} --seed 1/1 ${set}`);
  expect(further).toMatch(/--resume --on-error continue/);
  expect(runsIn(kept)).toBeLessThan(6);
  expect([...filesIn(kept).keys()]).not.toContain('runs.csv');
  const alone = spawnSync('sh', ['-c', how!.replace('to reproduce: ', '')], { encoding: 'utf8' });
  expect([alone.status, alone.stderr]).toEqual([2, expect.stringMatching(/in a bad mood/)]);

  const past = await sweepIn(moody, kept, '--resume', '--on-error', 'continue');
  expect(past.code).toBe(2);
  expect(past.stdout).toMatch(/6 of 6 runs completed: 4 pass, 2 error/);
  const fresh = join(folder, 'fresh');
  await sweepIn(moody, fresh, '--on-error', 'continue');
  expectSame(kept, fresh);
});

test('sweep: continues, and records failed runs in the tables', async () => {
  const folder = temporaryFolder();
  const kept = join(folder, 'out');
  const { code, stdout } = await sweepIn(failing(folder), kept, '--on-error', 'continue', '--json');
  expect(code).toBe(2);
  expect(JSON.parse(stdout)).toMatchObject({
    ...{ completed: 6, finished: true, verdicts: { pass: 4, error: 2 } },
    failed: { cell: 2, replicate: 1, kind: 'scenario', seed: '1/1' },
  });
  const rows = rowsIn(join(kept, 'runs.csv'));
  expect(rows.map(({ verdict }) => verdict)).toEqual([
    ...['pass', 'pass', 'error', 'error', 'pass', 'pass'],
  ]);
  expect([rows[2]!.digest, rows[2]!.votes]).toEqual(['', '']);
  const summary = rowsIn(join(kept, 'summary.csv')).filter(({ measure }) => measure === 'votes');
  expect(summary.map(({ n }) => n)).toEqual(['2', '0', '2']);
});

test.each(['grid', 'list'])('sweep: names what changed no run of a %s', async (design) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'own.mjs'), 'export const report = () => ({ own: 1 });');
  const strategy = { kind: 'script', module: 'own.mjs', parameters: { unread: 1 } };
  const never = { measure: 'votes', at_least: 100_000 };
  const factors = [
    { path: 'agents.town.strategy.parameters.unread', name: 'unread', values: [1, 2] },
    ...(design === 'grid' ? [{ path: 'links.loss', values: [0, 0.5] }] : []),
  ];
  const given = writeScenario(folder, {
    ...smallRaw(),
    agents: [{ ...smallRaw().agents[0], strategy }],
    length: { blocks: 2, until: never },
    interventions: [
      { kind: 'silence', whom: [{ group: 'town' }], at_condition: never },
      { kind: 'silence', whom: [{ agent: 5 }], at_ms: 10_000 },
      { kind: 'silence', whom: [{ agent: 4 }], at_ms: 10_000, acts: false },
    ],
    sweep: { design, factors, replicates: 2 },
  });
  const { code, stdout, stderr } = await sweepIn(given, join(folder, 'out'), '--json');
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout).without_effect).toMatchObject([
    { path: 'agents.town.strategy.parameters.unread', reason: 'same_runs' },
    { path: 'interventions.0', reason: 'never_met' },
    { path: 'length.until', reason: 'never_met' },
  ]);
  expect(linesOf(stderr).filter((line) => line.startsWith('folkmoot: note:'))).toHaveLength(3);
  expect(JSON.parse((await folkmoot(['sim', given, '--json'])).stdout).censored).toEqual(
    ['interventions.0', 'length.until'].map((path) => expect.stringMatching(`^${path} `)),
  );
});

test('sweep: runs whose scripts leave nothing behind share a process', async () => {
  const folder = temporaryFolder();
  const count = join(folder, 'processes.txt');
  const hook = join(folder, 'hook.cjs');
  writeFileSync(hook, `require('fs').appendFileSync(${JSON.stringify(count)}, '.');`);
  const started = async (head: string, name: string) => {
    writeFileSync(count, '');
    const vote = "export const vote = () => ({ do: 'vote', decision: 'approve' });";
    writeFileSync(join(folder, name), `${head}\n${vote}`);
    const [town] = smallRaw().agents;
    const agents = [{ ...town, strategy: { kind: 'script', module: name } }];
    const spread = [{ path: 'links.loss', name: 'loss', values: [0, 0.1] }];
    const sweep = { factors: spread, replicates: 2 };
    const given = writeScenario(folder, { ...smallRaw(), agents, sweep }, `${name}.yaml`);
    const args = ['sweep', given, '--out', join(folder, `${name}.out`), '--jobs', '1'];
    const { code, stderr } = await folkmoot(args, { env: { NODE_OPTIONS: `--require ${hook}` } });
    expect(code, stderr).toBe(0);
    return readFileSync(count, 'utf8').length;
  };
  // The command, and one process for both runs of the check and the four runs.
  expect(await started('', 'plain.mjs')).toBe(2);
  expect(await started('type Own = string;', 'typed.ts')).toBe(2);
  // The command, and one process for each run.
  expect(await started("import 'node:fs';", 'with-node.mjs')).toBe(7);
});

test.each([
  ['a match', "const left = () => /(a+)/.exec('a' + (RegExp.$1 || '')) && RegExp.$1.length;"],
  ['a prototype', 'const left = () => Object.setPrototypeOf(Math, { n: (Math.n ?? 0) + 1 }).n;'],
  ['a function of rng', 'const left = (rng) => (rng.int.n = (rng.int.n ?? 0) + 1);'],
  [
    'a part of Node.js',
    "const os = require('node:' + 'os'); const left = () => (os.n = (os.n ?? 0) + 1);",
  ],
  [
    'an iterator',
    "const of = Object.getPrototypeOf(''[Symbol.iterator]());\n" +
      'const left = () => (of.n = (of.n ?? 0) + 1);',
  ],
  [
    'an order of names',
    'const left = () => {\n' +
      '  const [name] = Object.getOwnPropertyNames(Math);\n' +
      '  const kept = Object.getOwnPropertyDescriptor(Math, name);\n' +
      '  delete Math[name];\n' +
      '  Object.defineProperty(Math, name, kept);\n' +
      "  return name === 'abs' ? 1 : 9;\n" +
      '};',
  ],
])('sweep: a script that leaves %s behind gets a process for each run', async (_, head) => {
  const folder = temporaryFolder();
  const vote = `({ do: 'vote', decision: left(rng) < 4 ? 'approve' : 'reject' })`;
  writeFileSync(join(folder, 'own.mjs'), `${head}\nexport const vote = (_, rng) => ${vote};\n`);
  const strategy = { kind: 'script', module: 'own.mjs' };
  const agents = [{ ...smallRaw().agents[0], strategy }];
  const sweep = { factors: [{ path: 'links.loss', values: [0, 0.1] }], replicates: 1 };
  const given = writeScenario(folder, { ...smallRaw(), agents, sweep });
  const { code, stderr } = await sweepIn(given, join(folder, 'out'));
  expect(code, stderr).toBe(0);
});
