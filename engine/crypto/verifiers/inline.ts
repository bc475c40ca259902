/** The single-thread twin of the pool: libsodium on the calling thread, which it blocks. */
import type { Verifier } from '../verifier.js';
import { createDirectVerifier } from './direct.js';
import { verifyOne } from './libsodium.js';
import { verifyReference } from './reference.js';

/** The fastest verification that this process has. */
export const verifyFastest = verifyOne ?? verifyReference;

export function createInlineVerifier(): Verifier {
  return createDirectVerifier('inline', verifyFastest);
}
