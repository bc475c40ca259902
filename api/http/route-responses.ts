/** Responses to unknown paths, unsupported methods and OPTIONS, and response signing. */

import { type KeyPair, sign } from '../../engine/crypto/keys.js';
import { signingInput } from '../../engine/protocol/compose.js';
import { parseJson } from '../../engine/protocol/json.js';
import type { CommandKind } from '../../engine/protocol/schema/command.js';
import { carriage } from '../../engine/protocol/schema/entry.js';
import { formatInstant } from '../../engine/protocol/schema/primitives.js';
import { refuse } from '../../engine/protocol/schema/reason.js';
import { type AnsweredRequest, responseInput, sha256Hex } from '../../engine/protocol/signing.js';
import { isPublicKey, isSignature, nearest } from '../../engine/protocol/text.js';
import { type ReceivedRequest, tooManyValues } from '../checks/request-checks.js';
import { socketPath } from '../contract/channels.js';
import { createMatcher, routes } from '../contract/routes.js';
import type { Body, HttpResponse, RequestHead } from '../transport/transport.js';
import { signedRequest } from './bodies.js';
import type { EntryChecks } from './entry-checks.js';
import type { Answer } from './response.js';

export function routeNotFound({ path }: RequestHead): Answer {
  const shown = path.slice(0, MOST_PATH);
  const near = shown === path ? nearestPath(path) : null;
  const hint = near === null ? 'list the entry points with GET /' : `did you mean ${near}?`;
  return { refusal: refuse('ROUTE_UNKNOWN', { path: shown, hint }) };
}

const match = createMatcher(routes);
/** Maximum length of a path that gets a suggestion. */
const MOST_PATH = 256;

/** Suggests a path: the given path under /api/v1, or a route's path with a small edit distance. */
function nearestPath(path: string): string | null {
  const inside = path.replace(/^\/(?:api\/)?(?:v1\/)?/, '/api/v1/');
  if (inside !== path && match('GET', inside)) return inside;
  return mended(path) ?? mended(inside) ?? (/^\/(?:ws|socket)\b/.test(path) ? socketPath : null);
}

/** Returns a route's path whose segments are parameters or similar to the given segments. */
function mended(path: string): string | null {
  const steps = path.split('/');
  for (const route of routes) {
    const known = route.path.split('/');
    if (known.length !== steps.length) continue;
    const found = known.map((step, at) =>
      step.startsWith('{') ? steps[at]! : step === steps[at] ? step : nearest(steps[at]!, [step]),
    );
    if (found.every((step) => step !== null)) return found.join('/');
  }
  return null;
}

export function methodNotAllowed({ method }: RequestHead, allowed: readonly string[]): Answer {
  const Allow = allowed.join(', ');
  const values = { method: method.slice(0, 32), allowed: Allow };
  return { refusal: refuse('METHOD_NOT_ALLOWED', values), headers: { Allow } };
}

export function optionsAnswer(
  { headers }: RequestHead,
  allowed: readonly string[],
  { origins }: EntryChecks,
): Answer {
  const Allow = allowed.join(', ');
  return { status: 204, headers: { Allow, ...origins.preflight(headers, Allow) }, body: '' };
}

/** The request that a response answers. `kind` is null for reads. */
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

/** Replaces malformed text with `-`, so that clients cannot choose what the server signs. */
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

/** Reads the credentials from where the kind has them; none if the body is unreadable. */
async function credentials(
  kind: CommandKind,
  received: ReceivedRequest,
): Promise<{ inputSha256: string; signature: unknown }> {
  const request = await signedRequest(kind, received);
  const parsed = 'refusal' in request ? null : bodyOf(request.body);
  if ('refusal' in request || !parsed) return { inputSha256: '-', signature: null };
  const inputSha256 = sha256Hex(signingInput(request, parsed));
  const inBody = carriage[kind].signed === 'body';
  return { inputSha256, signature: inBody ? parsed.signature : request.signature };
}

/** Parses a JSON object. Returns null for anything else. The body of `leave` may be empty. */
function bodyOf(body: Uint8Array): Record<string, unknown> | null {
  if (body.length === 0) return {};
  // The write path refuses such a body without parsing, so signing must not parse the body either.
  if (tooManyValues(body)) return null;
  const parsed = parseJson(body);
  const value = 'message' in parsed ? null : parsed.value;
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}
