/** Keys, timestamps and signatures of a request: absent or malformed ones are refused with 401. */

import { limits } from '../protocol/limits.js';
import { carriage, type SignedRequest } from '../protocol/schema/entry.js';
import { type Refusal, refuse } from '../protocol/schema/reason.js';
import { isPublicKey, isSignature, lowerKey } from '../protocol/text.js';
import { parseInstant } from '../protocol/time.js';
import { lowerAscii } from '../protocol/unicode.js';

/** Bytes of hex that has been checked: Buffer.from would silently cut bad hex short. */
export function hexBytes(hex: string): Uint8Array {
  return Buffer.from(hex, 'hex');
}

export function signatureProblem(signature: unknown): Refusal | null {
  if (signature === undefined || signature === '') {
    return refuse('MISSING', 'the signature is missing');
  }
  if (typeof signature === 'string' && isSignature(signature)) return null;
  return refuse('MALFORMED', `a signature is 128 hex characters${instead(signature, 64)}`);
}

/** What is wrong with a key as it was sent, in the header X-Agent-Public-Key or by register. */
export function keyProblem(key: string): Refusal | null {
  if (key === '') return refuse('MISSING', 'the header X-Agent-Public-Key is missing');
  if (isPublicKey(key)) return null;
  return refuse('MALFORMED', `a public key is 64 hex characters${instead(key, 32)}`);
}

/** What it looks like, where it is a known way to write so many bytes. */
function instead(text: unknown, bytes: number): string {
  if (typeof text !== 'string') return '';
  if (text.startsWith('0x')) return '; leave out 0x';
  const base64 = /^[A-Za-z0-9+/_-]+={0,2}$/.test(text);
  const long = base64 && Buffer.from(text, 'base64').length === bytes;
  return long ? '; this one is base64: send hex' : '';
}

/** A missing or malformed X-Timestamp is a failed signature. */
export function badTimestampHeader(timestamp: string): Refusal {
  return timestamp === ''
    ? refuse('MISSING', 'the header X-Timestamp is missing')
    : refuse('MALFORMED', `X-Timestamp is not an RFC 3339 timestamp: ${likeTimestamp(timestamp)}`);
}

/** It, and what it looks like. */
function likeTimestamp(timestamp: string): string {
  const shown = timestamp.slice(0, 64);
  if (/^\d{9,11}(\.\d+)?$/.test(shown)) return `${shown} are seconds; send as 2026-01-31T12:00:00Z`;
  if (/^\d{12,14}$/.test(shown)) return `${shown} are milliseconds; send as 2026-01-31T12:00:00Z`;
  const unzoned = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?$/.test(shown);
  return unzoned ? `${shown} has no offset; add Z or one such as +01:00` : shown;
}

interface Credentials {
  /** Lower case. */
  publicKey: string;
  signature: string;
}

/** Key and signature of a request, or why it has none. */
export function parseCredentials(
  request: SignedRequest,
  raw: Readonly<Record<string, unknown>>,
): Credentials | { refusal: Refusal } {
  const { signed } = carriage[request.kind];
  const key = request.public_key || (request.kind === 'register' ? String(raw.public_key) : '');
  const publicKey = lowerKey(key);
  if (publicKey === null) return { refusal: keyProblem(key)! };
  if (request.kind === 'register' && lowerAscii(String(raw.public_key)) !== publicKey) {
    const message = 'the key in the header is not the one in the body';
    return { refusal: refuse('MISMATCH', message, { pointer: '/public_key' }) };
  }
  if (signed !== 'body' && parseInstant(request.timestamp) === null) {
    return { refusal: badTimestampHeader(request.timestamp) };
  }
  const signature = signed === 'body' ? raw.signature : request.signature;
  const refusal = signatureProblem(signature);
  return refusal ? { refusal } : { publicKey, signature: String(signature) };
}

/** Returns true for a registered key (hex, lower case). */
export type Knows = (publicKey: string) => boolean;

/** Why a request is refused that was signed at `signedAt`: too far from `now`, both in ms. */
export function checkFreshness(signedAt: number, now: number): Refusal | null {
  const skew = signedAt - now;
  if (Math.abs(skew) <= limits.skewMs) return null;
  const most = `${limits.skewMs} are allowed`;
  return refuse('TIMESTAMP_SKEW', `the timestamp is ${skew} ms from the server's clock; ${most}`);
}

/** Why a request is refused whose key is not registered; a registration brings its own. */
export function checkKnownKey(
  { kind, public_key }: { kind: string; public_key: string },
  knows: Knows,
): Refusal | null {
  return kind === 'register' || knows(public_key) ? null : unknownKey(public_key);
}

export const unknownKey = (publicKey: string): Refusal =>
  refuse('UNKNOWN_KEY', `key ${publicKey} is not registered; register it first`);
