/** What an answer means: accepted only with what the interface says is in it. */
import type { Call, Fate } from '../workload.js';

interface Envelope {
  success?: unknown;
  data?: unknown;
  error?: { code?: unknown; details?: { reason?: unknown } | null } | null;
}

export function fateOf(call: Call, status: number, body: Buffer): Fate {
  const envelope = parsed(body);
  if (status >= 200 && status < 300) {
    const data = envelope?.data;
    const holds = envelope?.success === true && holdsWhatItMust(call, data);
    return holds ? { kind: 'accepted', status, data } : { kind: 'lie' };
  }
  const { code, details } = envelope?.error ?? {};
  return { kind: 'refused', status, code: word(code), reason: word(details?.reason) };
}

function parsed(body: Buffer): Envelope | null {
  try {
    return JSON.parse(body.toString()) as Envelope | null;
  } catch {
    return null;
  }
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
