import { createInlineVerifier, sodium } from './inline.js';
import { createLazyVerifier, createPoolVerifier } from './pool.js';
import { createReferenceVerifier } from './reference.js';
import { createOffVerifier, type Verifier } from './verifier.js';

/**
 * Verifier implementation: libsodium in worker threads (`pool`) or in this thread (`inline`),
 * JavaScript (`reference`, slow), or none (`off`, for simulations). The first three give identical
 * verdicts.
 */
export type VerifierKind = 'pool' | 'inline' | 'reference' | 'off';

/** Options of {@link createVerifier}. */
export interface VerifierOptions {
  /** Worker threads for `pool`. Default: 2, or 1 on a machine with one core. */
  threads?: number;
  /** Signatures that `pool` verifies in this thread before it uses workers. Default: 0. */
  threadsAfter?: number;
  /** Receives a warning line. Default: writes to standard error. */
  warn?: (line: string) => void;
}

/**
 * Creates a verifier. Close the verifier after the networks that use it. If libsodium does not
 * load, `pool` and `inline` call `warn` once and use the reference, which gives identical verdicts.
 *
 * @example
 * ```ts
 * import { createVerifier, generateKeyPair, sign } from 'folkmoot';
 *
 * const verifier = createVerifier('pool', { threads: 1 });
 * const keys = generateKeyPair();
 * const message = new TextEncoder().encode('hello');
 * const job = { publicKey: keys.publicKey, message, signature: sign(message, keys) };
 * const wrong = { ...job, message: new TextEncoder().encode('bye') };
 * console.log(await verifier.verify([job, wrong])); // [ true, false ]
 * await verifier.close();
 * ```
 */
export function createVerifier(kind: VerifierKind, options: VerifierOptions = {}): Verifier {
  const usesSodium = kind === 'pool' || kind === 'inline';
  if (usesSodium && sodium === null) {
    const warn = options.warn ?? ((line: string) => void process.stderr.write(`${line}\n`));
    warn('sodium-native failed to load; verifying signatures in JavaScript, 30 times slower');
  }
  switch (kind) {
    case 'pool': {
      const { threads, threadsAfter = 0 } = options;
      const start = () => createPoolVerifier(threads === undefined ? {} : { threads });
      return threadsAfter > 0 ? createLazyVerifier(threadsAfter, start) : start();
    }
    case 'inline':
      return createInlineVerifier();
    case 'reference':
      return createReferenceVerifier();
    case 'off':
      return createOffVerifier();
  }
}
