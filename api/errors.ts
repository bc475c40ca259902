/** Answers and refusals as HTTP: the envelope, the status, the headers that belong to an error. */
import type { Refusal } from '../engine/index.js';
import type { HttpResponse } from './transport.js';

const json = { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' };

export function success(status: number, data: unknown): HttpResponse {
  return { status, headers: { ...json }, body: JSON.stringify({ success: true, data }) };
}

/** `requestId` is in the header and in `details`: whoever reports a problem has it. */
export function failure(refusal: Refusal, requestId: string): HttpResponse {
  const { status, code, message, reason, pointer } = refusal;
  const details = {
    reason,
    ...(pointer === undefined ? {} : { pointer }),
    ...refusal.details,
    request_id: requestId,
  };
  const headers: Record<string, string> = { ...json };
  if (status === 401) headers['WWW-Authenticate'] = 'AgentSig realm="agentnet"';
  if (status === 503) headers['Retry-After'] = '1';
  return {
    status,
    headers,
    body: JSON.stringify({ success: false, error: { code, message, details } }),
  };
}
