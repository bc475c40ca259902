/**
 * The rule of `verifier.ts` on WebCrypto, for pages: the platform's code checks the equation, after
 * what platforms differ in is refused here. Where there is none, or one that takes the cofactored
 * equation, the reference verifies.
 */

import { verifyReference } from './reference.js';
import { assertJob, type VerifyJob } from './verifier.js';

/** 2^255 - 19, whose y coordinates are 0 .. p - 1. */
const fieldPrime = 2n ** 255n - 19n;
/** L, the prime order of the base point (RFC 8032, 5.1). */
const groupOrder = 2n ** 252n + 27742317777372353535851937790883648493n;
/** y of a point of order 8; the other four of that order have it or its negative. */
const orderEight = 0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n;
/** Of the points of order 1, 2, 4 and 8. */
const smallOrder = new Set([1n, fieldPrime - 1n, 0n, orderEight, fieldPrime - orderEight]);
const withoutSign = 2n ** 255n - 1n;

/** Keys of those who sign in one network are few: importing one costs as much as a signature. */
const KEYS = 4_096;

type Verify = (job: VerifyJob) => Promise<boolean>;
type Subtle = typeof globalThis.crypto.subtle;
type Key = Awaited<ReturnType<Subtle['importKey']>>;

let chosen: Promise<Verify> | undefined;

/**
 * One verdict, the same as every other verifier's.
 * @throws {RangeError} on a wrong length of key or signature.
 */
export async function verifyWeb(job: VerifyJob): Promise<boolean> {
  assertJob(job);
  if (refused(job)) return false;
  chosen ??= choose();
  return (await chosen)(job);
}

/** What verifies here: `WebCrypto`, or `reference`. */
export async function webVerifierName(): Promise<'WebCrypto' | 'reference'> {
  chosen ??= choose();
  return (await chosen) === reference ? 'reference' : 'WebCrypto';
}

const reference: Verify = async (job) => verifyReference(job);

/** Small-order or non-canonical A or R, or S beyond the order: what only the bytes say. */
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

/** A page that is not served by TLS or from this machine has no `subtle`. */
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
      // Some platforms refuse the bytes of no point here, others when they verify.
      return false;
    }
    return subtle.verify('Ed25519', key, copy(signature), copy(message));
  };
}

/** WebCrypto takes no bytes that several threads may share. */
const copy = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => Uint8Array.from(bytes);

const bytesOf = (hex: string): Uint8Array =>
  Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

const message = new TextEncoder().encode('folkmoot');

/** An honest signature. */
const fits: VerifyJob = {
  publicKey: bytesOf('17ffad8068dc0de9935d36636f3ad1b5de6de3413b12388e453b05f2a4c1d3db'),
  message,
  signature: bytesOf(
    '7db0dc9222f3c183457ddde4c708de8e5ea6bf3d5c4404cca14b32729a05c32a' +
      '1b28f4a48f6697c6aee0d90bac9543be9c56923367bc893062eb7e9142bc0c06',
  ),
};

/** One whose key has a point of order 8 added: it fits by the cofactored equation only. */
const fitsWithCofactor: VerifyJob = {
  publicKey: bytesOf('d63c01223147541df4e170763e9e2788a8bf5971f52a93c5829dbe6f5ff6bba9'),
  message,
  signature: bytesOf(
    '7db0dc9222f3c183457ddde4c708de8e5ea6bf3d5c4404cca14b32729a05c32a' +
      '6b4e5dd2f5ed0874d43f8f241f2b11a6a2f69c9e6acb3c828b96f1888056f705',
  ),
};
