/** `scenario check` checks TypeScript scripts against the types of folkmoot/sim. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folkmoot } from '../../support/cli.js';
import { temporaryFolder } from '../../support/fixture.js';
import { linesOf } from '../../support/runs.js';

function town(text: string, module = 'lib/own.ts'): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'lib'));
  writeFileSync(join(folder, module), text);
  const file = join(folder, 'town.yaml');
  const strategy = `{ kind: script, module: ${module} }`;
  const groups = [
    '{ group: a, count: 4, producers: 1 }',
    `{ group: b, count: 2, strategy: ${strategy} }`,
  ];
  const agents = groups.map((group) => `  - ${group}`);
  writeFileSync(file, `${['title: t', 'agents:', ...agents].join('\n')}\n`);
  return file;
}

const head = "import type { ScriptModule } from 'folkmoot/sim';\n";

test.each([
  [
    'an unknown command',
    `${head}\nexport const vote: ScriptModule['vote'] = () => ({ do: 'dance' });\n`,
    /^bad \S+town\.yaml: lib\/own\.ts:3: .*\(TS2322\)$/,
  ],
  [
    'an unknown member of the view',
    `${head}export const vote: ScriptModule['vote'] = ({ blok }) => null;\n`,
    /lib\/own\.ts:2: Property 'blok' does not exist.*\(TS2339\)$/,
  ],
  [
    'a write to a frozen value',
    `${head}export const vote: ScriptModule['vote'] = (view) =>\n  void view.neighbours.push(1);\n`,
    /lib\/own\.ts:3: Property 'push' does not exist on type 'readonly number\[\]'/,
  ],
  [
    'an untyped function',
    "export const vote = () => ({ do: 'vote', decision: 1 });\n",
    /town\.yaml: lib\/own\.ts: not a ScriptModule: .*\(TS2322\)$/,
  ],
])('scenario check: reports %s', async (_, text, why) => {
  const { code, stdout } = await folkmoot(['scenario', 'check', town(text)]);
  expect(code).toBe(2);
  expect(linesOf(stdout)[0]).toMatch(why);
});

test('scenario check: accepts valid types, JavaScript, and use of Node', async () => {
  const typed = `${head}import { readFileSync } from 'node:fs';
export const vote: ScriptModule['vote'] = (_, rng) => {
  if (rng.chance(0)) console.log(readFileSync('x').length);
  return { do: 'send', content: { any: [1] } };
};\n`;
  for (const file of [
    town(typed),
    town('export const vote = () => null;', 'lib/own.mjs'),
    ...['deffuant', 'cartel', 'tendermint', 'snowball', 'degroot', 'hegselmann-krause'],
  ]) {
    const { code, stdout, stderr } = await folkmoot(['scenario', 'check', file]);
    expect([code, linesOf(stdout)[0]], stderr).toEqual([0, expect.stringMatching(/^ok /)]);
  }
});

test('scenario check: reports that TypeScript is not installed', async () => {
  const file = town("export const vote = () => ({ do: 'vote', decision: 'approve' as const });");
  const { code, stderr } = await folkmoot(['scenario', 'check', file], { cwd: temporaryFolder() });
  expect(code).toBe(0);
  expect(stderr).toMatch(/types not checked: TypeScript is not installed/);
});
