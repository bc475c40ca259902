/**
 * The rule of `verifier.ts` with WebCrypto, for browsers. Inputs on which platforms disagree are
 * rejected first. Then WebCrypto checks the equation. Falls back to the reference if WebCrypto is
 * missing or uses the cofactored equation.
 */

import { verifyReference } from './reference.js';
import { assertJob, type VerifyJob } from './verifier.js';

/** 2^255 - 19, whose y coordinates are 0 .. p - 1. */
const fieldPrime = 2n ** 255n - 19n;
/** L, the prime order of the base point (RFC 8032, 5.1). */
const groupOrder = 2n ** 252n + 27742317777372353535851937790883648493n;
/** y coordinate of a point of order 8. All four such points have this y or its negative. */
const orderEight = 0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n;
/** y coordinates of the points of order 1, 2, 4 and 8. */
const smallOrder = new Set([1n, fieldPrime - 1n, 0n, orderEight, fieldPrime - orderEight]);
const withoutSign = 2n ** 255n - 1n;

/** Size of the key cache. Importing a key costs as much as a verification. */
const KEYS = 4_096;

type Verify = (job: VerifyJob) => Promise<boolean>;
type Subtle = typeof globalThis.crypto.subtle;
type Key = Awaited<ReturnType<Subtle['importKey']>>;

let chosen: Promise<Verify> | undefined;

/**
 * Verifies a signature, and gives the same verdict as all other verifiers.
 * @throws {RangeError} for a key or signature with a wrong length.
 */
export async function verifyWeb(job: VerifyJob): Promise<boolean> {
  assertJob(job);
  if (refused(job)) return false;
  chosen ??= choose();
  return (await chosen)(job);
}

export async function webVerifierName(): Promise<'WebCrypto' | 'reference'> {
  chosen ??= choose();
  return (await chosen) === reference ? 'reference' : 'WebCrypto';
}

const reference: Verify = async (job) => verifyReference(job);

/** Returns true for small-order or non-canonical A or R, or S >= L. */
function refused({ publicKey, signature }: VerifyJob): boolean {
  if (littleEndian(signature.subarray(32)) >= groupOrder) return true;
  return [publicKey, signature.subarray(0, 32)].some((encoded) => {
    const y = littleEndian(encoded) & withoutSign;
    return y >= fieldPrime || smallOrder.has(y);
  });
}

function littleEndian(bytes: Uint8Array): bigint {
  let hex = '0x';
  for (let at = bytes.length - 1; at >= 0; at -= 1) hex += bytes[at]!.toString(16).padStart(2, '0');
  return BigInt(hex);
}

/** Chooses the implementation. Pages without TLS, except from localhost, have no `subtle`. */
async function choose(): Promise<Verify> {
  const subtle = globalThis.crypto?.subtle;
  if (!subtle) return reference;
  const verify = withSubtle(subtle);
  const verdicts = await Promise.all([fits, fitsWithCofactor].map(verify)).catch(() => []);
  return verdicts[0] === true && verdicts[1] === false ? verify : reference;
}

function withSubtle(subtle: Subtle): Verify {
  const keys = new Map<string, Promise<Key>>();
  const keyOf = (bytes: Uint8Array): Promise<Key> => {
    const name = String(bytes);
    const known = keys.get(name);
    if (known) return known;
    if (keys.size >= KEYS) keys.clear();
    const key = subtle.importKey('raw', copy(bytes), 'Ed25519', false, ['verify']);
    keys.set(name, key);
    return key;
  };
  return async ({ publicKey, message, signature }) => {
    let key: Key;
    try {
      key = await keyOf(publicKey);
    } catch {
      // Some platforms reject an invalid point on import, others on verification.
      return false;
    }
    return subtle.verify('Ed25519', key, copy(signature), copy(message));
  };
}

/** WebCrypto does not accept shared memory. */
const copy = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => Uint8Array.from(bytes);

const bytesOf = (hex: string): Uint8Array =>
  Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

const message = new TextEncoder().encode('folkmoot');

/** A valid signature. */
const fits: VerifyJob = {
  publicKey: bytesOf('17ffad8068dc0de9935d36636f3ad1b5de6de3413b12388e453b05f2a4c1d3db'),
  message,
  signature: bytesOf(
    '7db0dc9222f3c183457ddde4c708de8e5ea6bf3d5c4404cca14b32729a05c32a' +
      '1b28f4a48f6697c6aee0d90bac9543be9c56923367bc893062eb7e9142bc0c06',
  ),
};

/** A signature by a key plus a point of order 8, valid only by the cofactored equation. */
const fitsWithCofactor: VerifyJob = {
  publicKey: bytesOf('d63c01223147541df4e170763e9e2788a8bf5971f52a93c5829dbe6f5ff6bba9'),
  message,
  signature: bytesOf(
    '7db0dc9222f3c183457ddde4c708de8e5ea6bf3d5c4404cca14b32729a05c32a' +
      '6b4e5dd2f5ed0874d43f8f241f2b11a6a2f69c9e6acb3c828b96f1888056f705',
  ),
};
