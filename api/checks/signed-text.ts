/** A text that an agent signed beside its commands: by header over a read, or to open a session. */
import {
  freshness,
  isPublicKey,
  isSignature,
  type Knows,
  knownKey,
  parseInstant,
  type Refusal,
  refuse,
  type ServedNetwork,
} from '../../engine/internal.js';

export interface SignedText {
  /** In lower case. */
  publicKey: string;
  timestamp: string;
  signature: string;
}

/** The first that is wrong before anything is verified: form, key, time. */
export function signatureProblemOf(
  { publicKey, timestamp, signature }: SignedText,
  knows: Knows,
  now: number,
): Refusal | null {
  if (!isPublicKey(publicKey) || !isSignature(signature)) {
    return refuse('MALFORMED', 'public_key is 64 hex characters, signature 128');
  }
  const unknown = knownKey({ kind: 'auth', public_key: publicKey }, knows);
  if (unknown) return unknown;
  const at = parseInstant(timestamp);
  if (at === null) return refuse('MALFORMED', 'timestamp is not RFC 3339');
  return freshness(at, now);
}

/**
 * Whether the signature holds over `input`.
 * @throws where the network is too busy to verify, or closes.
 */
export function holds(
  network: ServedNetwork,
  { publicKey, signature }: SignedText,
  input: string,
): Promise<boolean> {
  return network.verification.text({
    publicKey: Buffer.from(publicKey, 'hex'),
    message: Buffer.from(input),
    signature: Buffer.from(signature, 'hex'),
  });
}
