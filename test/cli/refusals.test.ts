/** Options and folders that a command refuses or reports as without effect. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { agentOf, live } from '../client/helpers.js';
import { type Ended, expectOneLine, runCommand } from '../support/command.js';
import { suiteFolder } from '../support/runs.js';

const root = suiteFolder();
const run = join(root, 'run');

beforeAll(async () => {
  const ended = await runCommand(['sim', '--agents', '12', '--blocks', '2', '--out', run]);
  expect(ended.code, ended.stderr).toBe(0);
});

/** Expects a usage error in one line that contains the parts, after `skip` lines of progress. */
function expectUsage(ended: Ended, parts: readonly string[], skip = 0): void {
  expectOneLine(ended, skip);
  expect(ended.code, ended.stderr).toBe(2);
  for (const part of parts) expect(ended.stderr).toContain(part);
}

test.each([
  [['load', '--fail-on', 'p99>>2'], '--fail-on: "p99>>2"'],
  [['load', '--fail-on', 'p98>2ms'], '--fail-on: "p98>2ms"'],
  [['load', '--saturate', '--slo', 'p99'], '--slo: "p99"'],
  [['load', 'compare', run, run, '--fail-on', 'p99>1'], '--fail-on: "p99>1"'],
])('%j: names the option of a condition', async (args, part) => {
  expectUsage(await runCommand(args), [part]);
});

test.each([
  [['compare', run], '<b> (second run)'],
  [['load', 'compare', run], '<b> (result to compare with the baseline)'],
  [['why', run], '<block> (block hash'],
  [['cluster', 'forget'], '<node> (node name)'],
  [['agent', 'ally', 'respond', '--key', 'k'], '<alliance> (alliance id'],
])('%j: describes the missing argument', async (args, part) => {
  const { code, stderr } = await runCommand(args);
  expect([code, stderr]).toEqual([2, expect.stringContaining(`missing argument: ${part}`)]);
});

test('sweep: refuses the folder of a run or a load run, and leaves it unchanged', async () => {
  const load = join(root, 'load');
  mkdirSync(load);
  writeFileSync(join(load, 'result.json'), '{}');
  for (const out of [run, load]) {
    const before = readdirSync(out);
    for (const more of [[], ['--resume']]) {
      const args = ['sweep', 'byzantine', '--replicates', '1', '--out', out, ...more];
      expectUsage(await runCommand(args), [out], 1);
      expect(readdirSync(out)).toEqual(before);
    }
  }
});

test('swarm: refuses the folder of a run or of a failure before its first run', async () => {
  const failure = join(root, 'failure');
  mkdirSync(failure);
  writeFileSync(join(failure, 'scenario.yaml'), 'title: kept\n');
  for (const out of [run, failure]) {
    const before = readdirSync(out);
    expectUsage(await runCommand(['swarm', '--seeds', '1', '--out', out]), [out]);
    expect(readdirSync(out)).toEqual(before);
  }
});

test('sim, load, conformance: refuse the folder of another output', async () => {
  const sweep = join(root, 'sweep');
  mkdirSync(sweep);
  writeFileSync(join(sweep, 'sweep.json'), '{}');
  expectUsage(await runCommand(['load', '--out', run, '--duration', '1s']), [run]);
  expectUsage(await runCommand(['load', '--out', sweep, '--duration', '1s']), [sweep]);
  expectUsage(await runCommand(['sim', '--agents', '12', '--out', sweep]), [sweep], 1);
  const suite = await runCommand(['conformance', '--out', sweep]);
  expect([suite.code, suite.stderr]).toEqual([2, expect.stringContaining(sweep)]);
  expect(readdirSync(sweep)).toEqual(['sweep.json']);
});

test('sim --check-determinism: refuses --out, because it saves no run', async () => {
  const out = join(root, 'twice');
  expectUsage(await runCommand(['sim', '--check-determinism', '--out', out]), ['--out']);
  expect(existsSync(out)).toBe(false);
});

test('sweep: an unknown response of until is refused with all measures', async () => {
  const until = ['--until-interval', '0.1', '--until-response', 'luck'];
  const ended = await runCommand(['sweep', 'byzantine', ...until, '--out', join(root, 'until')]);
  expectUsage(ended, ['sweep.until.response', 'luck', 'finalized_share', 'reported.NAME']);
});

const change = ['--intervention', '{ kind: silence, whom: [{ agent: 2 }], at_height: 1 }'];

test.each([
  ['sim', ['sim', '--agents', '12', '--blocks', '1', '--record']],
  ['sim', ['sim', '--agents', '12', '--blocks', '1', '--cassette', join(root, 'missing')]],
  ['sweep', ['sweep', 'byzantine', '--record', '--out', run]],
  ['sweep', ['sweep', 'byzantine', '--cassette', join(root, 'missing'), '--out', run]],
  ['fork', ['fork', run, '--record', ...change, '--out', run]],
])('%s: notes decider options for a scenario without deciders: %j', async (_, args) => {
  const { stderr } = await runCommand(args);
  expect(stderr.match(/^folkmoot: note: .*--record and --cassette .*/gm)).toHaveLength(1);
});

test('certify: refuses --through an entry before the end of the block', async () => {
  const ended = await runCommand(['certify', run, '1', '--through', '3']);
  expectUsage(ended, ['entry 3']);
  const named = /entry (\d+) or a later one/.exec(ended.stderr)![1]!;
  const done = await runCommand(['certify', run, '1', '--through', named]);
  expect([done.code, done.stderr]).toEqual([0, '']);
});

test('agent watch: refuses --since after the last event', async () => {
  const { url } = await live();
  const key = join(root, 'ada.json');
  expect((await runCommand(['keygen', '--out', key])).code).toBe(0);
  const agent = (...args: string[]) => runCommand(['agent', ...args, '--url', url, '--key', key]);
  expect((await agent('register', '--name', 'Ada')).code).toBe(0);
  const { last_seq: last } = await (await agentOf(url, 2)).eventPage();
  const beyond = await agent('watch', '--since', String(last + 1), '--count', '1');
  expectUsage(beyond, [`--since: ${last + 1}`, String(last)]);
  const within = await agent('watch', '--since', String(last - 1), '--count', '1');
  expect([within.code, within.stderr]).toEqual([0, '']);
  expect(JSON.parse(within.stdout).seq).toBe(last);
});
