/** Signatures to verify: each message once, by a thousand keys in turn. */
import { type KeyPair, keyPairFromSeed, sign, type VerifyJob } from '../../engine/index.js';
import { sha256Hex } from '../../engine/signing.js';

const KEYS = 1_000;
/** About what a vote's signing input takes. */
const MESSAGE_BYTES = 250;

/** Gives as many further jobs as asked for; no message comes twice. */
export function jobSource(seed: string): (count: number) => VerifyJob[] {
  const keys = Array.from({ length: KEYS }, (_, ordinal) => keyOf(seed, ordinal));
  let made = 0;
  return (count) => Array.from({ length: count }, () => jobOf(keys[made % KEYS]!, made++));
}

function keyOf(seed: string, ordinal: number): KeyPair {
  return keyPairFromSeed(Buffer.from(sha256Hex(`folkmoot-bench-key\n${seed}\n${ordinal}`), 'hex'));
}

function jobOf(key: KeyPair, ordinal: number): VerifyJob {
  const message = Buffer.alloc(MESSAGE_BYTES, 'benchmark ');
  message.writeUInt32BE(ordinal, 0);
  return { publicKey: key.publicKey, message, signature: sign(message, key) };
}
