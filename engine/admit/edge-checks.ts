/** What whoever lets requests in checks of each by its own clock and what the network knows. */
import { limits } from '../protocol/limits.js';
import { type Refusal, refuse } from '../protocol/schema/index.js';

/** Whether a key (hex, lower case) is registered. */
export type Knows = (publicKey: string) => boolean;

/** Why a request is refused that was signed at `signedAt`: too far from `now`, both in ms. */
export function freshness(signedAt: number, now: number): Refusal | null {
  const skew = signedAt - now;
  if (Math.abs(skew) <= limits.skewMs) return null;
  const most = `${limits.skewMs} are allowed`;
  return refuse('TIMESTAMP_SKEW', `the timestamp is ${skew} ms from the server's clock; ${most}`);
}

/** Why a request is refused whose key is not registered; a registration brings its own. */
export function knownKey(
  { kind, public_key }: { kind: string; public_key: string },
  knows: Knows,
): Refusal | null {
  if (kind === 'register' || knows(public_key)) return null;
  return refuse('UNKNOWN_KEY', `key ${public_key} is not registered; register it first`);
}
