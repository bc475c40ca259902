/** Verification of an admitted request: the key must be known, and every signature must hold. */
import type { Admitted } from './admit/index.js';
import { type Verifier, VerifierBusy } from './crypto/index.js';
import { type Refusal, refuse } from './schema/index.js';
import { sha256Hex } from './signing.js';

/** A request that is well-formed and whose signatures were checked: only verification makes one. */
export interface Verified extends Admitted {
  readonly verified: true;
}

/**
 * A failed signature of the request itself is refused here. One of a proposal's transactions is
 * told to the engine, which refuses it last, after everything that is wrong with the block.
 */
export async function verifySignatures(
  admitted: Admitted,
  verifier: Verifier,
  knows: (publicKey: string) => boolean,
): Promise<Verified | { refusal: Refusal }> {
  const { command, jobs } = admitted;
  if (command.kind !== 'register' && !knows(command.public_key)) {
    return { refusal: refuse('UNKNOWN_KEY', `key ${command.public_key} is not registered`) };
  }
  let verdicts: boolean[];
  try {
    verdicts = await verifier.verify(jobs);
  } catch (error) {
    if (error instanceof VerifierBusy) return { refusal: refuse('QUEUE_FULL', error.message) };
    throw error;
  }
  if (!verdicts[0]) return { refusal: mismatch(admitted) };
  const failed = verdicts.indexOf(false) - 1;
  if (command.kind !== 'propose' || failed < 0) return { ...admitted, verified: true };
  return { ...admitted, command: { ...command, failed_transaction: failed }, verified: true };
}

function mismatch({ request, inputSha256 }: Admitted): Refusal {
  const message = 'the signature does not fit the key and the text that this request signs';
  const details = {
    kind: request.kind,
    expected_input_sha256: inputSha256(),
    body_sha256: sha256Hex(request.body),
    request_target: request.target,
  };
  return refuse('MISMATCH', message, { details });
}
