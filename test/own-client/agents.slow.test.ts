/** docs/agents.md: runs its commands and programs against a served network. */
import { execFile, execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../support/fixture.js';
import { host } from '../support/host.js';
import { main as cli, root } from '../support/paths.js';
import { document, fenced } from './markdown.js';
import { dependingFolder } from './programs.js';

const run = promisify(execFile);
const part = document('docs/agents.md');
const here = 'http://127.0.0.1:8080';
/** Far above the expected time. */
const timeout = 60_000;

/** Returns the lines of a shell block with this first line, without comments. */
function commands(beginning: string): string[] {
  const block = fenced(part, 'sh').find((text) => text.startsWith(beginning))!;
  return block
    .trim()
    .split('\n')
    .map((line) => line.replace(/\s+#.*/, ''));
}

test('agents.md: serves with the limits that these tests use', () => {
  expect(commands('npx folkmoot serve')).toEqual(['npx folkmoot serve --limits bench']);
});

test('agents.md: the client example finalizes a block in under 20 lines', async () => {
  const [example = ''] = fenced(part, 'js');
  expect(fenced(document('README.md'), 'js')).toEqual([example]);
  expect(example.split('\n').length).toBeLessThan(20);
  const { url } = await host({ args: ['--limits', 'bench'] });
  const folder = dependingFolder();
  writeFileSync(join(folder, 'ada.mjs'), example.replace(here, url));
  for (const height of [1, 2]) {
    const { stdout } = await run(process.execPath, ['ada.mjs'], { cwd: folder, timeout });
    expect(stdout).toBe(`finalized at height ${height}\n`);
  }
});

test('agents.md: git ignores the files that its commands write', () => {
  const made = ['runs/7/network/data.mdb', 'folkmoot-data/data.mdb', 'ada.key.json'];
  // Prints ignored files, and fails if there are none.
  const ignored = execFileSync('git', ['check-ignore', '--no-index', ...made], {
    cwd: root,
    encoding: 'utf8',
  });
  expect(ignored.trim().split('\n')).toEqual(made);
});

/** Runs the commands of an agent in a folder. Returns the newest printed block. */
async function shellExample(url: string, cwd: string): Promise<{ blocks: object[] }> {
  const env: Record<string, string | undefined> = { ...process.env, FOLKMOOT_URL: url };
  let blockHash = '';
  let last = '';
  for (const line of commands('export FOLKMOOT_KEY')) {
    const [, name, value] = /^export (\w+)=(\S+)$/.exec(line) ?? [];
    if (name) env[name] = value;
    const command = line
      .replace('npx folkmoot', `'${process.execPath}' '${cli}'`)
      .replace('BLOCK_HASH', blockHash);
    // Throws if the command fails.
    const { stdout, stderr } = await run('sh', ['-c', command], { cwd, env, timeout });
    expect(stderr, line).toBe('');
    blockHash = /"block_hash":"(\w+)"/.exec(stdout)?.[1] ?? blockHash;
    if (line.includes('network blocks')) last = stdout;
  }
  const shown = JSON.parse(last) as { blocks: object[] };
  expect(shown.blocks[0]).toMatchObject({ block_hash: blockHash });
  return shown;
}

test('agents.md: the shell commands finalize a block, also in a second run', async () => {
  const { url } = await host({ args: ['--limits', 'bench'] });
  const cwd = temporaryFolder();
  for (const height of [1, 2]) {
    const { blocks } = await shellExample(url, cwd);
    expect(blocks).toMatchObject([{ status: 'finalized', height }]);
  }
});
