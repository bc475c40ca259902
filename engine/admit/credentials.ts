/** Checks keys, timestamps and signatures. Missing or malformed values are refused with 401. */

import { limits } from '../protocol/limits.js';
import { carriage, type SignedRequest } from '../protocol/schema/entry.js';
import { formatInstant } from '../protocol/schema/primitives.js';
import { type Refusal, refuse } from '../protocol/schema/reason.js';
import {
  excerpt,
  excerptKey,
  isPublicKey,
  isSignature,
  lowerAscii,
  lowerKey,
} from '../protocol/text.js';
import { parseInstant } from '../protocol/time.js';

/** Decodes valid hex. Buffer.from silently truncates invalid hex. */
export function hexBytes(hex: string): Uint8Array {
  return Buffer.from(hex, 'hex');
}

/** `place` names the header, form field or member that must hold the signature. */
export function refuseSignature(signature: unknown, place: string): Refusal | null {
  if (signature === undefined || signature === '') return refuse('SIGNATURE_MISSING', { place });
  if (typeof signature === 'string' && isSignature(signature)) return null;
  const hint = hexHint(signature, 64);
  return refuse('SIGNATURE_MALFORMED', { signature: excerptKey(signature), hint });
}

const signaturePlaces = {
  header: 'header X-Agent-Signature',
  body: 'member signature of the body',
  form: 'form field signature',
};

/** Checks a key from the header X-Agent-Public-Key or from a registration. */
export function refuseKey(key: string): Refusal | null {
  if (key === '') return refuse('KEY_MISSING');
  if (isPublicKey(key)) return null;
  return refuse('KEY_MALFORMED', { public_key: excerptKey(key), hint: hexHint(key, 32) });
}

/** Returns a hint if the text encodes `bytes` bytes in a format other than hex. */
function hexHint(text: unknown, bytes: number): string {
  if (typeof text === 'string') {
    if (text.startsWith('0x')) return 'remove the prefix 0x';
    const base64 = /^[A-Za-z0-9+/_-]+={0,2}$/.test(text);
    if (base64 && Buffer.from(text, 'base64').length === bytes)
      return 'encode it as hex, not base64';
  }
  return `encode its ${bytes} bytes as hex`;
}

export function badTimestampHeader(timestamp: string): Refusal {
  return timestamp === '' ? refuse('TIMESTAMP_MISSING') : malformedTimestamp(timestamp);
}

export const malformedTimestamp = (timestamp: string): Refusal =>
  refuse('TIMESTAMP_MALFORMED', { timestamp: excerpt(timestamp), hint: timestampHint(timestamp) });

/** Returns a hint for a Unix time or a timestamp without an offset. */
export function timestampHint(timestamp: string): string {
  const example = 'such as 2026-01-31T12:00:00Z';
  if (/^\d{9,11}(\.\d+)?$/.test(timestamp)) return `convert the seconds to a date, ${example}`;
  if (/^\d{12,14}$/.test(timestamp)) return `convert the milliseconds to a date, ${example}`;
  const [, date, blank, time, sign, hours, minutes] = LIKE_TIMESTAMP.exec(timestamp) ?? [];
  const zone = sign && `${sign}${hours}:${minutes ?? '00'}`;
  if (date === undefined || parseInstant(`${date}T${time}${zone ?? 'Z'}`) === null) {
    return `send a date with an offset, ${example}`;
  }
  const changes = [
    ...(blank === ' ' ? ['write T between date and time'] : []),
    ...(zone === undefined ? ['add an offset: Z, or one such as +01:00'] : []),
    ...(zone === undefined || timestamp.endsWith(zone) ? [] : [`write ${zone}`]),
  ];
  return changes.join(' and ');
}

/** A timestamp that may have a blank for T, and an offset without a colon or minutes, or none. */
const LIKE_TIMESTAMP =
  /^(\d{4}-\d\d-\d\d)([Tt ])(\d\d:\d\d:\d\d(?:\.\d{1,9})?)(?:[Zz]|([+-])(\d\d):?(\d\d)?)?$/;

interface Credentials {
  /** Hex, lower case. */
  publicKey: string;
  signature: string;
}

/** Returns a request's key and signature, or a refusal. */
export function parseCredentials(
  request: SignedRequest,
  raw: Readonly<Record<string, unknown>>,
): Credentials | { refusal: Refusal } {
  const { signed } = carriage[request.kind];
  const key = request.public_key || (request.kind === 'register' ? String(raw.public_key) : '');
  const publicKey = lowerKey(key);
  if (publicKey === null) return { refusal: refuseKey(key)! };
  if (request.kind === 'register' && lowerAscii(String(raw.public_key)) !== publicKey) {
    const values = { header: key, body: String(raw.public_key) };
    return { refusal: refuse('KEYS_DIFFER', values, { pointer: '/public_key' }) };
  }
  if (signed !== 'body' && parseInstant(request.timestamp) === null) {
    return { refusal: badTimestampHeader(request.timestamp) };
  }
  const signature = signed === 'body' ? raw.signature : request.signature;
  const refusal = refuseSignature(signature, signaturePlaces[signed]);
  return refusal ? { refusal } : { publicKey, signature: String(signature) };
}

/** Returns true for a registered key (hex, lower case). */
export type Knows = (publicKey: string) => boolean;

/** Refuses a timestamp too far from the server time. Both are in ms since 1970. */
export function refuseTimestamp(signedAt: number, now: number): Refusal | null {
  const skew = signedAt - now;
  if (Math.abs(skew) <= limits.skewMs) return null;
  return refuse('TIMESTAMP_OUT_OF_RANGE', {
    timestamp: formatInstant(signedAt),
    skew: Math.abs(skew),
    side: skew > 0 ? 'ahead of' : 'behind',
    server_time: formatInstant(now),
    allowed: limits.skewMs,
  });
}

/** Refuses an unknown key, except for a registration. */
export function refuseUnknownKey(
  { kind, public_key }: { kind: string; public_key: string },
  knows: Knows,
): Refusal | null {
  return kind === 'register' || knows(public_key) ? null : unknownKey(public_key);
}

export const unknownKey = (publicKey: string): Refusal =>
  refuse('KEY_UNKNOWN', { public_key: publicKey });
