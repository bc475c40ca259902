/** What an answer means: accepted only with what the interface says is in it. */
import { isRecord, parsed } from '../json.js';
import type { Call, CallOutcome } from '../workload.js';

export function fateOf(call: Call, status: number, body: Buffer): CallOutcome {
  const { success, data, error } = parsed(body.toString());
  if (status >= 200 && status < 300) {
    const holds = success === true && holdsWhatItMust(call, data);
    return holds ? { kind: 'accepted', status, data } : { kind: 'lie' };
  }
  const { code, details } = isRecord(error) ? error : {};
  const { reason } = isRecord(details) ? details : {};
  return { kind: 'refused', status, code: word(code), reason: word(reason) };
}

/** Data of a shape that nobody thought of does not hold what it must. */
function holdsWhatItMust(call: Call, data: unknown): boolean {
  try {
    return call.holds(data);
  } catch {
    return false;
  }
}

/** A server may write anything there: a code is short, or it is none. */
const word = (value: unknown) =>
  typeof value === 'string' && value !== '' && value.length <= 64 ? value : '-';
