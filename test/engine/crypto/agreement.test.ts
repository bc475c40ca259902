/** All verifiers agree on random valid and hostile signatures, and obey the rule. */
import { Point } from '@noble/ed25519';
import { expect, test } from 'vitest';
import { keyPairFromSeed, sign } from '../../../dist/engine/crypto/keys.js';
import { counts } from '../../support/counts.js';
import { fc, forAllAsync } from '../../support/property.js';
import {
  challenge,
  encodeY,
  fieldPrime,
  fromLittleEndian,
  groupOrder,
  jobWith,
  joinSignature,
  oddEncodings,
  torsion,
} from './points.js';
import { createAgreement } from './verifiers.js';

const agree = createAgreement();
const runs = { numRuns: counts.fuzzSignatures };

const seed = fc.uint8Array({ minLength: 32, maxLength: 32 });
const scalar = fc.bigInt({ min: 1n, max: groupOrder - 1n });
const message = fc.uint8Array({ maxLength: 300 });
const multiple = fc.integer({ min: 0, max: 7 });

test('verifiers: agree on valid signatures with a flipped bit', async () => {
  const part = fc.constantFrom('nothing', 'publicKey', 'message', 'signature' as const);
  await forAllAsync([seed, message, part, fc.nat()], runs, async (key, text, what, bit) => {
    const keyPair = keyPairFromSeed(key);
    const job = { publicKey: keyPair.publicKey, message: text, signature: sign(text, keyPair) };
    const untouched = what === 'nothing' || (what === 'message' && text.length === 0);
    const changed = untouched ? job : { ...job, [what]: flipBit(job[what], bit) };
    expect(await agree([changed])).toEqual([untouched]);
  });
});

test('verifiers: accept points with torsion only by the cofactorless equation', async () => {
  await forAllAsync(
    [scalar, scalar, multiple, multiple, message],
    runs,
    async (a, r, torsionOfA, torsionOfR, text) => {
      const encodedA = Point.BASE.multiply(a).add(torsion(torsionOfA)).toBytes();
      const encodedR = Point.BASE.multiply(r).add(torsion(torsionOfR)).toBytes();
      const k = challenge(encodedR, encodedA, text);
      const holds = (Number(k % 8n) * torsionOfA + torsionOfR) % 8 === 0;
      const job = jobWith({ a, r, encodedA, encodedR, message: text });
      expect(await agree([job])).toEqual([holds]);
    },
  );
});

test('verifiers: refuse small-order and non-canonical points for any S', async () => {
  const odd = fc.constantFrom(...oddEncodings);
  const which = fc.constantFrom('A', 'R', 'both');
  await forAllAsync(
    [fc.record({ a: scalar, r: scalar, oddA: odd, oddR: odd, which, text: message })],
    runs,
    async ({ a, r, oddA, oddR, which: where, text }) => {
      const encodedA = where === 'R' ? Point.BASE.multiply(a).toBytes() : oddA;
      const encodedR = where === 'A' ? Point.BASE.multiply(r).toBytes() : oddR;
      const k = challenge(encodedR, encodedA, text);
      // Values of S for the equation without the odd point on either side, and 0 for both sides.
      const jobs = [0n, r, (k * a) % groupOrder, (r + k * a) % groupOrder].map((s) => ({
        publicKey: encodedA,
        message: text,
        signature: joinSignature(encodedR, s),
      }));
      expect(await agree(jobs)).toEqual([false, false, false, false]);
    },
  );
});

test('verifiers: refuse S + L and its multiples', async () => {
  const times = fc.bigInt({ min: 1n, max: 14n });
  await forAllAsync([seed, message, times], runs, async (key, text, count) => {
    const keyPair = keyPairFromSeed(key);
    const signature = sign(text, keyPair);
    const s = fromLittleEndian(signature.subarray(32)) + count * groupOrder;
    const grown = joinSignature(signature.subarray(0, 32), s);
    const job = { publicKey: keyPair.publicKey, message: text, signature: grown };
    expect(await agree([job])).toEqual([false]);
  });
});

test('verifiers: agree on bytes that are not points', async () => {
  const bytes = fc.uint8Array({ minLength: 96, maxLength: 96 });
  await forAllAsync([bytes, message], runs, async (noise, text) => {
    const job = { publicKey: noise.slice(0, 32), message: text, signature: noise.slice(32) };
    expect(await agree([job])).toEqual([false]);
  });
});

test('verifiers: refuse S = 0 with extreme values of y, and do not throw', async () => {
  const edges = [0n, 1n, 2n, fieldPrime - 2n, fieldPrime - 1n, 2n ** 255n - 1n];
  const encodings = edges.flatMap((y) => [encodeY(y, 0), encodeY(y, 1)]);
  const jobs = encodings.flatMap((publicKey) =>
    encodings.map((encodedR) => ({
      publicKey,
      message: new Uint8Array(0),
      signature: joinSignature(encodedR, 0n),
    })),
  );
  expect(await agree(jobs)).toEqual(jobs.map(() => false));
});

function flipBit(bytes: Uint8Array, bit: number): Uint8Array {
  const copy = bytes.slice();
  copy[(bit >> 3) % copy.length]! ^= 1 << (bit & 7);
  return copy;
}
