/** Options and arguments that cannot be meant, and the help that says what can. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folkmoot } from '../support/cli.js';
import { root } from '../support/paths.js';
import { linesOf } from '../support/runs.js';

const commands = [
  'serve',
  'agent',
  'cluster',
  'network',
  'mcp',
  'sim',
  'scenario',
  'fork',
  'compare',
  'sweep',
  'merge',
  'worker',
  'swarm',
  'replay',
  'explore',
  'conformance',
  'load',
  'why',
  'log',
  'events',
  'archive',
  'check',
  'certify',
  'check-certificate',
  'verify',
  'keygen',
];

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
  const { code, stdout, stderr } = await folkmoot(args);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).not.toBe('');
  expect(stderr).not.toMatch(/^ +at /m);
});

test('usage: what is out of bounds is told with what is in them', async () => {
  const { stderr } = await folkmoot(['sim', '--agents', '0']);
  expect(linesOf(stderr)[0]).toMatch(/--agents.*'0'.*1 to 200000/);
  expect(stderr).toContain('--help');
});

test('help: it lists every command and every exit code', async () => {
  const { code, stdout } = await folkmoot(['--help']);
  expect(code).toBe(0);
  const listed = stdout.slice(stdout.indexOf('Commands:')).matchAll(/^ {2}([a-z-]+) /gm);
  expect([...listed].map(([, name]) => name)).toEqual([...commands, 'help']);
  expect(stdout).toMatch(
    /Exit codes: 0 [\s\S]* 1 [\s\S]* 2 [\s\S]* 10 [\s\S]* 11 [\s\S]* 12 [\s\S]* 13 /,
  );
  expect(stdout).toContain('$ folkmoot sim');
});

test('help: help sim is what sim --help is, and help of nothing known is usage', async () => {
  const help = await folkmoot(['help', 'sim']);
  expect(help).toEqual(await folkmoot(['sim', '--help']));
  const { stdout: stderr } = await folkmoot(['--help']);
  expect(await folkmoot(['help', 'nope'])).toMatchObject({ code: 2, stdout: '', stderr });
  expect(await folkmoot([])).toMatchObject({ code: 2, stdout: '', stderr });
});

test('usage: for a command that is misspelled, one that is meant is named', async () => {
  const { stderr } = await folkmoot(['kegen']);
  expect(linesOf(stderr)[0]).toBe("error: unknown command 'kegen'");
  expect(linesOf(stderr)[1]).toBe('(Did you mean keygen?)');
});

test('usage: --version is that of the package, and nothing else', async () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const told = { code: 0, stdout: `${version}\n`, stderr: '' };
  expect(await folkmoot(['--version'])).toMatchObject(told);
});

test.each(commands)('help: that of %s has examples of it', async (command) => {
  const { code, stdout, stderr } = await folkmoot([command, '--help']);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(new RegExp(`Examples?:\\n(.*\\n)*  \\$ .*folkmoot ${command}`));
});

/** The help of a command and of every command below it. */
async function helpBelow(path: string[]): Promise<string[]> {
  const { stdout } = await folkmoot([...path, '--help']);
  const listed = stdout.split('\nCommands:\n')[1]?.split('\n\n')[0] ?? '';
  const names = [...listed.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name]) => name!);
  const below = names.filter((name) => name !== 'help').map((name) => [...path, name]);
  const helps = [stdout];
  for (const inner of below) helps.push(...(await helpBelow(inner)));
  return helps;
}

test('help: an option of any command has one default, printed as it is typed', async () => {
  const options: string[] = [];
  for (const help of await helpBelow([])) {
    const listed = help.split('\nOptions:\n')[1]?.split('\n\n')[0] ?? '';
    options.push(...listed.split(/\n(?= {2}-)/).map((text) => text.replace(/\s+/g, ' ').trim()));
  }
  expect(options.length).toBeGreaterThan(200);
  const wrong = options.filter((text) => /default: \[|default:.*default:/.test(text));
  expect(wrong).toEqual([]);
});

test('help: options of sim show their defaults; the scenario has those of the others', async () => {
  const { stdout } = await folkmoot(['sim', '--help']);
  const text = stdout.replace(/\s+/g, ' ');
  for (const shown of ['"pool"', '"lmdb"']) expect(text).toContain(`default: ${shown})`);
  expect(text).toContain('1,000 agents, 100 blocks');
  for (const shown of ['--seed', '--policy', '--weights', '--agents', '--blocks', '--set']) {
    expect(text).toContain(shown);
  }
});
