/** The single-thread twin of the pool: libsodium on the calling thread, which it blocks. */
import { createRequire } from 'node:module';
import { verifyReference } from './reference.js';
import { assertJob, createDirectVerifier, type Verifier, type VerifyJob } from './verifier.js';

/*
 * libsodium through sodium-native, or null where that does not load. Nothing else loads the module.
 *
 * What its verification does was checked for 5.1.0 (libsodium 1.0.21, e18eee6 by its CMakeLists):
 * the disassembled `_crypto_sign_ed25519_verify_detached` refuses S >= L, small-order R, and
 * non-canonical or small-order A, and compares the re-encoded S*B - k*A with R as bytes, which
 * refuses non-canonical R as well. Signatures with points of order 2, 4 and 8 added to A and R got
 * exactly the verdicts of the cofactorless equation. So it obeys the rule as it is. Other releases
 * of libsodium take the cofactored equation, `ge25519_has_small_order(&check)`: the fuzz tests must
 * pass again before the version of sodium-native changes.
 */

/** The calls of sodium-native that are used; the package ships no types of its own. */
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

/** One verdict by libsodium, some 28,000 a second; null where it does not load. */
export const verifyOne = sodium === null ? null : verifyWith(sodium);

function verifyWith(native: Sodium): (job: VerifyJob) => boolean {
  return (job) => {
    assertJob(job);
    return native.crypto_sign_verify_detached(job.signature, job.message, job.publicKey);
  };
}

/** Required, not imported, so that the answer is known without an await. */
function loadSodium(): Sodium | null {
  try {
    return createRequire(import.meta.url)('sodium-native') as Sodium;
  } catch {
    // No binary for this platform or Node: createVerifier says so once.
    return null;
  }
}

/** The fastest verification that this process has. */
export const verifyFastest = verifyOne ?? verifyReference;

export function createInlineVerifier(): Verifier {
  return createDirectVerifier('inline', verifyFastest);
}
