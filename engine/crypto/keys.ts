/** libsodium: key pairs, signing, and a verifier that blocks the calling thread. */

import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import type { Signatory } from '../protocol/compose.js';
import { etc, getPublicKey, sign as nobleSign, verifyReference } from './reference.js';
import {
  assertJob,
  createDirectVerifier,
  publicKeyBytes,
  signatureBytes,
  type Verifier,
  type VerifyJob,
} from './verifier.js';

/*
 * libsodium through sodium-native, or null if the module does not load.
 *
 * sodium-native 5.1.0 (libsodium 1.0.21, e18eee6 by its CMakeLists) obeys the rule in verifier.ts.
 * Evidence: the disassembled `_crypto_sign_ed25519_verify_detached` refuses S >= L, small-order R,
 * and non-canonical or small-order A. It compares the re-encoded S*B - k*A with R as bytes, which
 * also refuses non-canonical R. Signatures with points of order 2, 4 and 8 added to A and R got the
 * verdicts that the cofactorless equation gives. Other releases of libsodium use the cofactored
 * equation, `ge25519_has_small_order(&check)`, so the fuzz tests must pass before an upgrade.
 */

/** Functions used from sodium-native, which has no types. */
interface Sodium {
  crypto_sign_verify_detached(
    signature: Uint8Array,
    message: Uint8Array,
    publicKey: Uint8Array,
  ): boolean;
  /** Fills `publicKey` (32 bytes) and `secretKey` (64 bytes: the seed, then the public key). */
  crypto_sign_seed_keypair(publicKey: Uint8Array, secretKey: Uint8Array, seed: Uint8Array): void;
  crypto_sign_detached(signature: Uint8Array, message: Uint8Array, secretKey: Uint8Array): void;
}

export const sodium: Sodium | null = loadSodium();

/** Verifies with libsodium at about 28,000/s; null if libsodium does not load. */
export const verifyOne = sodium === null ? null : verifyWith(sodium);

function verifyWith(native: Sodium): (job: VerifyJob) => boolean {
  return (job) => {
    assertJob(job);
    return native.crypto_sign_verify_detached(job.signature, job.message, job.publicKey);
  };
}

/** Uses `require`, which is synchronous. */
function loadSodium(): Sodium | null {
  try {
    return createRequire(import.meta.url)('sodium-native') as Sodium;
  } catch {
    // No binary exists for this platform or Node version. createVerifier warns.
    return null;
  }
}

/** Fastest implementation available in this process. */
export const verifyFastest = verifyOne ?? verifyReference;

/** Creates a verifier that runs on the calling thread and blocks it. */
export function createInlineVerifier(): Verifier {
  return createDirectVerifier('inline', verifyFastest);
}

const seedBytes = 32;

/** An Ed25519 key pair. */
export interface KeyPair {
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** 64 lower-case hex digits. */
  readonly publicKeyHex: string;
  /** 64 bytes as in libsodium: the seed, then the public key. Never log the secret key. */
  readonly secretKey: Uint8Array;
}

/**
 * Derives a key pair from a 32-byte seed (the secret key of RFC 8032).
 * @throws {RangeError} for a seed of a different length.
 */
export function keyPairFromSeed(seed: Uint8Array): KeyPair {
  if (seed.length !== seedBytes) {
    throw new RangeError(`seed: expected 32 bytes, got ${seed.length}`);
  }
  const publicKey = new Uint8Array(publicKeyBytes);
  const secretKey = new Uint8Array(seedBytes + publicKeyBytes);
  if (sodium === null) {
    publicKey.set(getPublicKey(seed));
    secretKey.set(seed);
    secretKey.set(publicKey, seedBytes);
  } else {
    sodium.crypto_sign_seed_keypair(publicKey, secretKey, seed);
  }
  return { publicKey, publicKeyHex: etc.bytesToHex(publicKey), secretKey };
}

/** Generates a random key pair. Simulations derive keys from the run's seed instead. */
export function generateKeyPair(): KeyPair {
  return keyPairFromSeed(randomBytes(seedBytes));
}

/** Returns the 64-byte Ed25519 signature of a message. Deterministic (RFC 8032, 5.1.6). */
export function sign(message: Uint8Array, keyPair: KeyPair): Uint8Array {
  if (sodium === null) return nobleSign(message, keyPair.secretKey.subarray(0, seedBytes));
  const signature = new Uint8Array(signatureBytes);
  sodium.crypto_sign_detached(signature, message, keyPair.secretKey);
  return signature;
}

/** Creates a signer from a key pair, for the functions that compose requests. */
export const signatory = (keys: KeyPair): Signatory => ({
  publicKey: keys.publicKeyHex,
  sign: (input) => signText(input, keys),
});

const signText = (input: string, keys: KeyPair): string =>
  Buffer.from(sign(Buffer.from(input), keys)).toString('hex');

/** A signatory whose key pair is known to this process, so that other threads can sign too. */
export class KeySignatory implements Signatory {
  constructor(readonly keys: KeyPair) {}

  get publicKey(): string {
    return this.keys.publicKeyHex;
  }

  sign(input: string): string {
    return signText(input, this.keys);
  }
}
