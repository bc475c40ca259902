/** Folders that hold no network, or a broken one: one clear line, and no exit code 0. */
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { readHeader } from '../../../dist/engine/store/file/pages/meta-page.js';
import { assertReachable } from '../../../dist/engine/store/file/pages/reach.js';
import { expectOneLine, folkmoot, simJson } from '../../support/cli.js';
import { temporaryFolder } from '../../support/fixture.js';
import { suiteFolder } from '../../support/runs.js';

const run = join(suiteFolder(), 'run');
const data = join(run, 'network', 'data.mdb');

beforeAll(async () => {
  await simJson('--seed', '7', '--agents', '60', '--blocks', '6', '--out', run);
});

/** A folder with a copy of the run's data file, which `damage` spoils. */
function damaged(damage: (file: string) => void): string {
  const folder = join(temporaryFolder(), 'run');
  mkdirSync(join(folder, 'network'), { recursive: true });
  const file = join(folder, 'network', 'data.mdb');
  copyFileSync(data, file);
  damage(file);
  return folder;
}

async function expectRefused(folder: string): Promise<void> {
  const ended = await Promise.all(['replay', 'log'].map((command) => folkmoot([command, folder])));
  for (const one of ended) expectOneLine(one);
}

test('damaged: a missing folder', async () => {
  await expectRefused(join(temporaryFolder(), 'gone'));
});

test('damaged: an empty folder', async () => {
  await expectRefused(temporaryFolder());
});

test('damaged: a run whose network folder is empty', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'network'));
  await expectRefused(folder);
});

test.each([0, 100, 20_000, 0.5])('damaged: a data file cut off at %d', async (at) => {
  const bytes = at === 0.5 ? Math.floor(statSync(data).size / 2) : at;
  await expectRefused(damaged((file) => truncateSync(file, bytes)));
});

/** Where the last page in use ends: what lies behind it is free. */
function endOfUse(): number {
  const fd = openSync(data, 'r');
  const header = readHeader(fd, data);
  let end = statSync(data).size;
  const isInUse = new Error('a page in use is missing');
  try {
    for (;;) {
      assertReachable(fd, header, end - header.pageBytes, () => isInUse);
      end -= header.pageBytes;
    }
  } catch (error) {
    if (error !== isInUse) throw error;
    return end;
  } finally {
    closeSync(fd);
  }
}

test('damaged: a data file without the last byte of its last page in use', async () => {
  await expectRefused(damaged((file) => truncateSync(file, endOfUse() - 1)));
});

test('damaged: a data file that lacks free pages alone is whole', async () => {
  const { code, stderr } = await folkmoot([
    'replay',
    damaged((file) => truncateSync(file, endOfUse())),
  ]);
  expect([code, stderr]).toEqual([0, '']);
});

test('damaged: a data file of garbage', async () => {
  const garbage = Buffer.from(readFileSync(data).map((byte, index) => byte ^ (index * 31 + 7)));
  await expectRefused(damaged((file) => writeFileSync(file, garbage)));
});

test('damaged: a text for a data file', async () => {
  await expectRefused(damaged((file) => writeFileSync(file, 'a run\n'.repeat(9_999))));
});
