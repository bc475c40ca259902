/**
 * Blocks signed ahead: proposals and the votes that finalize them. Hashes follow from content, so
 * block after block can be composed before the network has seen any of them.
 */
import {
  composeProposal,
  composeRegister,
  composeVote,
  formatInstant,
  GENESIS_HASH,
  type Network,
  type Signatory,
  type SignedRequest,
} from '../../engine/index.js';
import { blockHash } from '../../engine/signing.js';
import { signatoryOf, unsignedSignatoryOf } from '../../sim/keys.js';

export const NETWORK_ID = 'bench';
/** 2025-01-01T00:00:00Z: engine time stands still there. */
export const START_MS = 1_735_689_600_000;

const personalities = ['lawful', 'rational', 'neutral', 'chaotic', 'memetic'];

/** `signed: false` for networks that verify nothing: what is left out is only the signing. */
export function signatories(seed: string, count: number, signed: boolean): Signatory[] {
  const of = signed ? signatoryOf : unsignedSignatoryOf;
  return Array.from({ length: count }, (_, ordinal) => of(seed, ordinal));
}

export const registration = (by: Signatory, ordinal: number, timestamp = formatInstant(START_MS)) =>
  composeRegister(by, timestamp, {
    personality: personalities[ordinal % personalities.length]!,
    name: `agent ${ordinal}`,
    capabilities: ['validator', 'producer'],
  });

export async function registerAll(network: Network, by: readonly Signatory[]): Promise<void> {
  for (const [ordinal, one] of by.entries()) {
    const verified = await network.verify(registration(one, ordinal));
    if ('refusal' in verified) throw new Error(verified.refusal.message);
    network.apply(verified);
    if (network.backlog > 1_000) await network.durable;
  }
  await network.durable;
}

export interface SignedBlock {
  proposal: SignedRequest;
  /** Approvals, as many as finalize it. */
  votes: SignedRequest[];
}

/** Block after block, each on the one before it, without end. */
export function* chain(by: readonly Signatory[]): Generator<SignedBlock, never> {
  const timestamp = formatInstant(START_MS);
  const needed = Math.floor((2 * by.length) / 3) + 1;
  let parent = GENESIS_HASH;
  for (let height = 0; ; height += 1) {
    const producer = by[height % by.length]!;
    const fields = { parent_hash: parent, transactions: [] };
    const proposal = composeProposal(producer, timestamp, fields);
    parent = blockHash({ ...fields, timestamp }, producer.publicKey, NETWORK_ID);
    const vote = { block_hash: parent, decision: 'approve', reason: 'it adds up' } as const;
    const votes = by.slice(0, needed).map((one) => composeVote(one, timestamp, vote));
    yield { proposal, votes };
  }
}

/** The requests of so many blocks, in the order of the log. */
export function requestsOf(blocks: Iterator<SignedBlock>, count: number): SignedRequest[] {
  return Array.from({ length: count }, () => {
    const { proposal, votes } = blocks.next().value as SignedBlock;
    return [proposal, ...votes];
  }).flat();
}
