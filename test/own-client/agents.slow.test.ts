/** docs/agents.md: runs its commands and programs against a served network. */
import { execFile, execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { host } from '../support/host.js';
import { root } from '../support/paths.js';
import { document, fenced } from './markdown.js';
import { dependingFolder } from './programs.js';

const run = promisify(execFile);
const part = document('docs/agents.md');
const here = 'http://127.0.0.1:8080';
/** Far above the expected time. */
const timeout = 60_000;

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
