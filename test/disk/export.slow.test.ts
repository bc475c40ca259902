/** Failing system calls during an export: a one-line error, and no partial file. */
import { mkdirSync, readdirSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { folkmoot } from '../support/cli.js';
import { temporaryFolder } from '../support/fixture.js';
import { linesOf, suiteFolder } from '../support/runs.js';
import { faulty, why } from './faulty.js';

const { EIO, ENOSPC } = constants.errno;
const run = join(suiteFolder(), 'run');
beforeAll(async () => {
  const size = ['--agents', '40', '--blocks', '4'];
  expect((await folkmoot(['sim', '--seed', '7', ...size, '--out', run])).code).toBe(0);
});

test.skipIf(why !== undefined).each([
  ['pwrite', ENOSPC, 'ENOSPC'],
  ['fdatasync', EIO, 'EIO'],
  ['rename', EIO, 'EIO'],
])('export: leaves no file if %s fails with %d', async (call, errno, name) => {
  const folder = join(temporaryFolder(), 'out');
  mkdirSync(folder);
  const env = faulty({ folder, rules: `${call}:1:${errno}` });
  const ended = await folkmoot(['explore', run, '--export', join(folder, 'run.html')], { env });
  expect([ended.code, ended.signal, ended.stdout], ended.stderr).toEqual([13, null, '']);
  const [line, ...more] = linesOf(ended.stderr);
  expect(line).toMatch(new RegExp(`^folkmoot: .*run\\.html: .*${name}`));
  expect([more, readdirSync(folder)]).toEqual([[], []]);
});
