/**
 * `@noble/ed25519`, with the SHA-512 that its synchronous calls need. Import noble only from here.
 */
import { etc, getPublicKey, hashes, Point, sign } from '@noble/ed25519';
import { sha512 } from '@noble/hashes/sha2.js';

// The hash is module state in noble, so each thread sets it.
hashes.sha512 = sha512;

export { etc, getPublicKey, Point, sha512, sign };
