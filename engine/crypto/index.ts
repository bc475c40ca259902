/** Ed25519: the verifiers, and keys. The rule that all of them obey is in `verifier.ts`. */
export { createVerifier, type VerifierKind, type VerifierOptions } from './create.js';
export { createInlineVerifier } from './inline.js';
export { generateKeyPair, type KeyPair, keyPairFromSeed, sign } from './keys.js';
export { verifyOne as verifyWithLibsodium } from './libsodium.js';
export { createOffVerifier } from './off.js';
export { createPoolVerifier, type PoolVerifier } from './pool.js';
export { createReferenceVerifier, verifyReference } from './reference.js';
export { type Verifier, VerifierBusy, type VerifierStats, type VerifyJob } from './verifier.js';
