/** Whether an `auth` message holds: whose it is, or why it is refused. */
import {
  limits as bounds,
  type Network,
  parseInstant,
  type Refusal,
  refuse,
} from '../../engine/internal.js';
import { authInput } from '../../engine/protocol/signing.js';
import type { ClientMessage } from '../contract/channels.js';
import type { SpentAuths } from './used-auths.js';

const KEY = /^[0-9a-fA-F]{64}$/;
const SIGNATURE = /^[0-9a-fA-F]{128}$/;

/** @throws where the network is too busy to verify, or closes. */
export async function authenticate(
  { network, now, spent }: { network: Network; now: () => number; spent: SpentAuths },
  message: ClientMessage['auth'],
): Promise<{ publicKey: string } | { refusal: Refusal }> {
  const no = (...why: Parameters<typeof refuse>) => ({ refusal: refuse(...why) });
  const publicKey = message.public_key.toLowerCase();
  if (!KEY.test(publicKey) || !SIGNATURE.test(message.signature)) {
    return no('MALFORMED', 'public_key is 64 hex characters, signature 128');
  }
  if (!network.knows(publicKey)) return no('UNKNOWN_KEY', 'no such agent');
  const at = parseInstant(message.timestamp);
  if (at === null) return no('MALFORMED', 'timestamp is not RFC 3339');
  const skew = at - now();
  if (Math.abs(skew) > bounds.skewMs) {
    return no('TIMESTAMP_SKEW', `the timestamp is ${skew} ms from the server's clock`);
  }
  const input = authInput(message.public_key, message.timestamp);
  if (spent.has(publicKey, input)) return no('REPLAYED', REPLAYED);
  const valid = await network.verification.text({
    publicKey: Buffer.from(publicKey, 'hex'),
    message: Buffer.from(input),
    signature: Buffer.from(message.signature, 'hex'),
  });
  await network.durable; // The key may be known by a registration that is not durable yet.
  if (!valid) return no('MISMATCH', 'the signature does not fit auth:public_key:timestamp');
  return spent.spend(publicKey, input, at) ? { publicKey } : no('REPLAYED', REPLAYED);
}

const REPLAYED = 'this auth was used before: sign another, with a later timestamp';
