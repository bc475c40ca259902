/** Usage errors of the command line, and the format of its help. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exitCodes, UsageError } from '../../dist/cli/output/exit.js';
import {
  listenMessages,
  outputMessages,
  refusedMessages,
  usageMessages,
} from '../../dist/cli/output/messages.js';
import { runCommand } from '../support/command.js';
import { temporaryFolder } from '../support/fixture.js';
import { root } from '../support/paths.js';
import { linesOf } from '../support/runs.js';

test('usage: an invalid variable is named with its value', async () => {
  vi.stubEnv('FOLKMOOT_PORT', 'abc');
  const served = await runCommand(['serve']);
  vi.unstubAllEnvs();
  expect(linesOf(served.stderr)[0]).toMatch(/^folkmoot: invalid FOLKMOOT_PORT: abc \(expected /);
});

test('help: help sim equals sim --help, and an unknown topic is a usage error', async () => {
  expect(await runCommand(['help', 'sim'])).toEqual(await runCommand(['sim', '--help']));
  const unknown = await runCommand(['help', 'nope']);
  expect(unknown).toMatchObject({ code: 2, stdout: '' });
  expect(linesOf(unknown.stderr)).toEqual([expect.stringContaining('nope')]);
  const { stdout: stderr } = await runCommand(['--help']);
  expect(await runCommand([])).toMatchObject({ code: 2, stdout: '', stderr });
});

test('usage: --version prints the version of the package', async () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const printed = { code: 0, stdout: `${version}\n`, stderr: '' };
  expect(await runCommand(['--version'])).toMatchObject(printed);
});

/** Headings under which a help text lists commands. */
const listHeading = 'Commands|Simulate|Analyse|Serve|Load-test|Operate';

interface Help {
  /** Command line without `--help`. */
  command: string;
  text: string;
}

/** Returns the help text for a command and all of its subcommands. */
async function readHelps(path: string[]): Promise<Help[]> {
  const { code, stdout, stderr } = await runCommand([...path, '--help']);
  expect([code, stderr]).toEqual([0, '']);
  const lists = stdout.matchAll(new RegExp(`^(?:${listHeading}):\\n((?: {2}.*\\n)+)`, 'gm'));
  const names = [...lists].flatMap(([, list]) => [...list!.matchAll(/^ {2}([a-z-]+)/gm)]);
  const below = names.map(([, name]) => name!).filter((name) => name !== 'help');
  const inner = await Promise.all(below.map((name) => readHelps([...path, name])));
  return [{ command: ['folkmoot', ...path].join(' '), text: stdout }, ...inner.flat()];
}

const helps = await readHelps([]);

test('help: every command matches help.txt; vitest -u rewrites the file', async () => {
  const text = helps.map(({ command, text }) => `$ ${command} --help\n${text}`).join('\n');
  // The default of --jobs is the number of cores.
  const stable = text.replace(/(--jobs <n> .*default: )\d+/g, '$1CORES');
  await expect(stable).toMatchFileSnapshot('help.txt');
  expect(helps.length).toBeGreaterThan(40);
});

test('docs/cli.md: has the help of every command; npm run docs writes the page', () => {
  const page = readFileSync(join(root, 'docs/cli.md'), 'utf8');
  const stable = (text: string) => text.replace(/(--jobs <n> .*default: )\d+/g, '$1CORES').trim();
  expect(helps.filter(({ text }) => !page.includes(stable(text)))).toEqual([]);
});

/** Returns the items of a section as `name  text`, with wrapped lines joined. */
function readItems(help: string, heading: string): { name: string; text: string }[] {
  const section = help.split(`\n${heading}:\n`)[1]?.split('\n\n')[0] ?? '';
  return section.split(/\n(?= {2}\S)/).flatMap((item) => {
    const [, name, text = ''] = /^ {2}(\S.*?)(?: {2,}([\s\S]*))?$/.exec(item) ?? [];
    return name === undefined ? [] : [{ name, text: text.replace(/\s+/g, ' ').trim() }];
  });
}

const MOST_COLUMNS = 80;
const MOST_TEXT = 60;
/** Values that commander or the text adds in parentheses at the end. */
const addedValues = /(?: \((?:choices|default|env): .*\))+$/;
/** Words that introduce relative clauses. */
const relative = /\b(?:who|whom|whose|which|that|what|where|whether|how)\b/i;

test.each(helps)('help: $command keeps the format', ({ text }) => {
  const lines = text.split('\n');
  expect(lines.filter((line) => line.length > MOST_COLUMNS)).toEqual([]);
  const [usage = '', blank, summary = '', next] = lines;
  expect([usage, blank, next]).toEqual([expect.stringMatching(/^Usage: folkmoot/), '', '']);
  expect(summary).toMatch(/^[a-z].*[^.]$/);
  const items = [...readItems(text, 'Arguments'), ...readItems(text, 'Options')].map(
    ({ name, text }) => ({ name, text: text.replace(addedValues, '') }),
  );
  expect(items.filter(({ text }) => text.length > MOST_TEXT || relative.test(text))).toEqual([]);
  expect(items.filter(({ text }) => text === '' || /\.$|; default/.test(text))).toEqual([]);
  expect(text).not.toMatch(/default: \[|default:[^()]*default:/);
  const examples = text.split('\nExamples:\n')[1]?.match(/^ {2}\$ folkmoot /gm) ?? [];
  expect(examples.length).toBeGreaterThanOrEqual(3);
  expect(examples.length).toBeLessThanOrEqual(5);
  expect(text).toMatch(/\nExit codes: folkmoot help exit-codes\n$/);
});

test('help exit-codes: prints one row per code, as in docs/cli.md', async () => {
  const { code, stdout, stderr } = await runCommand(['help', 'exit-codes']);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout.split('\n').filter((line) => line.length > MOST_COLUMNS)).toEqual([]);
  const rows = [...stdout.matchAll(/^ {2}(\d+) +(\S.*(?:\n {6}\S.*)*)/gm)].map(
    ([, number, text]) => [number!, text!.replace(/\s+/g, ' ')] as const,
  );
  expect(rows.map(([number]) => Number(number))).toEqual(Object.values(exitCodes));
  const page = readFileSync(join(root, 'docs/cli.md'), 'utf8');
  for (const [number, text] of rows) expect(page).toContain(`| ${number} | ${text} |`);
});

test.each([
  ...[usageMessages, refusedMessages, listenMessages, outputMessages],
])('messages: each row of table %# has the form of an error', (table) => {
  const texts = Object.values<string>(table).flatMap((message) => message.split(/;\s+/));
  expect(texts.filter((text) => !/^(?:[a-z]|--|\{).*[^.;]$/.test(text))).toEqual([]);
});

test('serve: refuses the folder of a saved run', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'network'));
  writeFileSync(join(folder, 'summary.json'), '{}');
  const { code, stderr } = await runCommand(['serve', '--port', '0', '--data', folder]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(folder)]);
  expect(readdirSync(folder).sort()).toEqual(['network', 'summary.json']);
});

test('messages: an error has the key of its row', () => {
  const error = new UsageError('FILE_EXISTS', { path: 'a.html' });
  expect(error.problem).toBe('FILE_EXISTS');
  expect(error.message).toBe('file already exists: a.html; choose a new name');
});
