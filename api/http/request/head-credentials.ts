/** Credentials in a request's headers: what can be known of them before its body is there. */
import {
  badTimestampHeader,
  type CommandKind,
  carriage,
  freshness,
  isPublicKey,
  type Knows,
  keyProblem,
  knownKey,
  parseInstant,
  type Refusal,
  signatureProblem,
} from '../../../engine/internal.js';

type Headers = ReadonlyMap<string, string>;

/** The registered key that a request names, lower case: whether it has it is another question. */
export function knownKeyOf(headers: Headers, knows: Knows): string | null {
  const key = headers.get('x-agent-public-key')?.toLowerCase();
  return key !== undefined && isPublicKey(key) && knows(key) ? key : null;
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
  const malformed = kind === 'register' && key === '' ? null : keyProblem(key);
  const refusal = malformed ?? knownKey({ kind, public_key: key.toLowerCase() }, knows);
  if (refusal || signed === 'body') return refusal;
  const timestamp = headers.get('x-timestamp') ?? '';
  const at = parseInstant(timestamp);
  if (at === null) return badTimestampHeader(timestamp);
  const stale = freshness(at, now);
  if (stale || signed === 'form') return stale;
  return signatureProblem(headers.get('x-agent-signature'));
}
