/**
 * Folders without a network, or with a damaged network. The command prints one line and exits with
 * a nonzero code.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, test } from 'vitest';
import { expectOneLine, runCommand, simJson } from '../../support/command.js';
import { temporaryFolder } from '../../support/fixture.js';
import { suiteFolder } from '../../support/runs.js';

const run = join(suiteFolder(), 'run');

beforeAll(async () => {
  await simJson('--seed', '7', '--agents', '60', '--blocks', '6', '--out', run);
});

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
