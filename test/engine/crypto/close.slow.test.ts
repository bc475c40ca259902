/** A pool that is closed while its threads load: in a process of its own, which may end by it. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { full } from '../../support/counts.js';

const child = fileURLToPath(new URL('./close-child.mjs', import.meta.url));

const pools = ['verifier', 'signers', 'jobs'];

test.each(
  pools,
)('%s: closed at any moment of the start of its threads, the process goes on', async (pool) => {
  const most = full ? '600' : '90';
  // Rejects with the signal that ended it.
  const { stdout } = await promisify(execFile)(process.execPath, [child, pool, most]);
  expect(stdout).toBe('closed');
});
