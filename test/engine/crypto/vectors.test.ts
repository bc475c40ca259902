/** Published test vectors. */
import { expect, test } from 'vitest';
import { keyPairFromSeed, sign } from '../../../dist/engine/crypto/keys.js';
import type { VerifyJob } from '../../../dist/engine/crypto/verifier.js';
import { createAgreement, fromHex, readVectors } from './verifiers.js';

const agree = createAgreement();

test('verifiers: accept the signatures of RFC 8032, and signing reproduces them', async () => {
  type Vector = { priv: string; pub: string; msg: string; sig: string };
  const vectors = await readVectors<Vector[]>('rfc8032_ed25519.json');
  const jobs = vectors.map((vector) => toJob(vector.pub, vector.msg, vector.sig));
  expect(await agree(jobs)).toEqual(vectors.map(() => true));
  for (const vector of vectors) {
    const keyPair = keyPairFromSeed(fromHex(vector.priv));
    expect(keyPair.publicKeyHex).toBe(vector.pub);
    expect(Buffer.from(sign(fromHex(vector.msg), keyPair)).toString('hex')).toBe(vector.sig);
  }
});

test('verifiers: give the expected result for every Wycheproof vector', async () => {
  type Case = { tcId: number; comment: string; msg: string; sig: string; result: string };
  type File = { testGroups: { publicKey: { pk: string }; tests: Case[] }[]; numberOfTests: number };
  const file = await readVectors<File>('wycheproof_ed25519_test.json');
  const cases = file.testGroups.flatMap(({ publicKey, tests }) =>
    tests.map((vector) => ({ vector, job: toJob(publicKey.pk, vector.msg, vector.sig) })),
  );
  expect(cases.length).toBe(file.numberOfTests);
  // Callers refuse signatures with a wrong length, so such signatures do not reach a verifier.
  const wellFormed = cases.filter(({ job }) => job.signature.length === 64);
  const verdicts = await agree(wellFormed.map(({ job }) => job));
  const valid = new Set(wellFormed.filter((_, index) => verdicts[index]));
  for (const one of cases) {
    const { tcId, comment, result } = one.vector;
    expect(valid.has(one), `tcId ${tcId}: ${comment}`).toBe(result === 'valid');
  }
});

test('verifiers: accept each signature of signing.json for its input only', async () => {
  type Entry = { signing_input: string; signature: string; sender?: string };
  const file = await readVectors<Record<string, string | Entry>>('signing.json');
  const entries = Object.values(file).filter((entry) => typeof entry !== 'string');
  expect(entries.length).toBeGreaterThan(10);
  const jobs = entries.map((entry) => ({
    publicKey: fromHex(entry.sender ?? String(file.public_key)),
    message: new TextEncoder().encode(entry.signing_input),
    signature: fromHex(entry.signature),
  }));
  expect(await agree(jobs)).toEqual(jobs.map(() => true));
  const cut = jobs.map((job) => ({ ...job, message: job.message.subarray(1) }));
  expect(await agree(cut)).toEqual(jobs.map(() => false));
});

function toJob(publicKey: string, message: string, signature: string): VerifyJob {
  return {
    publicKey: fromHex(publicKey),
    message: fromHex(message),
    signature: fromHex(signature),
  };
}
