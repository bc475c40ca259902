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
import { beforeAll, test } from 'vitest';
import { expectOneLine, folkmoot, simJson, suiteFolder } from '../cli/helpers.js';
import { temporaryFolder } from '../fixture.js';

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

test.each([0, 100, 20_000, 0.5, -1])('damaged: a data file cut off at %d', async (at) => {
  const size = statSync(data).size;
  const bytes = at < 0 ? size + at : at < 1 ? Math.floor(size * at) : at;
  await expectRefused(damaged((file) => truncateSync(file, bytes)));
});

test('damaged: a data file of garbage', async () => {
  const garbage = Buffer.from(readFileSync(data).map((byte, index) => byte ^ (index * 31 + 7)));
  await expectRefused(damaged((file) => writeFileSync(file, garbage)));
});

test('damaged: a text for a data file', async () => {
  await expectRefused(damaged((file) => writeFileSync(file, 'a run\n'.repeat(9_999))));
});
