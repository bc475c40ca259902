/** HTTP responses: envelope, status, headers, files, and the record for the access log. */
import { randomUUID } from 'node:crypto';
import { answerEncoders } from '../../engine/node/bundled/encoders.js';
import type { CommandKind } from '../../engine/protocol/schema/command.js';
import type { Refusal } from '../../engine/protocol/schema/reason.js';
import type { Answer as CommandAnswer } from '../../engine/protocol/schema/view.js';
import { type UnknownName, unknownHeader, withUnknownNames } from '../checks/unknown-members.js';
import { type Coding, codings, type ServedFile } from '../documents/documents.js';
import { refuseQuota } from '../limits/cost.js';
import { type Quota, quotaHeaders } from '../limits/limits.js';
import type { HttpResponse, RequestHead } from '../transport/transport.js';

export interface RefusalResponse {
  refusal: Refusal;
  headers?: Readonly<Record<string, string>>;
}

export type Answer = HttpResponse | RefusalResponse;

/** Returns a new object, because headers are added to it. */
const json = (): Record<string, string> => ({
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-store',
});

/** `kind` is the command that `data` answers, if any. */
export const success = (status: number, data: unknown, kind?: CommandKind): HttpResponse =>
  jsonResponse(
    status,
    kind
      ? `{"success":true,"data":${answerEncoders[kind](data as CommandAnswer)}}`
      : JSON.stringify({ success: true, data }),
  );

export const jsonResponse = (status: number, body: string): HttpResponse => ({
  status,
  headers: json(),
  body,
});

/** Renders a response. This is the only place that turns a refusal into HTTP. */
export function render(answer: Answer, requestId: string): HttpResponse {
  const response = 'refusal' in answer ? renderRefusal(answer, requestId) : answer;
  response.headers['X-Request-Id'] = requestId;
  return response;
}

const digits = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/**
 * Random digits, shared by 65,536 ids, whose last four digits count up. Drawing a random id for
 * each request would take four times as long.
 */
let drawn = '';
let count = 0xffff;

/** Returns a UUID, unique per request. */
export function requestId(): string {
  count = (count + 1) & 0xffff;
  if (count === 0) drawn = randomUUID().slice(0, -4);
  return `${drawn}${digits[count >> 8]}${digits[count & 0xff]}`;
}

/** Header that lists a request's unknown names. */
const UNKNOWN = 'Folkmoot-Unknown';

/** Adds unknown names to the header and, if the request is refused with SCHEMA, to the message. */
export function addUnknownNames<A extends Answer>(answer: A, names: readonly UnknownName[]): A {
  if (names.length === 0) return answer;
  const before = answer.headers?.[UNKNOWN];
  const value = unknownHeader(names);
  const all = before === undefined ? value : `${before}, ${value}`;
  const headers = { ...answer.headers, [UNKNOWN]: all };
  if (!('refusal' in answer)) return { ...answer, headers };
  return { ...answer, headers, refusal: withUnknownNames(answer.refusal, names) };
}

function renderRefusal(
  { refusal, headers: own }: RefusalResponse,
  requestId: string,
): HttpResponse {
  const { status, code, message, reason, pointer } = refusal;
  const details = {
    reason,
    ...(pointer === undefined ? {} : { pointer }),
    ...refusal.details,
    request_id: requestId,
  };
  const headers = json();
  if (status === 401) headers['WWW-Authenticate'] = 'AgentSig realm="agentnet"';
  if (status === 503) headers['Retry-After'] = '1';
  return {
    status,
    headers: Object.assign(headers, own),
    body: JSON.stringify({ success: false, error: { code, message, details } }),
  };
}

export function addQuotaHeaders<A extends Answer>(answer: A, quota: Quota | null): A {
  if (!quota) return answer;
  if (!('refusal' in answer)) {
    Object.assign(answer.headers, quotaHeaders(quota));
    return answer;
  }
  const isTooMany = answer.refusal.status === 429;
  const retry = isTooMany ? { 'Retry-After': `${quota.resetSeconds}` } : {};
  return { ...answer, headers: { ...answer.headers, ...quotaHeaders(quota), ...retry } };
}

export const quotaExceeded = (quota: Quota): RefusalResponse =>
  addQuotaHeaders({ refusal: refuseQuota(quota) }, quota);

type RequestHeaders = ReadonlyMap<string, string>;

const YEAR_S = 31_536_000;

export function fileResponse(file: ServedFile, requested: RequestHeaders): HttpResponse {
  const coding = codingFor(requested.get('accept-encoding') ?? '');
  // A strong ETag must differ per content coding.
  const etag = `"${file.digest}${coding === 'identity' ? '' : `-${coding}`}"`;
  const headers: Record<string, string> = {
    'Cache-Control': file.immutable ? `public, max-age=${YEAR_S}, immutable` : 'no-cache',
    ETag: etag,
    Vary: 'Accept-Encoding',
    'X-Content-Type-Options': 'nosniff',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
  };
  if (file.policy !== undefined) headers['Content-Security-Policy'] = file.policy;
  if (has(requested.get('if-none-match'), etag)) return { status: 304, headers, body: '' };
  headers['Content-Type'] = file.type;
  if (coding !== 'identity') headers['Content-Encoding'] = coding;
  return { status: 200, headers, body: file.bytes(coding) };
}

/** Returns the smallest accepted coding, or identity if no accepted coding is known. */
function codingFor(accepted: string): Coding {
  const weights = new Map(
    accepted
      .toLowerCase()
      .split(',')
      .map((part): [string, number] => {
        const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim());
        const weight = parameters.find((parameter) => parameter.startsWith('q='));
        return [name, weight === undefined ? 1 : Number(weight.slice(2))];
      }),
  );
  const wanted = (coding: Coding) => (weights.get(coding) ?? weights.get('*') ?? 0) > 0;
  return codings.find((coding) => coding !== 'identity' && wanted(coding)) ?? 'identity';
}

/** Compares weakly (RFC 9110, If-None-Match). */
const has = (header: string | undefined, etag: string): boolean =>
  (header ?? '').split(',').some((tag) => {
    const text = tag.trim();
    return text === '*' || text.replace(/^W\//, '') === etag;
  });

/** A request and its response, for the access log. */
export interface Exchange {
  method: string;
  target: string;
  /** Peer address, which may be a proxy's. */
  address: string;
  status: number;
  request_id: string;
  /** Code, reason and message of a refusal; null for a success. */
  code: string | null;
  reason: string | null;
  message: string | null;
  /** Milliseconds from the last request byte to the response. */
  ms: number;
}

export function toExchange(
  { method, target, address }: Pick<RequestHead, 'method' | 'target' | 'address'>,
  status: number,
  request_id: string,
  refusal: Refusal | null,
  ms: number,
): Exchange {
  const { code = null, reason = null, message = null } = refusal ?? {};
  const took = Math.round(ms * 1000) / 1000;
  return { method, target, address, status, request_id, code, reason, message, ms: took };
}
