/** Killed, interrupted or disturbed sweeps lose nothing, and the output is the same. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expectOneLine } from '../../support/command.js';
import { counts } from '../../support/counts.js';
import { temporaryFolder } from '../../support/fixture.js';
import { begin } from '../../support/running-command.js';
import { copyOf, suiteFolder } from '../../support/runs.js';
import { seed } from '../../support/seeded.js';
import { drawn, expectSame, filesIn, killed, runsIn, sweepIn } from './folders.js';
import { smallRaw, writeScenario } from './scenarios.js';

const sweep = { factors: [{ path: 'links.loss', values: [0, 0.1, 0.2] }], replicates: 2 };
const RUNS = 6;
const around = suiteFolder();
const file = writeScenario(around, { ...smallRaw(), sweep });
const unbroken = join(around, 'unbroken');

beforeAll(async () => {
  expect((await sweepIn(file, unbroken)).code).toBe(0);
});

const inTwo = (out: string) => ['sweep', file, '--out', out, '--jobs', '2', '--resume'];

describe(`sweep: killed, seed ${seed}`, () => {
  // Three changes per run and some for the folder and tables. A kill may come too late.
  const most = 3 * RUNS + 12;

  test.each(
    drawn(counts.killedSweeps, most),
  )('sweep: resumes to the same files after two kills, the first at change %i', async (at) => {
    const out = join(temporaryFolder(), 'out');
    for (const changes of [at, Math.ceil(at / 2)]) await killed(out, changes, inTwo(out));
    const { code, stderr } = await sweepIn(file, out, '--resume');
    expect(code, stderr).toBe(0);
    expectSame(unbroken, out);
  });
});

test('sweep: stops on SIGINT and can be resumed', async () => {
  const out = join(temporaryFolder(), 'out');
  const sweeping = begin(inTwo(out), /^1\/6 runs/);
  await sweeping.printed(/^1\/6 runs/m);
  expect(await sweeping.stop('SIGINT')).toEqual({ code: null, signal: 'SIGINT' });
  expect(sweeping.stderr()).toMatch(/interrupted; .*--resume.*\n$/);
  const kept = runsIn(out);
  expect(kept).toBeLessThan(RUNS);
  const resumed = await sweepIn(file, out, '--resume');
  expect(resumed.stderr).toMatch(new RegExp(`^${kept}/${RUNS} runs$`, 'm'));
  expectSame(unbroken, out);
});

test('sweep: leaves a finished sweep unchanged on --resume', async () => {
  const before = filesIn(unbroken);
  expect((await sweepIn(file, unbroken, '--resume')).code).toBe(0);
  expect(filesIn(unbroken)).toEqual(before);
});

async function refused(changed: string, out: string, message: RegExp, ...args: string[]) {
  const before = filesIn(out);
  const result = await sweepIn(changed, out, ...args);
  expect(result.code, result.stderr).toBe(2);
  expectOneLine(result, 1);
  expect(result.stderr).toMatch(message);
  expect(filesIn(out)).toEqual(before);
}

test('sweep: requires --resume for an existing sweep', () => refused(file, unbroken, /--resume/));

test('sweep: refuses fewer replicates', () =>
  refused(file, unbroken, /replicates is 2 there and 1 now/, '--resume', '--replicates', '1'));

test('sweep: refuses another seed', () =>
  refused(file, unbroken, /scenario\.seed is "1" there and "2" now/, '--resume', '--seed', '2'));

test('sweep: refuses a changed file', () => {
  const changed = { ...smallRaw(), consensus: { voting_period_ms: 5_001 }, sweep };
  const other = writeScenario(temporaryFolder(), changed);
  return refused(other, unbroken, /voting_period_ms is 5000 there and 5001 now/, '--resume');
});

test('sweep: refuses a changed script', async () => {
  const folder = temporaryFolder();
  const script = join(folder, 'script.mjs');
  const text = "export const vote = () => ({ do: 'vote', decision: 'approve' });";
  writeFileSync(script, text);
  const [town] = smallRaw().agents;
  const agents = [{ ...town, strategy: { kind: 'script', module: 'script.mjs' } }];
  const own = writeScenario(folder, { ...smallRaw(), agents, sweep: { ...sweep, replicates: 1 } });
  const out = join(folder, 'out');
  expect((await sweepIn(own, out)).code).toBe(0);
  writeFileSync(script, `${text}\n`);
  await refused(own, out, /modules\.script\.mjs is "[0-9a-f]{64}" there/, '--resume');
});

test('sweep: locks its folder', async () => {
  const out = join(temporaryFolder(), 'out');
  // The first process is paused while it holds the lock.
  const first = begin(['sweep', file, '--out', out, '--jobs', '1'], /^2\/6 runs/);
  await first.printed(/^2\/6 runs/m);
  const second = await sweepIn(file, out, '--resume');
  first.goOn();
  expect(second.code).toBe(2);
  expect(second.stderr).toMatch(new RegExp(`: ${out}$`, 'm'));
  expect(await first.ended).toEqual({ code: 0, signal: null });
  expectSame(unbroken, out);
});

test('sweep: repeats a run whose file is missing', async () => {
  const out = join(temporaryFolder(), 'out');
  await sweepIn(file, out);
  const runs = readdirSync(join(out, 'runs')).map((name) => `runs/${name}`);
  for (const lost of [runs[0]!, runs[5]!, 'runs.csv']) rmSync(join(out, lost));
  expect((await sweepIn(file, out, '--resume')).code).toBe(0);
  expectSame(unbroken, out);
});

test.each([
  ['null', 'null'],
  ['a list', '[]'],
  ['another run', null],
  ['deeply nested', `{"values":${'['.repeat(300_000)}${']'.repeat(300_000)}}`],
  ['a deeply nested value', null],
])('sweep --resume: refuses a record that is %s', async (what, text) => {
  const out = copyOf(unbroken, 'out');
  const [first, second] = readdirSync(join(out, 'runs')).sort();
  const path = join(out, 'runs', first!);
  const record = JSON.parse(readFileSync(path, 'utf8'));
  const nested = `${'['.repeat(300_000)}${']'.repeat(300_000)}`;
  const other =
    what === 'another run'
      ? readFileSync(join(out, 'runs', second!), 'utf8')
      : JSON.stringify({ ...record, values: { 'links.loss': 0, more: 1 } }).replace(
          '"more":1',
          `"more":${nested}`,
        );
  writeFileSync(path, text ?? other);
  const ended = await sweepIn(file, out, '--resume');
  expect([ended.code, ended.stderr]).toEqual([13, expect.stringContaining(path)]);
  expectOneLine({ ...ended, stderr: ended.stderr.split('\n').slice(1).join('\n') });
});
