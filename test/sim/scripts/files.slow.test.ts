/** Scripts run only from the folder of the given scenario file; `check` lists them. */
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { folkmoot } from '../../support/cli.js';
import { temporaryFolder } from '../../support/fixture.js';
import { linesOf } from '../../support/runs.js';

const script = (leaves: string) =>
  `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(leaves)}, '');\n` +
  "export const vote = () => ({ do: 'vote', decision: 'approve' });\n";

/** A town whose script would write a file if it ran. */
function town(): { inside: string; outside: string; mark: string; file(module: string): string } {
  const folder = temporaryFolder();
  const [inside, outside] = [join(folder, 'town'), join(folder, 'outside')];
  mkdirSync(inside);
  mkdirSync(outside);
  const mark = join(folder, 'ran');
  writeFileSync(join(outside, 'own.mjs'), script(mark));
  return {
    inside,
    outside,
    mark,
    file(module) {
      const path = join(inside, 'town.yaml');
      const own = `{ group: own, count: 3, strategy: { kind: script, module: '${module}' } }`;
      const lines = [
        ...['title: t', 'agents:', '  - { group: a, count: 4, producers: 1 }', `  - ${own}`],
      ];
      writeFileSync(path, [...lines, 'length: { blocks: 1 }', ''].join('\n'));
      return path;
    },
  };
}

test.each<[string, (at: ReturnType<typeof town>) => string]>([
  ['above the folder', () => '../outside/own.mjs'],
  ['outside by way of a subfolder', () => 'x/../../outside/own.mjs'],
  ['at an absolute path', ({ outside }) => join(outside, 'own.mjs')],
  ['on another drive', () => 'C:\\own.mjs'],
  ['at a URL', ({ outside }) => pathToFileURL(join(outside, 'own.mjs')).href],
  ['on a server', () => 'https://example.org/own.mjs'],
  ['in a data URL', () => 'data:text/javascript,export const vote = 1'],
  [
    'behind a link',
    ({ inside, outside }) => {
      symlinkSync(join(outside, 'own.mjs'), join(inside, 'own.mjs'));
      return 'own.mjs';
    },
  ],
  [
    'behind a link to a folder',
    ({ inside, outside }) => {
      symlinkSync(outside, join(inside, 'lib'));
      return 'lib/own.mjs';
    },
  ],
  ['that is a folder', () => '.'],
])('script: refuses a script %s without running it', async (what, make) => {
  const at = town();
  const file = at.file(make(at));
  const others = [
    ['sim', file],
    ['sim', file, '--url', 'http://127.0.0.1:9'],
    ['serve', '--scenario', file, '--port', '0', '--data', join(at.inside, 'data')],
  ];
  for (const args of [['scenario', 'check', file], ...(what === 'behind a link' ? others : [])]) {
    const { code, stdout, stderr } = await folkmoot(args);
    expect(code, stderr).toBe(2);
    expect(`${stdout}${stderr}`).toMatch(/agents\.1\.strategy\.module is /);
    expect(existsSync(at.mark)).toBe(false);
  }
});

test('scenario check: lists the scripts that it runs; --no-scripts runs none', async () => {
  const at = town();
  mkdirSync(join(at.inside, 'lib'));
  writeFileSync(join(at.inside, 'lib/own.mjs'), script(at.mark));
  const file = at.file('lib/own.mjs');
  const left = await folkmoot(['scenario', 'check', '--no-scripts', file]);
  expect([left.code, existsSync(at.mark)]).toEqual([0, false]);
  expect(left.stderr).toBe(`${file}: not loading lib/own.mjs in ${at.inside}\n`);
  const ran = await folkmoot(['scenario', 'check', file]);
  expect([ran.code, existsSync(at.mark)]).toEqual([0, true]);
  expect(ran.stderr).toBe(`${file}: loading lib/own.mjs in ${at.inside}\n`);
  expect(linesOf(ran.stdout)).toEqual([`ok ${file}: t (7 agents)`]);
});

test('sim --set: names the invalid change, or the file and its line', async () => {
  const file = join(temporaryFolder(), 'town.yaml');
  writeFileSync(file, 'title: t\nagents:\n  - { group: a, count: 4, producers: 1 }\n');
  const told = async (...sets: string[]) => {
    const { code, stderr } = await folkmoot(['sim', file, ...sets.flatMap((o) => ['--set', o])]);
    expect(code).toBe(2);
    return stderr;
  };
  expect(await told('seed=x', 'population=3')).toMatch(
    /^folkmoot: --set population: .*\b4\b.*\b3\b/,
  );
  expect(await told('agents.a.count=x', 'seed=y')).toMatch(/^folkmoot: --set agents\.a\.count: /);
  writeFileSync(file, 'title: t\npopulation: 3\nagents:\n  - { group: a, count: 4 }\n');
  expect(await told('seed=x')).toMatch(/town\.yaml:3: .*\b4\b/);
});

test.each([
  ['a list', 'faults=[{"kind":"crash","start_ms":7,"length_ms":10,"whom":[{"count":2}]}]', /: 7$/m],
  ['an object', 'links={"loss":0.25}', /^ {2}loss: 0\.25$/m],
  ['a text with a bracket', 'title="[draft"', /^title: "\[draft"$/m],
  ['a text', 'title=draft {', /^title: draft \{$/m],
])('scenario show --set: accepts %s', async (_, set, shown) => {
  const file = join(temporaryFolder(), 'town.yaml');
  writeFileSync(file, 'title: t\nagents:\n  - { group: a, count: 4, producers: 1 }\n');
  const { code, stdout, stderr } = await folkmoot(['scenario', 'show', file, '--set', set]);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(shown);
});
