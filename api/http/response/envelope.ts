/** Answers as HTTP: the envelope, the status, and the headers that belong to a refusal. */
import type { Refusal } from '../../../engine/internal.js';
import { type UnknownName, unknownHeader } from '../../checks/unknown-members.js';
import type { HttpResponse } from '../../transport/transport.js';

/** A refusal that is still to be rendered, with headers of its own. */
export interface Refused {
  refusal: Refusal;
  headers?: Readonly<Record<string, string>>;
}

/** What a handler gives: a whole response, or a refusal. */
export type Answer = HttpResponse | Refused;

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
export function withUnknown<A extends Answer>(answer: A, names: readonly UnknownName[]): A {
  if (names.length === 0) return answer;
  const before = answer.headers?.[UNKNOWN];
  const value = unknownHeader(names);
  const all = before === undefined ? value : `${before}, ${value}`;
  return { ...answer, headers: { ...answer.headers, [UNKNOWN]: all } };
}

function renderRefusal({ refusal, headers: own }: Refused, requestId: string): HttpResponse {
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
