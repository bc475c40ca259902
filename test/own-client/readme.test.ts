/** README, "Connect an agent": what it shows is run against a served network. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../fixture.js';
import { document, fenced, section } from './markdown.js';
import { cli, root, served } from './served.js';

const run = promisify(execFile);
const part = section(document('README.md'), 'Connect an agent');
const here = 'http://127.0.0.1:8080';
/** Far above what it takes. */
const timeout = 60_000;

/** The lines of the shell block that begins with this, without their comments. */
function commands(beginning: string): string[] {
  const block = fenced(part, 'sh').find((text) => text.startsWith(beginning))!;
  return block
    .trim()
    .split('\n')
    .map((line) => line.replace(/\s+#.*/, ''));
}

function has(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

test('README: serves as the tests here do', () => {
  expect(commands('npx folkmoot serve')).toEqual(['npx folkmoot serve --limits bench']);
});

const curl = has('curl');

test.skipIf(!curl)(`README: the reads with curl${curl ? '' : ' (skipped: no curl)'}`, async () => {
  const { url } = await served();
  for (const line of commands('curl')) {
    const { stdout } = await run('curl', ['-sS', line.replace('curl ', '').replace(here, url)]);
    expect(JSON.parse(stdout), line).toMatchObject({ success: true });
  }
});

test('README: the client example finalizes a block in under 20 lines', async () => {
  const [example = ''] = fenced(part, 'js');
  expect(example.split('\n').length).toBeLessThan(20);
  const { url } = await served();
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules/folkmoot'));
  writeFileSync(join(folder, 'ada.mjs'), example.replace(here, url));
  const { stdout } = await run(process.execPath, ['ada.mjs'], { cwd: folder, timeout });
  expect(stdout).toBe('finalized at height 1\n');
});

test('README: the commands of an agent finalize a block', async () => {
  const { url } = await served();
  const cwd = temporaryFolder();
  const env: Record<string, string | undefined> = { ...process.env, FOLKMOOT_URL: url };
  let blockHash = '';
  let last = '';
  for (const line of commands('npx folkmoot keygen')) {
    const [, name, value] = / && export (\w+)=(\S+)$/.exec(line) ?? [];
    const command = line
      .replace(/ && export .*/, '')
      .replace('npx folkmoot', `'${process.execPath}' '${cli}'`)
      .replace('BLOCK_HASH', blockHash);
    // Throws when the command fails.
    const { stdout } = await run('sh', ['-c', command], { cwd, env, timeout });
    if (name) env[name] = value;
    blockHash = /"block_hash":"(\w+)"/.exec(stdout)?.[1] ?? blockHash;
    last = stdout;
  }
  expect(JSON.parse(last)).toMatchObject({
    blocks: [{ block_hash: blockHash, status: 'finalized', height: 1 }],
  });
});
