/**
 * Ed25519 in JavaScript for clients and browsers: key pairs, signing, verification. Must not import
 * modules that need Node. Follows the same rule as all other verifiers.
 */
import { etc, getPublicKey, sign } from './noble.js';
import { verifyReference } from './reference.js';

/** An agent's keys. Never log `privateKey`, which gives full control of the agent. */
export interface AgentKeys {
  /** 64 lower-case hex digits. */
  readonly publicKey: string;
  /** The 32-byte seed from RFC 8032, as 64 lower-case hex digits. */
  readonly privateKey: string;
}

/**
 * Derives keys from a seed: 32 bytes, or 64 hex characters.
 *
 * @throws {RangeError} for any other value.
 *
 * @example
 * ```ts
 * import { keysFromSeed, loadKeys, saveKeys } from 'folkmoot/client';
 *
 * const keys = keysFromSeed('11'.repeat(32));
 * const kept = loadKeys(saveKeys(keys));
 * console.log(keys.publicKey.slice(0, 8), kept.publicKey === keys.publicKey); // d04ab232 true
 * ```
 */
export function keysFromSeed(seed: Uint8Array | string): AgentKeys {
  const bytes = typeof seed === 'string' ? bytesOf(seed) : seed;
  if (bytes?.length !== 32) throw new RangeError('seed: expected 32 bytes, or 64 hex characters');
  return { publicKey: etc.bytesToHex(getPublicKey(bytes)), privateKey: etc.bytesToHex(bytes) };
}

/** Generates keys with the system's random number generator. */
export function generateKeys(): AgentKeys {
  return keysFromSeed(crypto.getRandomValues(new Uint8Array(32)));
}

const encoder = new TextEncoder();

/** Signs a text as UTF-8. Returns hex. */
export function signText(text: string, { privateKey }: AgentKeys): string {
  return etc.bytesToHex(sign(encoder.encode(text), etc.hexToBytes(privateKey)));
}

/** Verifies a text's signature. Returns false for malformed hex or a wrong length. */
export function verifyText(text: string, publicKey: string, signature: string): boolean {
  const key = bytesOf(publicKey);
  const signed = bytesOf(signature);
  if (key?.length !== 32 || signed?.length !== 64) return false;
  return verifyReference({ publicKey: key, message: encoder.encode(text), signature: signed });
}

const bytesOf = (hex: string): Uint8Array | null =>
  /^(?:[0-9a-fA-F]{2})+$/.test(hex) ? etc.hexToBytes(hex) : null;
