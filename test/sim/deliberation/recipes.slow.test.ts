/** The example with a mock server, and a sweep of deliberations. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { folkmoot } from '../../support/cli.js';
import { simJson } from '../../support/command.js';
import { temporaryFolder } from '../../support/fixture.js';
import { mockModel } from '../../support/mock-model.js';
import { root } from '../../support/paths.js';
import { csvRows } from '../../support/runs.js';

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
  expect(report).toContain('Transcript');
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
  expect((await simJson(file, ...at, '--cassette', out)).json.digest).toBe(json.digest);
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
