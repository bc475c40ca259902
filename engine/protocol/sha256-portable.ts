/**
 * SHA-256 in plain JavaScript, chosen by `#sha256` outside Node. It must equal `node.ts` on every
 * input, and import nothing of Node's.
 */
import { sha256 as nobleSha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/** The 32 bytes of SHA-256; a string is hashed as its UTF-8. */
export function sha256(data: Uint8Array | string): Uint8Array {
  return nobleSha256(typeof data === 'string' ? utf8ToBytes(data) : data);
}

/** SHA-256 as 64 lower-case hex digits; a string is hashed as its UTF-8. */
export function sha256Hex(data: Uint8Array | string): string {
  return bytesToHex(sha256(data));
}
