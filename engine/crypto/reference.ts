/**
 * Reference implementation of the rule in `verifier.ts`, with point arithmetic. Tests compare the
 * other implementations with this one. It also replaces libsodium where libsodium does not load.
 * Simple rather than fast.
 */

import { etc, Point, sha512 } from './noble.js';
import { assertJob, createDirectVerifier, type Verifier, type VerifyJob } from './verifier.js';

/** L, the prime order of the base point (RFC 8032, 5.1). */
const groupOrder = Point.CURVE().n;

/**
 * Verifies a signature, at about 850/s. Uses only the points of noble, since its `verify` uses the
 * cofactored equation in both modes.
 * @throws {RangeError} for a key or signature with a wrong length.
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
  // The equation is cofactorless, so R must equal S*B - k*A exactly, not up to a small-order point.
  const recomputed = Point.BASE.multiply(s, false).subtract(a.multiply(k, false));
  return etc.bytesToHex(recomputed.toBytes()) === etc.bytesToHex(encodedR);
}

/** Creates a verifier that runs on the calling thread. */
export function createReferenceVerifier(): Verifier {
  return createDirectVerifier('reference', verifyReference);
}

/**
 * Returns null if decoding fails by RFC 8032: y >= p, not on the curve, or x = 0 with the sign bit
 * set.
 */
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
