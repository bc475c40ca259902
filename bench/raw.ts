/** R: what one core's libsodium verifies in a plain loop. All other figures are ratios to it. */
import Benchmark from 'benchmark';
import { keyPairFromSeed, sign, verifyWithLibsodium } from '../engine/index.js';

/** Verifications a second of a 250-byte message, on this thread. */
export function rawVerifications(): number {
  if (!verifyWithLibsodium) throw new Error('sodium-native does not load here: there is no R');
  const verify = verifyWithLibsodium;
  const keys = keyPairFromSeed(new Uint8Array(32).fill(7));
  const message = Buffer.alloc(250, 1);
  const job = { publicKey: keys.publicKey, message, signature: sign(message, keys) };
  const measured = new Benchmark(() => void verify(job), { maxTime: 1 });
  measured.run();
  return measured.hz;
}
