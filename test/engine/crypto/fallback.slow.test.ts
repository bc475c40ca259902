/** Without sodium-native, everything works, and one warning is printed. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import { keyPairFromSeed, sign } from '../../../dist/engine/crypto/keys.js';

const run = promisify(execFile);
const block = fileURLToPath(new URL('./block-sodium.cjs', import.meta.url));
const child = fileURLToPath(new URL('./fallback-child.mjs', import.meta.url));
const folders: string[] = [];

afterEach(async () => {
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true })));
});

test('fallback: the pool verifies in its threads without libsodium, with one warning', async () => {
  const { found, warning, blocked } = await runBlocked('pool');
  expectSameAsLibsodium(found);
  expect(warning).toMatch(/^sodium-native .*\n$/);
  // The number of threads follows the work and the machine.
  const [main, ...workers] = blocked;
  expect(main).toBe('main');
  expect(new Set(workers)).toEqual(new Set(['worker']));
});

test('fallback: inline verifies without libsodium, with one warning', async () => {
  const { found, warning, blocked } = await runBlocked('inline');
  expectSameAsLibsodium(found);
  expect(warning).toMatch(/^sodium-native .*\n$/);
  expect(blocked).toEqual(['main']);
});

test('fallback: the reference does not warn, since it never uses libsodium', async () => {
  const { found, warning } = await runBlocked('reference');
  expectSameAsLibsodium(found);
  expect(warning).toBe('');
});

interface Found {
  verdicts: boolean[];
  publicKeyHex: string;
  signature: string;
}

async function runBlocked(kind: string) {
  const folder = await mkdtemp(join(tmpdir(), 'fallback-'));
  folders.push(folder);
  const log = join(folder, 'blocked');
  const { stdout, stderr } = await run(process.execPath, ['--require', block, child, kind], {
    env: { ...process.env, BLOCKED_LOG: log },
  });
  const blocked = (await readFile(log, 'utf8')).trim().split('\n').sort();
  return { found: JSON.parse(stdout) as Found, warning: stderr, blocked };
}

/** Compares results with keys and signatures from this process, which uses libsodium. */
function expectSameAsLibsodium(found: Found): void {
  const keyPair = keyPairFromSeed(new Uint8Array(32).fill(1));
  const signature = sign(new TextEncoder().encode('agentnet-v1-vote'), keyPair);
  expect(found.publicKeyHex).toBe(keyPair.publicKeyHex);
  expect(found.signature).toBe(Buffer.from(signature).toString('hex'));
  expect(found.verdicts).toEqual(Array.from({ length: 40 }, (_, index) => index !== 9));
}
