/** The same mistake leads to the same exit code and a one-line error in every command. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { folkmoot } from '../support/cli.js';
import { temporaryFolder } from '../support/fixture.js';
import { main } from '../support/paths.js';
import { linesOf } from '../support/runs.js';

const unreachable = 'http://127.0.0.1:9';
const short = ['--agents', '4', '--blocks', '1'];
const hash = '0'.repeat(64);

/** Expects this exit code, and an error as the last line on standard error. */
async function expectCode(code: number, args: readonly string[]): Promise<void> {
  const ended = await folkmoot(args);
  const what = `${args.join(' ')}\n${ended.stderr}`;
  expect([ended.code, ended.stdout], what).toEqual([code, expect.stringMatching(/^$|^bad /)]);
  expect(ended.stderr, what).not.toMatch(/^ +at /m);
  if (ended.stdout === '') expect(linesOf(ended.stderr).at(-1), what).toMatch(/^(folkmoot: |\()/);
}

const commands = [
  ['serve'],
  ['agent', 'watch'],
  ['cluster', 'status'],
  ['network', 'state'],
  ['sim'],
  ['scenario', 'check'],
  ['sweep'],
  ['merge'],
  ['worker'],
  ['swarm'],
  ['replay'],
  ['load'],
  ['load', 'compare'],
  ['log'],
  ['archive'],
  ['verify'],
  ['keygen'],
];

test('mistakes: an unknown option exits with 2', async () => {
  for (const command of commands) await expectCode(2, [...command, '--nonsense']);
});

/** Returns every command that reads a file. */
const reading = (file: string): string[][] => [
  ['sim', file],
  ['sweep', file],
  ['scenario', 'check', file],
  ['scenario', 'show', file],
  ['serve', '--scenario', file],
  ['serve', '--response-key', file, '--data', join(temporaryFolder(), 'data')],
  ['agent', 'status', 'active', '--key', file, '--url', unreachable],
  ['load', 'compare', file, file],
];

test('mistakes: a missing file exits with 2', async () => {
  const missing = join(temporaryFolder(), 'missing');
  for (const args of [...reading(missing), ['replay', missing]]) await expectCode(2, args);
});

test('mistakes: a folder in place of a file exits with 2', async () => {
  const folder = temporaryFolder();
  for (const args of reading(folder)) await expectCode(2, args);
});

test('mistakes: a file of another type exits with 2', async () => {
  const file = join(temporaryFolder(), 'broken.json');
  writeFileSync(file, '{"private_key": "no', { mode: 0o600 });
  for (const args of reading(file)) await expectCode(2, args);
});

test('mistakes: a folder without a network exits with 2', async () => {
  const folder = temporaryFolder();
  const missing = join(folder, 'missing');
  mkdirSync(join(folder, 'empty'));
  for (const where of [missing, join(folder, 'empty')]) {
    await expectCode(2, ['replay', where]);
    await expectCode(2, ['log', where]);
    await expectCode(2, ['archive', where, '--before', '1']);
    await expectCode(2, ['merge', where, '--out', join(folder, 'out')]);
  }
});

test('mistakes: a folder with earlier results exits with 2', async () => {
  const out = join(temporaryFolder(), 'out');
  expect((await folkmoot(['sim', ...short, '--out', out])).code).toBe(0);
  await expectCode(2, ['sim', ...short, '--out', out]);
  const key = join(out, 'summary.json');
  await expectCode(2, ['keygen', '--out', key]);
});

test('mistakes: a folder locked by another process exits with 13', async () => {
  const data = join(temporaryFolder(), 'data');
  const server = spawn(process.execPath, [main, 'serve', '--port', '0', '--data', data]);
  onTestFinished(() => void server.kill('SIGKILL'));
  await once(server.stdout, 'data');
  await expectCode(13, ['serve', '--port', '0', '--data', data]);
  await expectCode(13, ['archive', data, '--before', '1']);
});

test('mistakes: an unreachable server exits with 1', async () => {
  const key = join(temporaryFolder(), 'key.json');
  expect((await folkmoot(['keygen', '--out', key])).code).toBe(0);
  const as = ['--key', key, '--url', unreachable];
  await expectCode(1, ['network', 'state', '--url', unreachable]);
  await expectCode(1, ['agent', 'watch', ...as]);
  await expectCode(1, ['agent', 'vote', hash, 'approve', ...as]);
  await expectCode(1, ['sim', ...short, '--url', unreachable]);
  await expectCode(1, ['load', '--url', unreachable]);
  await expectCode(1, ['load', '--saturate', '--url', unreachable]);
});

test('mistakes: a port in use exits with 1', async () => {
  const holder = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void holder.close());
  await once(holder, 'listening');
  const { port } = holder.address() as { port: number };
  const data = join(temporaryFolder(), 'data');
  await expectCode(1, ['serve', '--port', `${port}`, '--data', data]);
});
