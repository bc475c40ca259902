/** `folkmoot scenario`, and names of shipped scenarios in place of files. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadScenario, shippedScenarios } from 'folkmoot/sim';
import { parse } from 'yaml';
import { folkmoot } from '../../support/cli.js';
import { simJson } from '../../support/command.js';
import { temporaryFolder } from '../../support/fixture.js';
import { linesOf } from '../../support/runs.js';

test('scenario list: prints title, question and path of every shipped scenario', async () => {
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

test('scenario show: prints all defaults and changes, as YAML and as JSON', async () => {
  const set = ['--set', 'agents.adversaries.share=0.4', '--set', 'consensus.policy=veto'];
  const { code, stdout } = await folkmoot(['scenario', 'show', 'byzantine', ...set]);
  expect(code).toBe(0);
  const json = await folkmoot(['scenario', 'show', 'byzantine', '--json', ...set]);
  expect(linesOf(json.stdout)).toHaveLength(1);
  const shown = JSON.parse(json.stdout) as object;
  expect(parse(stdout)).toEqual(shown);
  const { scenario } = loadScenario('byzantine');
  expect(shown).toMatchObject({
    ...{ population: 60, links: scenario.links, consensus: { policy: 'veto' } },
  });
  expect(shown).toMatchObject({ agents: [{}, { group: 'adversaries', share: 0.4 }] });
});

test('scenario show: prints a scenario that gives the same digest', async () => {
  const file = join(temporaryFolder(), 'town.yaml');
  writeFileSync(file, (await folkmoot(['scenario', 'show', 'byzantine'])).stdout);
  const few = ['--blocks', '3'];
  const { json } = await simJson(file, ...few);
  expect(json.digest).toBe((await simJson('byzantine', ...few)).json.digest);
});

test('scenario check: accepts all shipped scenarios', async () => {
  const names = shippedScenarios().map(({ name }) => name);
  const { code, stdout } = await folkmoot(['scenario', 'check', ...names]);
  expect(code).toBe(0);
  const lines = linesOf(stdout);
  for (const [at, name] of names.entries()) expect(lines[at]).toMatch(new RegExp(`^ok ${name}: `));
});

const town = {
  title: 'town',
  agents: [
    { group: 'town', count: 4, producers: 1 },
    { group: 'guests', count: 1, strategy: { kind: 'script', module: 'fine.mjs' } },
  ],
  length: { blocks: 1 },
};

/** Runs `scenario check` on a scenario in the same folder as a valid and an invalid script. */
async function checked(members: object) {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'fine.mjs'), 'export const vote = () => null;');
  writeFileSync(join(folder, 'broken.mjs'), 'export const vote = 3;');
  writeFileSync(join(folder, 'town.json'), JSON.stringify({ ...town, ...members }));
  return folkmoot(['scenario', 'check', join(folder, 'town.json')]);
}

test.each([
  ['a path', { factors: [{ path: 'no.such', values: [1] }] }, 'no.such'],
  ['a value', { factors: [{ path: 'consensus.policy', values: ['bft', 'maj'] }] }, 'cell 2'],
  [
    'a baseline',
    { factors: [{ path: 'links.loss', name: 'loss', values: [0] }], baseline: { loss: 1 } },
    'baseline',
  ],
  [
    'a response',
    { factors: [{ path: 'links.loss', values: [0] }], responses: ['no'] },
    'sweep.responses: ',
  ],
  [
    'a script',
    { factors: [{ path: 'agents.guests.strategy.module', values: ['fine.mjs', 'broken.mjs'] }] },
    'broken.mjs: ',
  ],
])('scenario check: refuses a sweep with an error in %s', async (_, sweep, named) => {
  const { code, stdout } = await checked({ sweep });
  expect(stdout).toMatch(/^bad .*town\.json/);
  expect(stdout).toContain(named);
  expect(code).toBe(2);
});

test('scenario check: refuses an intervention with a broken script', async () => {
  const strategy = { kind: 'script', module: 'broken.mjs' };
  const one = { kind: 'strategy', at_ms: 1, whom: [{ group: 'town' }], strategy };
  const { code, stdout } = await checked({ interventions: [one] });
  expect(stdout).toMatch(/^bad .*broken\.mjs/);
  expect(code).toBe(2);
});

test('scenario: a file takes precedence over a shipped scenario, a folder does not', () => {
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
