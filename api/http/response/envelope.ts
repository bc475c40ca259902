/** Answers and refusals as HTTP: the envelope, the status, the headers that belong to an error. */
import type { Refusal } from '../../../engine/internal.js';
import type { HttpResponse } from '../../transport/transport.js';

/** An object for each answer: it gets more headers. */
const json = (): Record<string, string> => ({
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-store',
});

export const success = (status: number, data: unknown): HttpResponse =>
  answerOf(status, JSON.stringify({ success: true, data }));

/** JSON that is a text already. */
export const answerOf = (status: number, body: string): HttpResponse => ({
  status,
  headers: json(),
  body,
});

/** `requestId` is in the header and in `details`: whoever reports a problem has it. */
export function failure(refusal: Refusal, requestId: string): HttpResponse {
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
    headers,
    body: JSON.stringify({ success: false, error: { code, message, details } }),
  };
}
