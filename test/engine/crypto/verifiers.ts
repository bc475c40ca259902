/** All verifiers, for tests that compare them. */
import { readFile } from 'node:fs/promises';
import { afterAll, expect } from 'vitest';
import { createVerifier } from '../../../dist/engine/crypto/pool.js';
import type { VerifyJob } from '../../../dist/engine/crypto/verifier.js';
import { verifyWeb, webVerifierName } from '../../../dist/engine/crypto/webcrypto.js';

/**
 * Returns a function that verifies with all verifiers, expects them to agree, and returns the
 * verdicts. Closes the verifiers after the tests in the file.
 */
export function createAgreement(): (jobs: readonly VerifyJob[]) => Promise<boolean[]> {
  const [pool, inline, reference] = (['pool', 'inline', 'reference'] as const).map((kind) =>
    createVerifier(kind),
  );
  afterAll(async () => {
    await Promise.all([pool!.close(), inline!.close(), reference!.close()]);
  });
  return async (jobs) => {
    const byReference = await reference!.verify(jobs);
    expect(await inline!.verify(jobs), 'inline against reference').toEqual(byReference);
    expect(await pool!.verify(jobs), 'pool against reference').toEqual(byReference);
    expect(await webVerifierName()).toBe('WebCrypto');
    const byWeb = await Promise.all(jobs.map(verifyWeb));
    expect(byWeb, 'WebCrypto against reference').toEqual(byReference);
    return byReference;
  };
}

export function fromHex(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex, 'hex'));
}

/** Reads a file in test/vectors, without validation. */
export async function readVectors<Shape>(name: string): Promise<Shape> {
  const url = new URL(`../../vectors/${name}`, import.meta.url);
  return JSON.parse(await readFile(url, 'utf8')) as Shape;
}
