/** Options and arguments that cannot be meant, and the help that says what can. */
import { expect, test } from 'vitest';
import { folkmoot, linesOf } from './helpers.js';

const commands = ['sim', 'replay', 'log', 'verify', 'keygen'];

test.each([
  ['an unknown command', ['nope']],
  ['an unknown option', ['sim', '--nope']],
  ['an argument too many', ['sim', 'extra']],
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
  for (const command of commands) expect(stdout).toMatch(new RegExp(`^  ${command} `, 'm'));
  expect(stdout).toMatch(/Exit codes: 0 .*2 .*10 .*12 .*13 /);
  expect(stdout).toContain('$ folkmoot sim');
});

test.each(commands)('help: that of %s has examples of it', async (command) => {
  const { code, stdout, stderr } = await folkmoot([command, '--help']);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(new RegExp(`Examples?:\\n(.*\\n)*  \\$ .*folkmoot ${command}`));
});

test('help: every option of sim shows its default', async () => {
  const { stdout } = await folkmoot(['sim', '--help']);
  const text = stdout.replace(/\s+/g, ' ');
  for (const shown of ['"1"', '1000', '100', '"bft"', '"equal"', '"pool"']) {
    expect(text).toContain(`default: ${shown})`);
  }
});
