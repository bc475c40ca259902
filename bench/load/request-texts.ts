/**
 * Texts of blocks and votes, and tasks for the signing threads. The signed text is identical to the
 * sent text, because both are canonical. Transactions are encoded once, and then copied as bytes.
 * Optional fields are included, because a different server may require them.
 */
import { canonical } from '../../engine/protocol/canonical.js';
import { proposalInput, voteInput } from '../../engine/protocol/signing.js';
import type { Payload } from './options.js';

interface ProposalParts {
  parent: string;
  timestamp: string;
  transactions: Uint8Array;
}

/** A proposal without its transactions, whose list is the last member of the canonical text. */
const outline = ({ parent, timestamp }: Omit<ProposalParts, 'transactions'>) => ({
  meme_content: { content: 'load', tags: [], type: 'text' },
  parent_hash: parent,
  state_diff: { additions: {}, deletions: {} },
  ...{ timestamp, transactions: [] },
});

const EMPTY = '[]}';

/** Puts the transactions in place of the empty list at the end of a text. */
const filled = (text: string, transactions: Uint8Array, end = '}'): Buffer =>
  Buffer.concat([Buffer.from(text.slice(0, -EMPTY.length)), transactions, Buffer.from(end)]);

/** Returns the text that a proposal's signature covers. */
export const signedProposal = (parts: ProposalParts): Buffer =>
  filled(proposalInput(outline(parts)), parts.transactions);

/** Returns the text that is hashed for a proposal, including the producer's key and the network. */
export function hashedProposal(parts: ProposalParts, producer: string, network_id: string): Buffer {
  const text = canonical({ ...outline(parts), producer, network_id });
  return filled(`agentnet-v1-blockhash\n${text}`, parts.transactions);
}

export const proposalBody = (parts: ProposalParts, signature: string): Buffer =>
  filled(canonical(outline(parts)), parts.transactions, closing(signature));

export const extractTransactions = (
  body: Uint8Array,
  parts: Omit<ProposalParts, 'transactions'>,
): Uint8Array =>
  body.slice(canonical(outline(parts)).length - EMPTY.length, -closing('0'.repeat(128)).length);

const closing = (signature: string) => `,"signature":"${signature}"}`;

/** An approval without its signature, which is equal for all voters on a block. */
const approval = (block_hash: string, timestamp: string) => ({
  ...{ block_hash, decision: 'approve', meme_references: [], reason: 'it adds up', timestamp },
});

export const signedVote = (blockHash: string, timestamp: string): string =>
  voteInput(approval(blockHash, timestamp));

/** Returns the start of a vote. A vote consists of this text, the signature, and `voteEnd`. */
export const voteBegin = (blockHash: string, timestamp: string): string =>
  `${canonical(approval(blockHash, timestamp)).slice(0, -1)},"signature":"`;

export const voteEnd = '"}';

/** Returns the size of the payload with this number, in bytes; 0 without sizes. */
export function sizeOf({ sizes }: Payload, number: number): number {
  if (sizes === undefined) return 0;
  // A multiplicative hash spreads the numbers evenly.
  const draw = Math.imul(number + 1, 2_654_435_761) >>> 0;
  if (Array.isArray(sizes)) return (sizes as number[])[draw % sizes.length]!;
  const { from, to } = sizes as { from: number; to: number };
  return from + (draw % (to - from + 1));
}

/** Returns a transaction's data, unique by the id of the run. A filler makes up its size. */
export function transactionData(run: string, number: number, payload: Payload = {}): string {
  const { lines = [] } = payload;
  const data = lines.length > 0 ? { data: lines[number % lines.length] } : {};
  const text = (fill: object) => JSON.stringify({ type: 'load', run, number, ...data, ...fill });
  const missing = sizeOf(payload, number) - text({ fill: '' }).length;
  return text(missing > 0 ? { fill: '-'.repeat(missing) } : {});
}

export interface WorkerSetting {
  seed: string;
  payload?: Payload;
  /** Run id, included in every transaction's data. */
  run: string;
  /** Network id; empty if the server does not report an id. */
  networkId: string;
}

/** One input for all ordinals, or one per ordinal. */
export interface SignTask {
  ordinals: readonly number[];
  inputs: readonly string[];
}

export interface TransactionTask {
  /** Number of the first transaction. Numbers are unique within a run. */
  first: number;
  count: number;
  senders: { first: number; count: number };
}

export interface LinkTask {
  parent: string;
  blocks: readonly { producer: number; timestamp: string; transactions: Uint8Array }[];
}

export interface LinkedBlock {
  parent: string;
  /** Hash computed according to the protocol. A different server may compute hashes differently. */
  hash: string;
  body: Uint8Array;
}
