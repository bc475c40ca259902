/**
 * SHA-256 in plain JavaScript, selected by `#sha256` outside Node. Must give the same results as
 * `sha256-node.ts` and must not import Node modules.
 */
import { sha256 as nobleSha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/** Returns the SHA-256 as 32 bytes. A string is hashed as UTF-8. */
export function sha256(data: Uint8Array | string): Uint8Array {
  return nobleSha256(typeof data === 'string' ? utf8ToBytes(data) : data);
}

/** Returns the SHA-256 as 64 lower-case hex digits. A string is hashed as UTF-8. */
export function sha256Hex(data: Uint8Array | string): string {
  return bytesToHex(sha256(data));
}
