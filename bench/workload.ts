/** A workload of signed requests: N validators that approve block after block. */
import {
  composeProposal,
  composeRegister,
  composeVote,
  formatInstant,
  keyPairFromSeed,
  type Network,
  type Signatory,
  type VirtualClock,
} from '../engine/index.js';
import { signatory } from '../sim/keys.js';

const personalities = ['lawful', 'rational', 'neutral', 'chaotic', 'memetic'];

/** `signing: false` leaves signatures out of what is measured; a network with `off` takes them. */
export function signatories(count: number, signing: boolean): Signatory[] {
  return Array.from({ length: count }, (_, ordinal) => {
    const seed = new Uint8Array(32);
    new DataView(seed.buffer).setUint32(0, ordinal + 1);
    const by = signatory(keyPairFromSeed(seed));
    return signing ? by : { ...by, sign: () => '00'.repeat(64) };
  });
}

export async function registerAll(network: Network, clock: VirtualClock, by: Signatory[]) {
  const timestamp = formatInstant(clock.now());
  for (const [ordinal, one] of by.entries()) {
    const request = composeRegister(one, timestamp, {
      personality: personalities[ordinal % personalities.length]!,
      name: `agent ${ordinal}`,
      capabilities: ['validator', 'producer'],
    });
    const verified = await network.verify(request);
    if ('refusal' in verified) throw new Error(verified.refusal.message);
    network.apply(verified);
    if (network.backlog > 1_000) await network.durable;
  }
  await network.durable;
}

/** Proposes a block on `parent` and composes as many approvals as finalize it. */
export async function block(
  network: Network,
  clock: VirtualClock,
  by: Signatory[],
  parent: string,
) {
  clock.set(clock.now() + 1_000);
  const timestamp = formatInstant(clock.now());
  const producer = by[clock.now() % by.length]!;
  const fields = { parent_hash: parent, transactions: [] };
  const verified = await network.verify(composeProposal(producer, timestamp, fields));
  if ('refusal' in verified) throw new Error(verified.refusal.message);
  const { outcome } = network.apply(verified);
  if (outcome.result !== 'accepted' || !('block_hash' in outcome.data)) {
    throw new Error(`the proposal was not accepted: ${JSON.stringify(outcome)}`);
  }
  const hash = outcome.data.block_hash;
  const vote = { block_hash: hash, decision: 'approve', reason: 'it adds up' } as const;
  const needed = Math.floor((2 * by.length) / 3) + 1;
  return { hash, votes: by.slice(0, needed).map((one) => composeVote(one, timestamp, vote)) };
}
