/** Limits as answers show them: the headers of each, and the refusal beyond one. */
import { type Quota, quotaHeaders } from '../../limits/limits.js';
import { quotaUsed } from '../../limits/refusals.js';
import type { Answer, Refused } from './envelope.js';

export function withQuota<A extends Answer>(answer: A, quota: Quota | null): A {
  if (!quota) return answer;
  const { status } = 'refusal' in answer ? answer.refusal : answer;
  const retry = status === 429 ? { 'Retry-After': `${quota.resetSeconds}` } : {};
  return { ...answer, headers: { ...answer.headers, ...quotaHeaders(quota), ...retry } };
}

/** The whole answer to what is beyond a limit. */
export const beyond = (quota: Quota): Refused => withQuota({ refusal: quotaUsed(quota) }, quota);
