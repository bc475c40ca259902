/** Child process for the fallback tests. Verifies, signs, and prints the results. */

import { keyPairFromSeed, sign } from '../../../dist/engine/crypto/keys.js';
import { createVerifier } from '../../../dist/engine/crypto/pool.js';

const keyPair = keyPairFromSeed(new Uint8Array(32).fill(1));
const message = new TextEncoder().encode('agentnet-v1-vote');
const job = { publicKey: keyPair.publicKey, message, signature: sign(message, keyPair) };
const jobs = Array.from({ length: 40 }, (_, index) =>
  index === 9 ? { ...job, message: message.subarray(1) } : job,
);
const verifier = createVerifier(process.argv[2]);
const verdicts = await verifier.verify(jobs);
await verifier.close();
const signature = Buffer.from(job.signature).toString('hex');
const { publicKeyHex } = keyPair;
process.stdout.write(JSON.stringify({ verdicts, publicKeyHex, signature }));
