/** `sim --log none` refuses options that need a log, and `--verify-trace` compares traces. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { temporaryFolder } from '../support/fixture.js';

const small = ['sim', '--agents', '20', '--blocks', '1', '--unsigned'];

test.each([
  ['--out', 'never-written'],
  ['--store', 'memory'],
  ['--verifier', 'inline'],
  ['--verify-threads', '2'],
  ['--watch'],
  ['--check-determinism'],
  ['--verify-trace', '0123456789abcdef'],
])('sim: --log none refuses %s', async (...option) => {
  const { code, stderr } = await runCommand([...small, '--log', 'none', ...option]);
  expect(code).toBe(2);
  expect(stderr).toContain(`${option[0]} cannot be used with --log none`);
});

test('sim: --verify-trace accepts a digest, a result and a run folder', async () => {
  const { code, stdout } = await runCommand([...small, '--log', 'none', '--json']);
  expect(code).toBe(0);
  const folder = join(temporaryFolder(), 'run');
  mkdirSync(folder);
  const result = join(folder, 'summary.json');
  writeFileSync(result, stdout);
  const { trace_digest, digest } = JSON.parse(stdout) as Record<string, string>;
  expect(digest).toBe('');
  for (const where of [trace_digest!, result, folder]) {
    const again = await runCommand([...small, '--store', 'memory', '--verify-trace', where]);
    expect(again.code).toBe(0);
  }
  const other = [...small, '--store', 'memory', '--seed', '2', '--verify-trace', result];
  expect((await runCommand(other)).code).toBe(12);
});

test('sim: --verify-trace refuses a file without a trace', async () => {
  const path = join(temporaryFolder(), 'result.json');
  writeFileSync(path, '{}');
  for (const where of [path, `${path}.missing`]) {
    const { code } = await runCommand([...small, '--verify-trace', where]);
    expect(code).toBe(2);
  }
});
