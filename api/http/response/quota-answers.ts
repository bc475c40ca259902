/** Limits as answers tell them: the headers of each, and the refusal beyond one. */
import { type Refusal, refuse } from '../../../engine/internal.js';
import { limitTable } from '../../contract/limit-table.js';
import { type Quota, quotaHeaders } from '../../limits/limits.js';
import type { HttpResponse } from '../../transport/transport.js';
import { failure } from './envelope.js';

export function withQuota(response: HttpResponse, quota: Quota | null): HttpResponse {
  if (!quota) return response;
  const retry = response.status === 429 ? { 'Retry-After': `${quota.resetSeconds}` } : {};
  return { ...response, headers: { ...response.headers, ...quotaHeaders(quota), ...retry } };
}

export function tooMany({ name, quota, windowSeconds, resetSeconds }: Quota): Refusal {
  const unit = limitTable[name].unit === 'bytes' ? ' bytes' : '';
  const allowed = `${quota}${unit} ${per(windowSeconds)} are allowed`;
  const message = `${allowed}; try again in ${resetSeconds} s`;
  const details = { limit: name, quota, retry_after_s: resetSeconds };
  return refuse('QUOTA_USED', message, { details });
}

const windows: Record<number, string> = { 1: 'a second', 60: 'a minute', 86400: 'a day' };
const per = (seconds: number) => windows[seconds] ?? `in ${seconds} s`;

/** The whole answer to what is beyond a limit. */
export const beyond = (quota: Quota, requestId: string): HttpResponse =>
  withQuota(failure(tooMany(quota), requestId), quota);
