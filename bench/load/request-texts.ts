/**
 * Texts of blocks and votes, built by hand, and tasks for the signing threads. Members are in
 * canonical order (RFC 8785), so the signed text is identical to the sent text, and nothing is
 * encoded twice. A test compares the texts with `engine/protocol/signing.ts`. Optional fields are
 * included, because a different server may require them.
 */
import type { Payload } from './options.js';

const MEME = '"meme_content":{"content":"load","tags":[],"type":"text"}';
const DIFF = '"state_diff":{"additions":{},"deletions":{}}';

interface ProposalParts {
  parent: string;
  timestamp: string;
  transactions: Uint8Array;
}

/** Returns the text that a proposal's signature covers. */
export function proposalInput({ parent, timestamp, transactions }: ProposalParts): Buffer {
  const before = `agentnet-v1-block\n${opening(parent, timestamp)}`;
  return Buffer.concat([Buffer.from(before), transactions, Buffer.from('}')]);
}

/** Returns the text that is hashed for a proposal, including the producer's key and the network. */
export function blockHashInput(
  { parent, timestamp, transactions }: ProposalParts,
  producer: string,
  networkId: string,
): Buffer {
  const before =
    `agentnet-v1-blockhash\n{${MEME},"network_id":${JSON.stringify(networkId)},` +
    `"parent_hash":"${parent}","producer":"${producer}",${DIFF},"timestamp":"${timestamp}",` +
    '"transactions":';
  return Buffer.concat([Buffer.from(before), transactions, Buffer.from('}')]);
}

export function proposalBody(parts: ProposalParts, signature: string): Buffer {
  const before = Buffer.from(opening(parts.parent, parts.timestamp));
  return Buffer.concat([before, parts.transactions, Buffer.from(closing(signature))]);
}

/** Returns the transactions in a proposal body. */
export function extractTransactions(
  body: Uint8Array,
  { parent, timestamp }: Pick<ProposalParts, 'parent' | 'timestamp'>,
): Uint8Array {
  return body.slice(opening(parent, timestamp).length, -closing('0'.repeat(128)).length);
}

const closing = (signature: string) => `,"signature":"${signature}"}`;

function opening(parent: string, timestamp: string): string {
  const times = `"timestamp":"${timestamp}","transactions":`;
  return `{${MEME},"parent_hash":"${parent}",${DIFF},${times}`;
}

/** Returns an approval without its signature. The text is equal for all voters on a block. */
function approval(blockHash: string, timestamp: string): string {
  const what = `"block_hash":"${blockHash}","decision":"approve"`;
  return `{${what},"meme_references":[],"reason":"it adds up","timestamp":"${timestamp}"`;
}

export function voteInput(blockHash: string, timestamp: string): string {
  return `agentnet-v1-vote\n${approval(blockHash, timestamp)}}`;
}

/** Returns the start of a vote. A vote consists of this text, the signature, and `voteEnd`. */
export function voteBegin(blockHash: string, timestamp: string): string {
  return `${approval(blockHash, timestamp)},"signature":"`;
}

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

/**
 * Returns a transaction's data, which is unique in a network because every run has its own id. A
 * size is reached by a filler, and lines of a file follow in turn.
 */
export function transactionData(run: string, number: number, payload: Payload = {}): string {
  const { lines = [] } = payload;
  const data = lines.length > 0 ? `,"data":${JSON.stringify(lines[number % lines.length])}` : '';
  const start = `{"type":"load","run":"${run}","number":${number}${data}`;
  const missing = sizeOf(payload, number) - start.length - 1;
  return missing > ',"fill":""'.length
    ? `${start},"fill":"${'-'.repeat(missing - ',"fill":""'.length)}"}`
    : `${start}}`;
}

export function transactionText(one: {
  data: string;
  hash: string;
  sender: string;
  signature: string;
}): string {
  const { data, hash, sender, signature } = one;
  const signed = `"sender":"${sender}","signature":"${signature}"`;
  return `{"data":${JSON.stringify(data)},"hash":"${hash}",${signed}}`;
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
