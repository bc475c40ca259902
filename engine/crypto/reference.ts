/**
 * Ed25519 in JavaScript: the reference implementation of the rule in `verifier.ts`, with point
 * arithmetic, and the keys of clients and browsers. Tests compare the other implementations with
 * this one. It also replaces libsodium where libsodium does not load. Simple rather than fast. Must
 * not import modules that need Node.
 */

import { etc, getPublicKey, hashes, Point, sign } from '@noble/ed25519';
import { sha512 } from '@noble/hashes/sha2.js';
import { assertJob, createDirectVerifier, type Verifier, type VerifyJob } from './verifier.js';

// The hash is module state in noble, so each thread sets it.
hashes.sha512 = sha512;

export { etc, getPublicKey, sign };

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

/** Returns null if RFC 8032 decoding fails: y >= p, not on the curve, or x = 0 with a sign bit. */
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

/** An agent's keys. Never log `privateKey`, which gives full control of the agent. */
export interface AgentKeys {
  /** 64 lower-case hex digits. */
  readonly publicKey: string;
  /** The 32-byte seed from RFC 8032, as 64 lower-case hex digits. */
  readonly privateKey: string;
}

/**
 * Derives keys from a seed: 32 bytes, or 64 hex characters.
 *
 * @throws {RangeError} for any other value.
 *
 * @example
 * ```ts
 * import { keysFromSeed, loadKeys, saveKeys } from 'folkmoot/client';
 *
 * const keys = keysFromSeed('11'.repeat(32));
 * const kept = loadKeys(saveKeys(keys));
 * console.log(keys.publicKey.slice(0, 8), kept.publicKey === keys.publicKey); // d04ab232 true
 * ```
 */
export function keysFromSeed(seed: Uint8Array | string): AgentKeys {
  const bytes = typeof seed === 'string' ? bytesOf(seed) : seed;
  if (bytes?.length !== 32) throw new RangeError('seed: expected 32 bytes, or 64 hex characters');
  return { publicKey: etc.bytesToHex(getPublicKey(bytes)), privateKey: etc.bytesToHex(bytes) };
}

/** Generates keys with the system's random number generator. */
export function generateKeys(): AgentKeys {
  return keysFromSeed(crypto.getRandomValues(new Uint8Array(32)));
}

const encoder = new TextEncoder();

/** Signs a text as UTF-8. Returns hex. */
export function signText(text: string, { privateKey }: AgentKeys): string {
  return etc.bytesToHex(sign(encoder.encode(text), etc.hexToBytes(privateKey)));
}

/** Verifies a text's signature. Returns false for malformed hex or a wrong length. */
export function verifyText(text: string, publicKey: string, signature: string): boolean {
  const key = bytesOf(publicKey);
  const signed = bytesOf(signature);
  if (key?.length !== 32 || signed?.length !== 64) return false;
  return verifyReference({ publicKey: key, message: encoder.encode(text), signature: signed });
}

const bytesOf = (hex: string): Uint8Array | null =>
  /^(?:[0-9a-fA-F]{2})+$/.test(hex) ? etc.hexToBytes(hex) : null;
