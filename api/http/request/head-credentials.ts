/** Credentials in a request's headers: what can be told of them before its body is there. */
import {
  badTimestampHeader,
  limits as bounds,
  type CommandKind,
  carriage,
  keyProblem,
  parseInstant,
  type Refusal,
  refuse,
  signatureProblem,
} from '../../../engine/internal.js';

type Headers = ReadonlyMap<string, string>;
type Knows = (publicKey: string) => boolean;

const KEY = /^[0-9a-f]{64}$/;

/** The registered key that a request names, lower case: whether it has it is another question. */
export function claimedKey(headers: Headers, knows: Knows): string | null {
  const key = headers.get('x-agent-public-key')?.toLowerCase();
  return key !== undefined && KEY.test(key) && knows(key) ? key : null;
}

/** The first that is wrong: the key, then the time, then the form of the signature. */
export function headProblem(
  kind: CommandKind,
  headers: Headers,
  knows: Knows,
  now: number,
): Refusal | null {
  const { signed } = carriage[kind];
  const key = headers.get('x-agent-public-key') ?? '';
  const refusal = kind === 'register' && key === '' ? null : keyProblem(key);
  if (refusal) return refusal;
  if (kind !== 'register' && !knows(key.toLowerCase())) return unknownKey(key);
  if (signed === 'body') return null;
  const timestamp = headers.get('x-timestamp') ?? '';
  const at = parseInstant(timestamp);
  if (at === null) return badTimestampHeader(timestamp);
  const late = skewProblem(at, now);
  if (late || signed === 'form') return late;
  return signatureProblem(headers.get('x-agent-signature'));
}

export const unknownKey = (key: string): Refusal =>
  refuse('UNKNOWN_KEY', `key ${key.toLowerCase()} is not registered; register it first`);

export function skewProblem(signedAt: number, now: number): Refusal | null {
  const skew = signedAt - now;
  if (Math.abs(skew) <= bounds.skewMs) return null;
  const most = `${bounds.skewMs} are allowed`;
  return refuse('TIMESTAMP_SKEW', `the timestamp is ${skew} ms from the server's clock; ${most}`);
}
