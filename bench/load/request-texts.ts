/**
 * The texts of a load run's blocks and votes, put together by hand, and the tasks of the threads
 * that sign them. Members are in canonical order (RFC 8785), so that the text that is signed is the
 * text that is sent: nothing is encoded twice. A test compares them with
 * `engine/protocol/signing.ts`. Every field of the interface is sent, for another server may
 * require it.
 */
const MEME = '"meme_content":{"content":"load","tags":[],"type":"text"}';
const DIFF = '"state_diff":{"additions":{},"deletions":{}}';

interface ProposalParts {
  parent: string;
  timestamp: string;
  /** The JSON array of transactions, as text. */
  transactions: Uint8Array;
}

/** What a proposal's signature covers. */
export function proposalInput({ parent, timestamp, transactions }: ProposalParts): Buffer {
  const before = `agentnet-v1-block\n${opening(parent, timestamp)}`;
  return Buffer.concat([Buffer.from(before), transactions, Buffer.from('}')]);
}

/** What a proposal's hash is taken of; the producer's key and the network are part of it. */
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

/** What is sent. */
export function proposalBody(parts: ProposalParts, signature: string): Buffer {
  const before = Buffer.from(opening(parts.parent, parts.timestamp));
  return Buffer.concat([before, parts.transactions, Buffer.from(closing(signature))]);
}

/** The transactions of such a body again. */
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

/** An approval without its signature: the same text for every voter of a block. */
function approval(blockHash: string, timestamp: string): string {
  const what = `"block_hash":"${blockHash}","decision":"approve"`;
  return `{${what},"meme_references":[],"reason":"it adds up","timestamp":"${timestamp}"`;
}

export function voteInput(blockHash: string, timestamp: string): string {
  return `agentnet-v1-vote\n${approval(blockHash, timestamp)}}`;
}

/** A vote is this, its signature, and `voteEnd`. */
export function voteBegin(blockHash: string, timestamp: string): string {
  return `${approval(blockHash, timestamp)},"signature":"`;
}

export const voteEnd = '"}';

/** A transaction's data: no two of a network are alike, for `run` is drawn anew. */
export function transactionData(run: string, number: number): string {
  return `{"type":"load","run":"${run}","number":${number}}`;
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
  /** Keys follow from it. */
  seed: string;
  /** In the data of every transaction. */
  run: string;
  /** Empty when the server does not show it. */
  networkId: string;
}

/** One input for all, or one for each ordinal. */
export interface SignTask {
  ordinals: readonly number[];
  inputs: readonly string[];
}

export interface TransactionTask {
  /** Number of the first; numbers are never used twice in a run. */
  first: number;
  count: number;
  /** The keys that sign in turn. */
  senders: { first: number; count: number };
}

export interface LinkTask {
  parent: string;
  blocks: readonly { producer: number; timestamp: string; transactions: Uint8Array }[];
}

export interface LinkedBlock {
  parent: string;
  /** As the protocol makes it out of the content; another server may have another way. */
  hash: string;
  body: Uint8Array;
}
