/** The requests of a certificate: genesis, the proposal, a vote. Signatures are checked last. */
import { verifyText } from '../crypto/browser-keys.js';
import { parseJson } from '../protocol/json.js';
import {
  agentId,
  blockHash,
  proposalInput,
  sha256Hex,
  transactionInput,
  voteInput,
} from '../protocol/signing.js';
import { lowerAscii } from '../protocol/unicode/unicode.js';
import { type Entry, said } from './chain.js';
import { Refused } from './format.js';

/** The parameters of a network that decide its blocks. */
export interface CertifiedGenesis {
  network_id: string;
  policy: 'bft' | 'majority' | 'veto';
  weights: 'equal' | 'reputation' | 'alliance_bonus';
  voting_period_ms: number;
  min_validators: number;
  participation_bps: number;
}

type Body = Record<string, unknown>;

const encoder = new TextEncoder();

/** Entry 0. Of its parameters those are looked at that decide blocks. */
export function genesisOf(entry: Entry): CertifiedGenesis {
  const { where } = entry;
  const body = bodyOf(entry, 'genesis');
  const { policy, weights } = body;
  const whole = ['voting_period_ms', 'min_validators', 'participation_bps'];
  const wrong =
    whole.find((name) => !Number.isSafeInteger(body[name]) || Number(body[name]) < 0) ??
    (['bft', 'majority', 'veto'].includes(policy as string) ? undefined : 'policy') ??
    (['equal', 'reputation', 'alliance_bonus'].includes(weights as string) ? undefined : 'weights');
  if (wrong !== undefined) throw new Refused(where, `genesis has no usable ${wrong}`);
  if ('signatures' in body) {
    throw new Refused(where, 'the agents of this network sign nothing: nothing can be certified');
  }
  return body as unknown as CertifiedGenesis;
}

/** A producer's proposal, as signed. */
export interface CertifiedProposal {
  /** 64 lower-case hex digits. */
  producer: string;
  /** The body as it was sent: `transactions`, `state_diff`, `meme_content` and all else. */
  body: Readonly<Record<string, unknown>>;
  parent_hash: string;
  transactions: number;
}

/** @throws {Refused} when the block's hash is another. */
export function proposalOf(entry: Entry, networkId: string, hash: string): CertifiedProposal {
  const { where } = entry;
  const body = bodyOf(entry, 'propose');
  const producer = lowerAscii(entry.request!.public_key);
  const found = blockHash(body, producer, networkId);
  if (found !== hash) {
    const key = `key ${producer} on network ${networkId}`;
    throw new Refused(where, `this proposal by ${key} makes block ${found}, not ${hash}`);
  }
  const { parent_hash: parent, transactions } = body;
  if (typeof parent !== 'string' || !Array.isArray(transactions)) {
    throw new Refused(where, 'the proposal has no parent_hash and transactions');
  }
  const parent_hash = lowerAscii(parent);
  return { producer, body, parent_hash, transactions: transactions.length };
}

/** The producer's signature, and each transaction's content and signature. */
export function assertProposalSigned(
  { where }: Entry,
  { producer, body }: CertifiedProposal,
  networkId: string,
): void {
  if (!isSigned(proposalInput(body), producer, body.signature)) {
    throw new Refused(where, `the signature of the proposal is not one of key ${producer}`);
  }
  for (const [index, transaction] of (body.transactions as Body[]).entries()) {
    const { data, hash, sender, signature } = transaction ?? {};
    const place = `transaction ${index} of the proposal`;
    if (typeof data !== 'string' || typeof hash !== 'string') {
      throw new Refused(where, `${place} has no data and hash`);
    }
    if (sha256Hex(data) !== lowerAscii(hash)) {
      throw new Refused(where, `${place}: its hash is not that of its data`);
    }
    const signer = typeof sender === 'string' ? sender : producer;
    if (!isSigned(transactionInput(networkId, hash), signer, signature)) {
      throw new Refused(where, `${place}: its signature is not one of key ${signer}`);
    }
  }
}

/** A vote, as signed. */
export interface SignedVote {
  /** 64 lower-case hex digits. */
  public_key: string;
  agent_id: string;
  decision: 'approve' | 'reject';
  body: Readonly<Record<string, unknown>>;
}

/** @throws {Refused} when it is of another block, or none. */
export function voteOf(entry: Entry, hash: string): SignedVote {
  const { where, seq } = entry;
  const body = bodyOf(entry, 'vote');
  const public_key = lowerAscii(entry.request!.public_key);
  const { block_hash, decision } = body;
  if (typeof block_hash !== 'string' || lowerAscii(block_hash) !== hash) {
    throw new Refused(where, `the vote of entry ${seq} is on block ${said(block_hash)}`);
  }
  if (decision !== 'approve' && decision !== 'reject') {
    throw new Refused(where, `the vote of entry ${seq} decides nothing`);
  }
  return { public_key, agent_id: agentId(public_key), decision, body };
}

/** @throws {Refused} */
export function assertVoteSigned({ where, seq }: Entry, { public_key, body }: SignedVote): void {
  if (isSigned(voteInput(body), public_key, body.signature)) return;
  throw new Refused(where, `the signature of the vote of entry ${seq} is not one of ${public_key}`);
}

const isSigned = (input: string, key: string, signature: unknown): boolean =>
  typeof signature === 'string' && verifyText(input, key, signature);

function bodyOf({ request, where, seq }: Entry, kind: string): Body {
  if (request?.kind !== kind) {
    throw new Refused(where, `the ${kind} of entry ${seq} is not in the certificate`);
  }
  const result = parseJson(encoder.encode(request.body));
  if ('message' in result) {
    throw new Refused(`${where}/entry/body`, `${result.pointer || 'it'} ${result.message}`);
  }
  const { value } = result;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Body;
  throw new Refused(`${where}/entry/body`, 'is no JSON object');
}
