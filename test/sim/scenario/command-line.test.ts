/** The command line reports errors of scenarios and scripts in one line, with an exit code. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scenarioJsonSchema } from 'folkmoot/sim';
import { runCommand } from '../../support/command.js';
import { temporaryFolder } from '../../support/fixture.js';
import { linesOf } from '../../support/runs.js';
import { fileOf, town, wrong } from './wrong.js';

test('scenario schema: prints the schema', async () => {
  const { code, stdout } = await runCommand(['scenario', 'schema']);
  expect([code, JSON.parse(stdout)]).toEqual([0, JSON.parse(JSON.stringify(scenarioJsonSchema()))]);
});

test('scenario check: prints a line per file, and exits with 2 if one is invalid', async () => {
  const good = fileOf(town);
  const files = wrong.slice(0, 12).map(([, text]) => fileOf(text));
  const { code, stdout, stderr } = await runCommand([
    ...['scenario', 'check', good, ...files, 'nowhere'],
  ]);
  expect([code, stderr]).toEqual([2, '']);
  const lines = linesOf(stdout);
  expect(lines).toHaveLength(14);
  expect(lines[0]).toBe(`ok ${good}: t (4 agents)`);
  for (const [at, file] of files.entries()) expect(lines[at + 1]).toContain(`bad ${file}:`);
  expect(lines[13]).toMatch(/^bad .*nowhere.*byzantine/);
});

test('sim: reports an invalid scenario in one line, and exits with 2', async () => {
  const { code, stdout, stderr } = await runCommand(['sim', fileOf(`${town}colour: red\n`)]);
  expect([code, stdout]).toEqual([2, '']);
  expect(linesOf(stderr)).toEqual([expect.stringMatching(/^folkmoot: .*town.yaml:6: colour /)]);
});

test('script: reports function and agent of an error, and exits with 2', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'own.ts'), 'export const vote = () => (42);');
  const file = join(folder, 'town.yaml');
  const own = '  - { group: own, count: 2, strategy: { kind: script, module: own.ts } }\n';
  writeFileSync(file, `title: t\nagents:\n  - { group: a, count: 4, producers: 1 }\n${own}`);
  const { code, stderr } = await runCommand(['sim', file]);
  const [, line, ...more] = linesOf(stderr);
  expect([code, more]).toEqual([2, []]);
  expect(line).toMatch(/^folkmoot: script own\.ts: vote for agent \w+-\d: .*42/);
});
