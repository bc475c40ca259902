/** Whether an `auth` message holds: whose it is, or why it is refused. */
import { parseInstant, type Refusal, refuse, type ServedNetwork } from '../../engine/internal.js';
import { authInput } from '../../engine/protocol/signing.js';
import { holds, signatureProblemOf } from '../checks/signed-text.js';
import type { ClientMessage } from '../contract/channels.js';
import type { UsedAuths } from './used-auths.js';

/** @throws where the network is too busy to verify, or closes. */
export async function authenticate(
  { network, now, usedAuths }: { network: ServedNetwork; now: () => number; usedAuths: UsedAuths },
  { public_key, timestamp, signature }: ClientMessage['auth'],
): Promise<{ publicKey: string } | { refusal: Refusal }> {
  if (network.readOnly !== undefined) return { refusal: refuse('READ_ONLY', network.readOnly) };
  const publicKey = public_key.toLowerCase();
  const signed = { publicKey, timestamp, signature };
  // What another node has told it, its registration and events, may not be applied here yet.
  const late = network.barrier ? await network.barrier() : null;
  if (late) throw new Error(late.message);
  const refusal = signatureProblemOf(signed, network.knows, now());
  if (refusal) return { refusal };
  const input = authInput(public_key, timestamp);
  if (usedAuths.has(publicKey, input)) return { refusal: replayed() };
  const valid = await holds(network, signed, input);
  await network.durable; // The key may be known by a registration that is not durable yet.
  if (!valid) {
    const message = 'the signature does not fit auth:public_key:timestamp';
    return { refusal: refuse('MISMATCH', message) };
  }
  const first = usedAuths.use(publicKey, input, parseInstant(timestamp)!);
  return first ? { publicKey } : { refusal: replayed() };
}

const replayed = () =>
  refuse('REPLAYED', 'this auth was used before: sign another, with a later timestamp');
