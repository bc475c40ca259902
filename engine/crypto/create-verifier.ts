/** The one place where a verifier is chosen by name. */

import { createInlineVerifier, sodium } from './inline.js';
import { createLazyVerifier, createPoolVerifier } from './pool.js';
import { createReferenceVerifier } from './reference.js';
import { createOffVerifier, type Verifier } from './verifier.js';

/**
 * Who checks signatures: libsodium in worker threads (`pool`) or in this thread (`inline`),
 * JavaScript (`reference`, slow), or nobody (`off`, for simulations). All that check agree on every
 * bit.
 */
export type VerifierKind = 'pool' | 'inline' | 'reference' | 'off';

/** Options of {@link createVerifier}. */
export interface VerifierOptions {
  /** Worker threads of `pool`, 2 by default. */
  threads?: number;
  /** How many signatures `pool` checks in this thread before it uses others; 0 by default. */
  threadsAfter?: number;
  /** Gets the one line of warning, if there is one; standard error by default. */
  warn?: (line: string) => void;
}

/**
 * Makes a verifier; close it when its networks are closed. Where libsodium does not load, `pool`
 * and `inline` verify with the reference, which gives the same answers, and `warn` is called once.
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
    warn('sodium-native did not load: signatures are verified in JavaScript, 30 times slower');
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
