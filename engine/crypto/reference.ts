/**
 * The rule of `verifier.ts` written out on point arithmetic: what the other implementations are
 * held against, and what runs where libsodium does not load. It favours plainness over speed.
 */

import { etc, Point, sha512 } from './noble.js';
import { assertJob, createDirectVerifier, type Verifier, type VerifyJob } from './verifier.js';

/** L, the prime order of the base point (RFC 8032, 5.1). */
const groupOrder = Point.CURVE().n;

/**
 * One verdict, some 850 a second. noble's own `verify` is cofactored in both of its modes, so only
 * its points are used.
 * @throws {RangeError} on a wrong length of key or signature.
 */
export function verifyReference(job: VerifyJob): boolean {
  assertJob(job);
  const { publicKey, message, signature } = job;
  const encodedR = signature.subarray(0, 32);
  const s = numberFromLittleEndian(signature.subarray(32));
  if (s >= groupOrder) return false;
  const a = decodePoint(publicKey);
  const r = decodePoint(encodedR);
  if (a === null || r === null || a.isSmallOrder() || r.isSmallOrder()) return false;
  const digest = sha512(etc.concatBytes(encodedR, publicKey, message));
  const k = etc.mod(numberFromLittleEndian(digest), groupOrder);
  // Cofactorless: R must be S*B - k*A itself, not merely equal up to a point of small order.
  const recomputed = Point.BASE.multiply(s, false).subtract(a.multiply(k, false));
  return etc.bytesToHex(recomputed.toBytes()) === etc.bytesToHex(encodedR);
}

/** The reference behind the interface, on the calling thread. */
export function createReferenceVerifier(): Verifier {
  return createDirectVerifier('reference', verifyReference);
}

/** Null for what RFC 8032 does not decode: y >= p, not on the curve, or x = 0 with its sign set. */
function decodePoint(encoded: Uint8Array): Point | null {
  try {
    return Point.fromBytes(encoded, false);
  } catch {
    return null;
  }
}

function numberFromLittleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${etc.bytesToHex(bytes.toReversed())}`);
}
