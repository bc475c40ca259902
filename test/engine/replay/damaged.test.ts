/** Folders that hold no network, or a broken one: one clear line, and no exit code 0. */
import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { PAGE_BYTES } from '../../../dist/engine/store/lmdb-guards.js';
import { checkDataFile } from '../../../dist/engine/store/lmdb-pages.js';
import { expectOneLine, runCommand, simJson } from '../../support/command.js';
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
  const ended = await Promise.all(
    ['replay', 'log'].map((command) => runCommand([command, folder])),
  );
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
  const copy = join(temporaryFolder(), 'data.mdb');
  copyFileSync(data, copy);
  let end = statSync(data).size;
  for (;;) {
    truncateSync(copy, end - PAGE_BYTES);
    try {
      checkDataFile(copy, 'header');
    } catch (error) {
      expect(error).toMatchObject({ code: 'CORRUPT' });
      return end;
    }
    end -= PAGE_BYTES;
  }
}

test('damaged: a data file without the last byte of its last page in use', async () => {
  await expectRefused(damaged((file) => truncateSync(file, endOfUse() - 1)));
});

test('damaged: a data file that lacks free pages alone is whole', async () => {
  const { code, stderr } = await runCommand([
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
