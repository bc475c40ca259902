/** createVerifier and key pairs. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { generateKeyPair, keyPairFromSeed, sign } from '../../../dist/engine/crypto/keys.js';
import {
  createLazyVerifier,
  createPoolVerifier,
  createVerifier,
  type PoolVerifier,
} from '../../../dist/engine/crypto/pool.js';

test('createVerifier: names each kind, and refuses calls after close', async () => {
  for (const kind of ['pool', 'inline', 'reference'] as const) {
    const lines: string[] = [];
    const verifier = createVerifier(kind, { threads: 1, warn: (line) => lines.push(line) });
    expect(verifier.name).toBe(kind);
    expect(lines).toEqual([]);
    await verifier.close();
    await expect(verifier.verify([])).rejects.toThrow(`verifier ${kind} is closed`);
  }
});

test('createVerifier: inline and reference count signatures and refuse wrong lengths', async () => {
  const keyPair = generateKeyPair();
  const message = new Uint8Array([1, 2, 3]);
  const job = { publicKey: keyPair.publicKey, message, signature: sign(message, keyPair) };
  for (const kind of ['inline', 'reference'] as const) {
    const verifier = createVerifier(kind);
    const verdicts = await verifier.verify([job, { ...job, message: new Uint8Array(3) }]);
    expect(verdicts).toEqual([true, false]);
    expect(verifier.stats).toMatchObject({
      verified: 1,
      rejected: 1,
      batches: 1,
      batchSizes: [0, 1],
    });
    const short = { ...job, signature: job.signature.subarray(0, 63) };
    await expect(verifier.verify([short])).rejects.toThrow(RangeError);
  }
});

describe('createVerifier: a pool that starts late', () => {
  const keyPair = generateKeyPair();
  const message = new Uint8Array([1, 2, 3]);
  const job = { publicKey: keyPair.publicKey, message, signature: sign(message, keyPair) };
  const wrong = { ...job, message: new Uint8Array(3) };
  const late = () => {
    const started: PoolVerifier[] = [];
    const verifier = createLazyVerifier(4, () => {
      started.push(createPoolVerifier({ threads: 1 }));
      return started.at(-1)!;
    });
    onTestFinished(() => verifier.close());
    return { verifier, started };
  };

  test('createVerifier: gives the same verdicts before and after threads start', async () => {
    const { verifier, started } = late();
    expect(await verifier.verify([job, wrong])).toEqual([true, false]);
    expect(started.length).toBe(0);
    expect(await verifier.verify([wrong, job])).toEqual([false, true]);
    // The threads have started but are not used yet.
    expect(started.map(({ stats }) => stats.batches)).toEqual([0]);
    expect(await verifier.verify([job, wrong, job])).toEqual([true, false, true]);
    expect(started.map(({ stats }) => stats.verified)).toEqual([2]);
    expect(verifier.stats).toMatchObject({
      verified: 4,
      rejected: 3,
      batches: 3,
      batchSizes: [0, 3],
    });
  });

  test('createVerifier: verifies large calls in threads, and refuses wrong lengths', async () => {
    const { verifier, started } = late();
    const short = { ...job, signature: job.signature.subarray(0, 63) };
    await expect(verifier.verify([short])).rejects.toThrow(RangeError);
    await verifier.verify(Array.from({ length: 20 }, () => job));
    expect(started[0]!.stats.verified).toBe(20);
    await expect(verifier.verify([short])).rejects.toThrow(RangeError);
  });
});

test('createVerifier: off accepts everything and counts nothing', async () => {
  const verifier = createVerifier('off');
  const nonsense = {
    publicKey: new Uint8Array(32),
    message: new Uint8Array(0),
    signature: new Uint8Array(64),
  };
  expect(await verifier.verify([nonsense, nonsense])).toEqual([true, true]);
  expect(verifier.stats).toMatchObject({ verified: 0, rejected: 0, batches: 0, batchSizes: [] });
});

test('keys: derives one key pair per seed, and refuses other lengths', () => {
  const seed = new Uint8Array(32).fill(1);
  const keyPair = keyPairFromSeed(seed);
  // As in test/vectors/signing.json.
  expect(keyPair.publicKeyHex).toBe(
    '8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c',
  );
  expect(keyPairFromSeed(seed)).toEqual(keyPair);
  expect(keyPair.secretKey).toEqual(Uint8Array.from([...seed, ...keyPair.publicKey]));
  expect(generateKeyPair().publicKeyHex).not.toBe(generateKeyPair().publicKeyHex);
  expect(() => keyPairFromSeed(new Uint8Array(31))).toThrow(RangeError);
});
