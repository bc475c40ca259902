/** Signed answers, off by default: whoever knows the server's key can hold it to its words. */
import {
  type CommandKind,
  carriage,
  formatInstant,
  isPublicKey,
  isSignature,
  type KeyPair,
  parseJson,
  sign,
  signingInput,
} from '../../engine/internal.js';
import { type AnsweredRequest, responseInput, sha256Hex } from '../../engine/protocol/signing.js';
import type { Received } from '../checks/carried-request.js';
import { tooManyValues } from '../checks/json-size.js';
import type { Body, HttpResponse, RequestHead } from '../transport/transport.js';
import { signedRequest } from './request/signed-request.js';

/** The request that is answered; `kind` is that of a command, null for a read. */
interface Answered {
  kind: CommandKind | null;
  head: RequestHead;
  body: Body;
}

export async function signResponse(
  keys: KeyPair,
  now: number,
  request: Answered,
  response: HttpResponse,
): Promise<HttpResponse> {
  const timestamp = formatInstant(now);
  const answered = await answeredRequest(request);
  const { status, body } = response;
  const input = responseInput({
    status,
    request: answered,
    timestamp,
    bodySha256: sha256Hex(body),
  });
  const headers = {
    ...response.headers,
    'X-Server-Public-Key': keys.publicKeyHex,
    'X-Server-Timestamp': timestamp,
    'X-Server-Signature': Buffer.from(sign(Buffer.from(input), keys)).toString('hex'),
  };
  return { ...response, headers };
}

const TIMESTAMP = /^[0-9A-Za-z:.+-]{1,64}$/;

const isTimestamp = (text: string) => TIMESTAMP.test(text);

/** What is none of its kind is not repeated: nobody chooses what the server signs. */
const fitting = (text: unknown, fits: (text: string) => boolean): string =>
  typeof text === 'string' && fits(text) ? text : '-';

async function answeredRequest({ kind, head, body }: Answered): Promise<AnsweredRequest> {
  const { method, target, headers } = head;
  const read = kind !== null && body !== 'unread' && { target, headers, body };
  const signed = read ? await credentials(kind, read) : { inputSha256: '-', signature: null };
  return {
    method: method || '-',
    target,
    publicKey: fitting(headers.get('x-agent-public-key'), isPublicKey),
    inputSha256: signed.inputSha256,
    signature: fitting(signed.signature ?? headers.get('x-agent-signature'), isSignature),
    timestamp: fitting(headers.get('x-timestamp'), isTimestamp),
  };
}

/** From wherever the kind carries them; a body that cannot be read has neither. */
async function credentials(
  kind: CommandKind,
  received: Received,
): Promise<{ inputSha256: string; signature: unknown }> {
  const request = await signedRequest(kind, received);
  const parsed = 'refusal' in request ? null : bodyOf(request.body);
  if ('refusal' in request || !parsed) return { inputSha256: '-', signature: null };
  const inputSha256 = sha256Hex(signingInput(request, parsed));
  const inBody = carriage[kind].signed === 'body';
  return { inputSha256, signature: inBody ? parsed.signature : request.signature };
}

/** Null for what is no JSON object; an empty body, which `leave` may have, has no members. */
function bodyOf(body: Uint8Array): Record<string, unknown> | null {
  if (body.length === 0) return {};
  // What the gate would not parse is not parsed to sign its refusal either.
  if (tooManyValues(body)) return null;
  const parsed = parseJson(body);
  const value = 'message' in parsed ? null : parsed.value;
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}
