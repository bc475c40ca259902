/**
 * Folders without a network, or with a damaged network. The command prints one line and exits with
 * a nonzero code.
 */
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
import { assertDataFile } from '../../../dist/engine/store/lmdb-pages.js';
import { expectOneLine, runCommand, simJson } from '../../support/command.js';
import { temporaryFolder } from '../../support/fixture.js';
import { suiteFolder } from '../../support/runs.js';

const run = join(suiteFolder(), 'run');
const data = join(run, 'network', 'data.mdb');

beforeAll(async () => {
  await simJson('--seed', '7', '--agents', '60', '--blocks', '6', '--out', run);
});

/** Creates a folder with a copy of the run's data file, changed by `damage`. */
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

test('replay: refuses a missing folder', async () => {
  await expectRefused(join(temporaryFolder(), 'gone'));
});

test('replay: refuses an empty folder', async () => {
  await expectRefused(temporaryFolder());
});

test('replay: refuses a run with an empty network folder', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'network'));
  await expectRefused(folder);
});

test.each([0, 100, 20_000, 0.5])('replay: refuses a data file truncated at %d', async (at) => {
  const bytes = at === 0.5 ? Math.floor(statSync(data).size / 2) : at;
  await expectRefused(damaged((file) => truncateSync(file, bytes)));
});

/** Returns the end of the last page in use. Later pages are free. */
function endOfUse(): number {
  const copy = join(temporaryFolder(), 'data.mdb');
  copyFileSync(data, copy);
  let end = statSync(data).size;
  for (;;) {
    truncateSync(copy, end - PAGE_BYTES);
    try {
      assertDataFile(copy, 'header');
    } catch (error) {
      expect(error).toMatchObject({ code: 'CORRUPT' });
      return end;
    }
    end -= PAGE_BYTES;
  }
}

test('replay: refuses a data file without the last byte of its last used page', async () => {
  await expectRefused(damaged((file) => truncateSync(file, endOfUse() - 1)));
});

test('replay: accepts a data file without its free pages', async () => {
  const { code, stderr } = await runCommand([
    'replay',
    damaged((file) => truncateSync(file, endOfUse())),
  ]);
  expect([code, stderr]).toEqual([0, '']);
});

test('replay: refuses a data file of garbage', async () => {
  const garbage = Buffer.from(readFileSync(data).map((byte, index) => byte ^ (index * 31 + 7)));
  await expectRefused(damaged((file) => writeFileSync(file, garbage)));
});

test('replay: refuses a text file as the data file', async () => {
  await expectRefused(damaged((file) => writeFileSync(file, 'a run\n'.repeat(9_999))));
});
