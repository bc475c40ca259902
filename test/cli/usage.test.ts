/** Options and arguments that cannot be meant, and the help that says what can. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { root } from '../support/paths.js';
import { linesOf } from '../support/runs.js';

test.each([
  ['an unknown command', ['nope']],
  ['an unknown option', ['sim', '--nope']],
  ['an argument too many', ['sim', 'healthy-town', 'extra']],
  ['a scenario that is not there', ['sim', 'nowhere']],
  ['a change without a value', ['sim', '--set', 'consensus.policy']],
  ['a change of nothing', ['sim', '--set', 'consensus.polcy=bft']],
  ['a change to nonsense', ['sim', '--set', 'consensus.policy=loud']],
  ['a check of nothing', ['scenario', 'check']],
  ['a scenario to show that is not there', ['scenario', 'show', 'nowhere']],
  ['a negative number', ['sim', '--blocks', '-1']],
  ['a number that is not written out', ['sim', '--agents', '1e3']],
  ['too many agents', ['sim', '--agents', '1000001']],
  ['a number beyond all bounds', ['sim', '--blocks', '9'.repeat(30)]],
  ['an empty seed', ['sim', '--seed', '']],
  ['an unknown verifier', ['sim', '--verifier', 'trust']],
  ['a replay of nothing', ['replay']],
  ['a replay without checking', ['replay', '.', '--verifier', 'off']],
  ['a replay to nowhere', ['replay', '.', '--to', '-1']],
  ['a log from nowhere', ['log', '.', '--from', 'x']],
  ['a verification without checking', ['verify', '--verifier', 'off']],
  ['a load of nothing known', ['load', '--workload', 'all']],
  ['a duration without a unit', ['load', '--duration', '10']],
  ['a rate of nothing', ['load', '--rate', '0']],
  ['both loops at once', ['load', '--rate', '10', '--concurrency', '10']],
  ['an objective without a search', ['load', '--slo', 'p99=200ms']],
  ['a search in the closed loop', ['load', '--saturate', '--concurrency', '10']],
  ['an objective that is none', ['load', '--saturate', '--slo', 'fast']],
  ['a condition that is none', ['load', '--fail-on', 'p99>fast']],
  ['a server that is no address', ['load', '--url', 'localhost']],
  ['a seed that is not hex', ['keygen', '--seed-hex', 'zz'.repeat(32)]],
])('usage: %s is told on standard error, with exit code 2', async (_, args) => {
  const { code, stdout, stderr } = await runCommand(args);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).not.toBe('');
  expect(stderr).not.toMatch(/^ +at /m);
});

test('usage: what is out of bounds is told with what is in them', async () => {
  const { stderr } = await runCommand(['sim', '--agents', '0']);
  expect(linesOf(stderr)[0]).toMatch(/--agents.*'0'.*1 to 200000/);
  expect(stderr).toContain('--help');
});

test('help: help sim is what sim --help is, and help of nothing known is usage', async () => {
  const help = await runCommand(['help', 'sim']);
  expect(help).toEqual(await runCommand(['sim', '--help']));
  const { stdout: stderr } = await runCommand(['--help']);
  expect(await runCommand(['help', 'nope'])).toMatchObject({ code: 2, stdout: '', stderr });
  expect(await runCommand([])).toMatchObject({ code: 2, stdout: '', stderr });
});

test('usage: for a command that is misspelled, one that is meant is named', async () => {
  const { stderr } = await runCommand(['kegen']);
  expect(linesOf(stderr)[0]).toBe("error: unknown command 'kegen'");
  expect(linesOf(stderr)[1]).toBe('(Did you mean keygen?)');
});

test('usage: --version is that of the package, and nothing else', async () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const told = { code: 0, stdout: `${version}\n`, stderr: '' };
  expect(await runCommand(['--version'])).toMatchObject(told);
});

/** The help of a command and of every command below it, by what is typed before `--help`. */
async function helpBelow(path: string[]): Promise<[command: string, help: string][]> {
  const { code, stdout, stderr } = await runCommand([...path, '--help']);
  expect([code, stderr]).toEqual([0, '']);
  const listed = stdout.split('\nCommands:\n')[1]?.split('\n\n')[0] ?? '';
  const names = [...listed.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name]) => name!);
  const below = names.filter((name) => name !== 'help').map((name) => [...path, name]);
  const inner = await Promise.all(below.map(helpBelow));
  return [[['folkmoot', ...path].join(' '), stdout], ...inner.flat()];
}

test('help: of every command is what help.txt holds; vitest -u writes it', async () => {
  const helps = await helpBelow([]);
  const text = helps.map(([command, help]) => `$ ${command} --help\n${help}`).join('\n');
  // The default of --jobs is the number of cores.
  const alike = text.replace(/(--jobs <n> .*default: )\d+/g, '$1CORES');
  await expect(alike).toMatchFileSnapshot('help.txt');
  const bare = helps.filter(([, help]) => !/Examples?:\n(.*\n)* {2}\$ .*folkmoot/.test(help));
  expect(bare.map(([command]) => command)).toEqual([]);
  const options = helps.flatMap(([, help]) => {
    const listed = help.split('\nOptions:\n')[1]?.split('\n\n')[0] ?? '';
    return listed.split(/\n(?= {2}-)/).map((one) => one.replace(/\s+/g, ' ').trim());
  });
  expect(options.filter((one) => /default: \[|default:.*default:/.test(one))).toEqual([]);
});
