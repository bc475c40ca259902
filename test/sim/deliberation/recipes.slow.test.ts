/** The example with a mock server, a sweep of deliberations, and a swap of a model in a fork. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folkmoot } from '../../support/cli.js';
import { simJson } from '../../support/command.js';
import { temporaryFolder } from '../../support/fixture.js';
import { mockModel } from '../../support/mock-model.js';
import { root } from '../../support/paths.js';
import { csvRows } from '../../support/runs.js';
import { group, scenarioOf } from './fixture.js';

test('recipes: the example debates with a mock server, and repeats offline', async () => {
  const url = `${await mockModel()}/chat/completions`;
  const file = join(root, 'examples/deciders/debate.yaml');
  const out = join(temporaryFolder(), 'run');
  const at = ['--set', `agents.debaters.strategy.url=${url}`];
  const { json } = await simJson(file, ...at, '--record', '--out', out);
  const { questions, calls, failures, input_tokens } = json.deciders!;
  expect([failures, calls]).toEqual([{}, questions]);
  expect(input_tokens).toBeGreaterThan(0);
  const rows = csvRows(join(out, 'calls.csv'));
  expect(rows.map(({ kind }) => kind)).toEqual(Array(questions).fill('deliberate'));
  expect(rows.reduce((sum, row) => sum + Number(row.input_tokens), 0)).toBe(input_tokens);
  expect(new Set(rows.map(({ block }) => block))).toEqual(new Set(['0', '1']));
  const tokens = rows.filter(({ agent, block }) => agent === '0' && block === '0');
  const sum = tokens.reduce((all, one) => all + Number(one.input_tokens) + 20, 0);
  const report = readFileSync(join(out, 'report.html'), 'utf8');
  expect(report).toMatch(new RegExp(`0 debaters</th>.*>${sum}</td></tr>`));
  const samples = csvRows(join(out, 'samples.csv'));
  expect(samples.map(({ question }) => question)).toEqual([
    'Is 91 a prime number?',
    'Is 97 a prime number?',
  ]);
  expect(samples.map(({ outcome, statements }) => [outcome, statements])).toEqual([
    ['valid', '15'],
    ['valid', '15'],
  ]);
  const again = await simJson(file, ...at, '--cassette', out);
  expect(again.json.digest).toBe(json.digest);
});

test('recipes: a sweep takes measures of deliberations as responses', async () => {
  const out = join(temporaryFolder(), 'sweep');
  const set = ['--set', 'sweep.replicates=2', '--set', 'length.blocks=10'];
  const { code } = await folkmoot(['sweep', 'jury', ...set, '--out', out]);
  expect(code).toBe(0);
  const rows = csvRows(join(out, 'summary.csv'));
  const means = rows.filter(({ measure }) => measure === 'reported.accuracy_first');
  expect(means.length).toBe(9);
  for (const { mean, p } of means) expect(Math.abs(Number(mean) - Number(p))).toBeLessThan(0.3);
});

test('recipes: a fork replaces the model of one agent, and all before it is the same', async () => {
  const folder = temporaryFolder();
  const five = group('five', 5, { model: 'majority', p: 0.9 });
  const file = join(folder, 'debate.json');
  const scenario = scenarioOf([five], { rounds: 2 }, { length: { blocks: 6 } });
  writeFileSync(file, JSON.stringify(scenario));
  const run = join(folder, 'run');
  await simJson(file, '--out', run);
  const other = structuredClone(scenario);
  other.interventions.push({
    ...{ kind: 'strategy', at_ms: 20_000, whom: [{ agent: 2 }] },
    strategy: { ...other.agents[0]!.strategy, model: 'stubborn', value: 'reject' },
  } as never);
  writeFileSync(file, JSON.stringify(other));
  const swapped = join(folder, 'swapped');
  await simJson(file, '--out', swapped);
  const [before, after] = [run, swapped].map((path) => csvRows(join(path, 'statements.csv')));
  const early = (rows: Record<string, string>[]) =>
    rows.filter(({ at_ms }) => Number(at_ms) < 20_000);
  expect(early(after!)).toEqual(early(before!));
  const late = after!.filter(({ agent, at_ms }) => agent === '2' && Number(at_ms) > 20_000);
  expect(late.length).toBeGreaterThan(0);
  expect(new Set(late.map(({ value }) => value))).toEqual(new Set(['"reject"']));
  expect(readFileSync(join(swapped, 'report.html'), 'utf8')).toContain('Transcript');
});
