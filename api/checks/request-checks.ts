/**
 * Request checks shared by HTTP, WebSocket and debug endpoints: admission by the engine's rules,
 * after limiting the cost of parsing.
 */
import { type Admission, admit } from '../../engine/admit/admit.js';
import {
  type Knows,
  malformedTimestamp,
  refuseTimestamp,
  refuseUnknownKey,
} from '../../engine/admit/credentials.js';
import type { ServedNetwork } from '../../engine/node/kept-network.js';
import { parseJson } from '../../engine/protocol/json.js';
import { limits } from '../../engine/protocol/limits.js';
import type { CommandKind } from '../../engine/protocol/schema/command.js';
import { carriage, type SignedRequest } from '../../engine/protocol/schema/entry.js';
import { type Refusal, refuse } from '../../engine/protocol/schema/reason.js';
import { excerptKey, isPublicKey, isSignature } from '../../engine/protocol/text.js';
import { parseInstant } from '../../engine/protocol/time.js';
import { serverBounds } from '../contract/limit-table.js';
import { type UnknownName, unknownMembers } from './unknown-members.js';

const none: readonly never[] = [];

/** @param unread members that the network's decision rule does not read. */
export function admitReceived(
  request: SignedRequest,
  networkId: string,
  unread: readonly string[] = none,
): { admission: Admission; unknown: readonly UnknownName[] } {
  const many = tooManyValues(request.body);
  if (many) return { admission: { refusal: many }, unknown: none };
  const admission = admit(request, networkId);
  if ('refusal' in admission) {
    const { reason } = admission.refusal;
    return { admission, unknown: reason === 'SCHEMA' ? unknownIn(request, unread) : none };
  }
  const { names, refusal } = unknownMembers(request.kind, admission.raw, unread);
  return { admission: refusal ? { refusal } : admission, unknown: names };
}

/** Finds unknown names in a refused body, because a typo often explains a missing member. */
function unknownIn({ kind, body }: SignedRequest, unread: readonly string[]) {
  if (body.length > limits.bodyBytes) return none;
  const parsed = parseJson(body);
  return 'message' in parsed ? none : unknownMembers(kind, parsed.value, unread).names;
}

export interface ReceivedRequest {
  target: string;
  headers: ReadonlyMap<string, string>;
  body: Uint8Array;
}

/** Builds a SignedRequest from HTTP. A form's signature, fields and file are still to be parsed. */
export function requestFromHttp(
  kind: CommandKind,
  { target, headers, body }: ReceivedRequest,
): SignedRequest {
  const header = (name: string) => headers.get(name) ?? '';
  const { signed } = carriage[kind];
  return {
    kind,
    public_key: header('x-agent-public-key'),
    target: signed === 'header' ? target : '',
    timestamp: signed === 'body' ? '' : header('x-timestamp'),
    signature: signed === 'header' ? header('x-agent-signature') : '',
    body,
  };
}

const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE] = [...'"\\,[{'].map((char) => char.charCodeAt(0));

/**
 * Returns true if a JSON text contains more than `most` values. Each value follows a comma, bracket
 * or brace outside strings. Stops counting above the limit.
 */
function hasMoreValues(bytes: Uint8Array, most: number): boolean {
  // Each value takes at least one byte and a separator, so a short text cannot exceed the limit.
  if (bytes.length <= most) return false;
  let values = 1;
  for (let index = 0; index < bytes.length && values <= most; index += 1) {
    const byte = bytes[index];
    if (byte === QUOTE) index = endOfText(bytes, index + 1);
    else if (byte === COMMA || byte === BRACKET || byte === BRACE) values += 1;
  }
  return values > most;
}

/** Refuses a body with too many values, or returns null. */
export function tooManyValues(bytes: Uint8Array): Refusal | null {
  const most = serverBounds.jsonValues;
  if (!hasMoreValues(bytes, most)) return null;
  return refuse('JSON_TOO_MANY_VALUES', { limit: most }, { pointer: '' });
}

function endOfText(bytes: Uint8Array, from: number): number {
  let end = bytes.indexOf(QUOTE!, from);
  while (end >= 0 && isEscaped(bytes, from, end)) end = bytes.indexOf(QUOTE!, end + 1);
  return end < 0 ? bytes.length : end;
}

/** Returns true if an odd number of backslashes precedes the position. */
function isEscaped(bytes: Uint8Array, from: number, at: number): boolean {
  let before = at;
  while (before > from && bytes[before - 1] === BACKSLASH) before -= 1;
  return (at - before) % 2 === 1;
}

interface SignedText {
  publicKey: string;
  timestamp: string;
  signature: string;
}

/** Returns the first problem before verification: form, key, then timestamp. */
export function findSignatureProblem(
  { publicKey, timestamp, signature }: SignedText,
  knows: Knows,
  now: number,
): Refusal | null {
  if (!isPublicKey(publicKey) || !isSignature(signature)) {
    const values = { public_key: excerptKey(publicKey), signature: excerptKey(signature) };
    return refuse('AUTH_MALFORMED', values);
  }
  const unknown = refuseUnknownKey({ kind: 'auth', public_key: publicKey }, knows);
  if (unknown) return unknown;
  const at = parseInstant(timestamp);
  if (at === null) return malformedTimestamp(timestamp);
  return refuseTimestamp(at, now);
}

/** Verifies the signature over `input`. @throws {Error} if the network closes or is too busy. */
export function verifySignature(
  network: ServedNetwork,
  { publicKey, signature }: SignedText,
  input: string,
): Promise<boolean> {
  return network.verification.text({
    publicKey: Buffer.from(publicKey, 'hex'),
    message: Buffer.from(input),
    signature: Buffer.from(signature, 'hex'),
  });
}
