/** Writes refused for their signature, with what the server would have verified. */
import type { CommandKind, Refusal } from '../../../engine/internal.js';
import { explained, inputByHead, type SignedInput } from '../explain/signature.js';
import type { Call } from '../handler.js';
import type { Refused } from '../response/envelope.js';

/** For what is wrong in its head already; of a body that was not read there is no digest. */
export function refuseByHead(call: Call, kind: CommandKind, refusal: Refusal): Refused {
  return refuseUnsigned(call, kind, refusal, inputByHead(kind, call.head, call.body));
}

/** Refused before its signature was verified; one that cannot be right counts as a failed one. */
export function refuseUnsigned(
  call: Call,
  kind: CommandKind,
  refusal: Refusal,
  input: SignedInput,
): Refused {
  if (refusal.code === 'INVALID_SIGNATURE') call.services.attempts.failed(call.budget);
  return refuseExplained(call, kind, refusal, input);
}

export function refuseExplained(
  { services, head, body }: Call,
  kind: CommandKind,
  refusal: Refusal,
  input: SignedInput,
): Refused {
  if (refusal.code !== 'INVALID_SIGNATURE') return { refusal };
  const { target } = head;
  return { refusal: explained(refusal, kind, input, { target, body, now: services.now() }) };
}
