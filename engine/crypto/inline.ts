/** A libsodium verifier that runs on the calling thread and blocks it. */
import { createRequire } from 'node:module';
import { verifyReference } from './reference.js';
import { assertJob, createDirectVerifier, type Verifier, type VerifyJob } from './verifier.js';

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

export function createInlineVerifier(): Verifier {
  return createDirectVerifier('inline', verifyFastest);
}
