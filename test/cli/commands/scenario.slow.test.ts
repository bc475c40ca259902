/** `folkmoot scenario`, and naming shipped scenarios where a file is expected. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadScenario, shippedScenarios } from 'folkmoot/sim';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { folkmoot, simJson } from '../../support/cli.js';
import { temporaryFolder } from '../../support/fixture.js';
import { linesOf } from '../../support/runs.js';

test('scenario list: every shipped one with title, question and path', async () => {
  const { code, stdout } = await folkmoot(['scenario', 'list', '--json']);
  expect(code).toBe(0);
  const all = JSON.parse(stdout) as {
    name: string;
    title: string;
    question: string;
    path: string;
  }[];
  expect(all.map(({ name }) => name)).toEqual(shippedScenarios().map(({ name }) => name));
  const { stdout: text } = await folkmoot(['scenario', 'list']);
  for (const { name, title, question, path } of all) {
    expect(existsSync(path)).toBe(true);
    expect(text).toContain(`${name}: ${title}\n  ${question}\n  ${path}\n`);
  }
});

test('scenario show: everything filled in, as YAML and as JSON, with changes', async () => {
  const set = ['--set', 'agents.adversaries.share=0.4', '--set', 'consensus.policy=veto'];
  const { code, stdout } = await folkmoot(['scenario', 'show', 'byzantine', ...set]);
  expect(code).toBe(0);
  const json = await folkmoot(['scenario', 'show', 'byzantine', '--json', ...set]);
  expect(linesOf(json.stdout)).toHaveLength(1);
  const shown = JSON.parse(json.stdout) as object;
  expect(parse(stdout)).toEqual(shown);
  const { scenario } = loadScenario('byzantine');
  expect(shown).toMatchObject({
    population: 60,
    links: scenario.links,
    consensus: { policy: 'veto' },
  });
  expect(shown).toMatchObject({ agents: [{}, { group: 'adversaries', share: 0.4 }] });
});

test('scenario show: what it prints is a scenario with the same digest', async () => {
  const file = join(temporaryFolder(), 'town.yaml');
  writeFileSync(file, (await folkmoot(['scenario', 'show', 'byzantine'])).stdout);
  const few = ['--blocks', '3'];
  const { json } = await simJson(file, ...few);
  expect(json.digest).toBe((await simJson('byzantine', ...few)).json.digest);
});

test('scenario check: all shipped ones are fine', async () => {
  const names = shippedScenarios().map(({ name }) => name);
  const { code, stdout } = await folkmoot(['scenario', 'check', ...names]);
  expect(code).toBe(0);
  const lines = linesOf(stdout);
  for (const [at, name] of names.entries()) expect(lines[at]).toMatch(new RegExp(`^ok ${name}: `));
});

test('scenario: a file of that name comes before the shipped one, a folder does not', () => {
  const folder = temporaryFolder();
  const before = process.cwd();
  process.chdir(folder);
  try {
    mkdirSync('byzantine');
    expect(loadScenario('byzantine').scenario.population).toBe(60);
    writeFileSync('two-blocs', 'title: mine\nagents: [{ group: a, count: 2, producers: 1 }]\n');
    expect(loadScenario('two-blocs').scenario.title).toBe('mine');
  } finally {
    process.chdir(before);
  }
});
