/** Key pairs and signing. Stores no seeds. */
import { randomBytes } from 'node:crypto';
import type { Signatory } from '../protocol/compose.js';
import { sodium } from './inline.js';
import { etc, getPublicKey, sign as nobleSign } from './noble.js';
import { publicKeyBytes, signatureBytes } from './verifier.js';

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

/**
 * Returns the 64-byte Ed25519 signature of a message. Signing is deterministic (RFC 8032, 5.1.6).
 */
export function sign(message: Uint8Array, keyPair: KeyPair): Uint8Array {
  if (sodium === null) return nobleSign(message, keyPair.secretKey.subarray(0, seedBytes));
  const signature = new Uint8Array(signatureBytes);
  sodium.crypto_sign_detached(signature, message, keyPair.secretKey);
  return signature;
}

/** Creates a signer from a key pair, for the functions that compose requests. */
export function signatory(keys: KeyPair): Signatory {
  return {
    publicKey: keys.publicKeyHex,
    sign: (input) => Buffer.from(sign(Buffer.from(input), keys)).toString('hex'),
  };
}
