/** Failing system calls during archiving: a one-line error, and no data loss. */
import { writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { folkmoot } from '../support/cli.js';
import { expectOneLine } from '../support/command.js';
import { full } from '../support/counts.js';
import { copyOf, linesOf, logLines, replayHere, suiteFolder } from '../support/runs.js';
import { faulty, why } from './faulty.js';

const { EINTR, EIO, ENOSPC } = constants.errno;
const run = join(suiteFolder(), 'run');
let lines: unknown[] = [];

beforeAll(async () => {
  const size = ['--agents', '40', '--blocks', '6'];
  expect((await folkmoot(['sim', '--seed', '7', ...size, '--out', run])).code).toBe(0);
  lines = await logLines(run);
});

type Call = [call: string, nth: number, errno: number];

const some: Call[] = [
  ['pwrite', 1, ENOSPC],
  ['pwrite', 5, ENOSPC],
  ['fsync', 2, EIO],
  ['fdatasync', 2, EIO],
  ['rename', 1, EIO],
  ['rename', 2, EIO],
];
const more: Call[] = [
  ...[2, 3, 4, 8].map((nth): Call => ['pwrite', nth, ENOSPC]),
  ['pwrite', 3, EIO],
  ...[1, 3].flatMap((nth): Call[] => [
    ['fsync', nth, EIO],
    ['fdatasync', nth, EIO],
  ]),
  ['fdatasync', 1, EINTR],
  ['statfs', 1, EIO],
];
const calls = full ? [...some, ...more] : some;

test.skipIf(why !== undefined).each(calls)(
  'archive: loses nothing if %s number %d fails with %d',
  async (...told) => {
    const [call, nth, errno] = told;
    const copy = copyOf(run);
    const folder = join(copy, 'network');
    const env = faulty({ folder, rules: `${call}:${nth}:${errno}` });
    const ended = await folkmoot(['archive', copy, '--before', '2000'], { env });
    expect(ended.signal).toBe(null);
    // The last steps are optional. If one fails, the command reports the failure and still moves
    // all entries.
    if (ended.code !== 0) {
      expect([ended.code, ended.stdout], ended.stderr).toEqual([13, '']);
      expect(linesOf(ended.stderr).at(-1)).toMatch(/^folkmoot: .{10,}/);
      expect(ended.stderr).not.toMatch(/\n {4}at /);
    }
    const again = await folkmoot(['archive', copy, '--before', '2000']);
    expect(again.code, again.stderr).toBe(0);
    expect(await logLines(copy)).toEqual(lines);
    expect(await replayHere(folder)).toMatchObject({ match: true, entries: lines.length });
  },
);

test('archive: reports a file instead of its folder in one line', async () => {
  const copy = copyOf(run);
  writeFileSync(join(copy, 'network', 'archive'), '');
  const ended = await folkmoot(['archive', copy, '--before', '100']);
  expectOneLine(ended);
  expect([ended.code, ended.stderr]).toEqual([13, expect.stringContaining('archive')]);
  expect(await logLines(copy)).toEqual(lines);
});
