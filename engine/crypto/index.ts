/** Ed25519: the verifiers, and keys. The rule that all of them obey is in `verifier.ts`. */
export { createVerifier, type VerifierKind, type VerifierOptions } from './create.js';
export { generateKeyPair, type KeyPair, keyPairFromSeed, sign } from './keys.js';
export { createPoolVerifier, type PoolVerifier } from './pool/pool.js';
export { startPool } from './pool/start.js';
export { type Verifier, VerifierBusy, type VerifierStats, type VerifyJob } from './verifier.js';
export { createInlineVerifier } from './verifiers/inline.js';
export { verifyOne as verifyWithLibsodium } from './verifiers/libsodium.js';
export { createOffVerifier } from './verifiers/off.js';
export { createReferenceVerifier, verifyReference } from './verifiers/reference.js';
