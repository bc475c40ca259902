/**
 * Closes pools while their threads load, in a child process, since a failure would crash the
 * process.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { full } from '../../support/counts.js';

const child = fileURLToPath(new URL('./close-child.mjs', import.meta.url));

const pools = ['verifier', 'signers', 'jobs'];

test.each(pools)('%s: can be closed at any time while its threads start', async (pool) => {
  const most = full ? '600' : '90';
  // Rejects if a signal ended the process.
  const { stdout } = await promisify(execFile)(process.execPath, [child, pool, most]);
  expect(stdout).toBe('closed');
});
