/** `@noble/ed25519` with the SHA-512 that its synchronous calls need; import it from here only. */
import { etc, getPublicKey, hashes, Point, sign } from '@noble/ed25519';
import { sha512 } from '@noble/hashes/sha2.js';

// Module state of noble, so each thread that imports this file sets it for itself.
hashes.sha512 = sha512;

export { etc, getPublicKey, Point, sha512, sign };
