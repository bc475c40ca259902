/** Each request and its answer, as the log of whoever runs the server has them. */
import type { Refusal } from '../../engine/internal.js';
import type { RequestHead } from '../transport/transport.js';

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

export function exchangeOf(
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
