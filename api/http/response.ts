/**
 * Answers as HTTP: the envelope, the status, the headers of a refusal, and the record of each
 * response in log and metrics.
 */
import type { Refusal } from '../../engine/protocol/schema/reason.js';
import { type UnknownName, unknownHeader } from '../checks/unknown-members.js';
import { type Coding, codings, type ServedFile } from '../documents/documents.js';
import { type Quota, quotaHeaders } from '../limits/limits.js';
import { refuseQuota } from '../limits/quota-refusals.js';
import type { HttpResponse, RequestHead } from '../transport/transport.js';

/** A refusal that is still to be rendered, with headers of its own. */
export interface RefusalResponse {
  refusal: Refusal;
  headers?: Readonly<Record<string, string>>;
}

/** What a handler gives: a whole response, or a refusal. */
export type Answer = HttpResponse | RefusalResponse;

/** An object for each response: it gets more headers. */
const json = (): Record<string, string> => ({
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-store',
});

export const success = (status: number, data: unknown): HttpResponse =>
  jsonResponse(status, JSON.stringify({ success: true, data }));

/** JSON that is a text already. */
export const jsonResponse = (status: number, body: string): HttpResponse => ({
  status,
  headers: json(),
  body,
});

/** The only place where a refusal becomes a response, which `requestId` names in reports. */
export function render(answer: Answer, requestId: string): HttpResponse {
  const response = 'refusal' in answer ? renderRefusal(answer, requestId) : answer;
  response.headers['X-Request-Id'] = requestId;
  return response;
}

/** Names what a request had and the protocol does not know. */
const UNKNOWN = 'Folkmoot-Unknown';

/** Adds names that are not known to those that an answer has. */
export function addUnknownNames<A extends Answer>(answer: A, names: readonly UnknownName[]): A {
  if (names.length === 0) return answer;
  const before = answer.headers?.[UNKNOWN];
  const value = unknownHeader(names);
  const all = before === undefined ? value : `${before}, ${value}`;
  return { ...answer, headers: { ...answer.headers, [UNKNOWN]: all } };
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
  const { status } = 'refusal' in answer ? answer.refusal : answer;
  const retry = status === 429 ? { 'Retry-After': `${quota.resetSeconds}` } : {};
  return { ...answer, headers: { ...answer.headers, ...quotaHeaders(quota), ...retry } };
}

/** The whole answer to what is beyond a limit. */
export const quotaExceeded = (quota: Quota): RefusalResponse =>
  addQuotaHeaders({ refusal: refuseQuota(quota) }, quota);

type RequestHeaders = ReadonlyMap<string, string>;

const YEAR_S = 31_536_000;

export function fileResponse(file: ServedFile, requested: RequestHeaders): HttpResponse {
  const coding = codingFor(requested.get('accept-encoding') ?? '');
  // Strong: another coding is other bytes, so it has a tag of its own.
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

/** The smallest that is accepted; for who names none that is known, the bytes as they are. */
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

/** Compared weakly, as RFC 9110 has it for this header. */
const has = (header: string | undefined, etag: string): boolean =>
  (header ?? '').split(',').some((tag) => {
    const text = tag.trim();
    return text === '*' || text.replace(/^W\//, '') === etag;
  });

/** One request and its answer, for a log. */
export interface Exchange {
  method: string;
  target: string;
  /** Of the peer: a proxy, where there is one. */
  address: string;
  status: number;
  request_id: string;
  /** Of a refusal. */
  code: string | null;
  reason: string | null;
  message: string | null;
  /** Milliseconds from the last byte of the request to its answer. */
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
