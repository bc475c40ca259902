/**
 * Signed requests, composed: what a client sends and a scripted agent submits. Pure and safe in a
 * browser; the key stays behind `sign`.
 */
import type { CommandKind } from './schema/command.js';
import { carriage, type SignedRequest, targetOf } from './schema/entry.js';
import type { Decision, Sentiment, Status } from './schema/primitives.js';
import type { RequestBody } from './schema/request.js';
import {
  httpInput,
  memeInput,
  proposalInput,
  sha256Hex,
  transactionInput,
  voteInput,
} from './signing.js';

/** A key that can sign: `sign` takes the text of a signing input and gives hex. */
export interface Signatory {
  /** Hex. */
  publicKey: string;
  sign(input: string): string;
  /** Takes the place of every signature, in a network without any: inputs are not even made. */
  unsigned?: string;
}

const encoder = new TextEncoder();

/** The text that a request's signature covers; `raw` is its body, parsed. */
export function signingInput(
  request: SignedRequest,
  raw: Readonly<Record<string, unknown>>,
): string {
  if (request.kind === 'vote') return voteInput(raw);
  if (request.kind === 'propose') return proposalInput(raw);
  const { timestamp, target } = request;
  if (request.kind === 'meme') {
    const { caption, content_sha256, tags } = raw as RequestBody['meme'];
    return memeInput({ caption, content_sha256, tags, timestamp });
  }
  const { method } = carriage[request.kind];
  return httpInput({ method, target, timestamp, bodySha256: sha256Hex(request.body) });
}

/** A request whose signature is in its body; `timestamp` is a member of `fields`. */
function signedInBody(
  kind: 'vote' | 'propose',
  by: Signatory,
  fields: Record<string, unknown>,
): SignedRequest {
  const inputOf = kind === 'vote' ? voteInput : proposalInput;
  const signed = by.unsigned ?? by.sign(inputOf(fields));
  const body = encoder.encode(JSON.stringify({ ...fields, signature: signed }));
  return { kind, public_key: by.publicKey, target: '', timestamp: '', signature: '', body };
}

/** A request whose signature is in the header X-Agent-Signature. */
function signedInHeader(
  kind: CommandKind,
  by: Signatory,
  timestamp: string,
  fields: Record<string, unknown>,
  id?: string,
): SignedRequest {
  const body = encoder.encode(JSON.stringify(fields));
  const target = targetOf(kind, id);
  const { method } = carriage[kind];
  const input = () => httpInput({ method, target, timestamp, bodySha256: sha256Hex(body) });
  const signature = by.unsigned ?? by.sign(input());
  return { kind, public_key: by.publicKey, target, timestamp, signature, body };
}

export interface Registration {
  personality: string;
  name: string;
  description?: string;
  capabilities: readonly ('validator' | 'producer')[];
}

export function composeRegister(by: Signatory, timestamp: string, fields: Registration) {
  return signedInHeader('register', by, timestamp, { public_key: by.publicKey, ...fields });
}

export function composeStatus(
  by: Signatory,
  timestamp: string,
  agentId: string,
  fields: { status: Status; reason?: string; expected_duration?: string },
) {
  return signedInHeader('status', by, timestamp, fields, agentId);
}

export interface VoteFields {
  block_hash: string;
  decision: Decision;
  reason?: string;
  meme_references?: readonly string[];
}

export function composeVote(by: Signatory, timestamp: string, fields: VoteFields) {
  return signedInBody('vote', by, { ...fields, timestamp });
}

/** One transaction of a proposal; `sender` is left out when the producer signs it. */
export interface SignedTransaction {
  hash: string;
  data: string;
  sender?: string;
  signature: string;
}

/** `bySender` says that the signer is not the producer. */
export function composeTransaction(
  by: Signatory,
  networkId: string,
  data: string,
  bySender: boolean,
): SignedTransaction {
  const hash = sha256Hex(data);
  const signature = by.sign(transactionInput(networkId, hash));
  return { hash, data, ...(bySender ? { sender: by.publicKey } : {}), signature };
}

export interface ProposalFields {
  parent_hash: string;
  transactions: readonly SignedTransaction[];
  state_diff?: { additions: Record<string, unknown>; deletions: Record<string, unknown> };
  meme_content?: { type: string; content: string; tags: readonly string[] };
}

export function composeProposal(by: Signatory, timestamp: string, fields: ProposalFields) {
  return signedInBody('propose', by, { ...fields, timestamp });
}

export interface MemeFields {
  caption: string;
  tags: readonly string[];
  file: Uint8Array;
}

export function composeMeme(by: Signatory, timestamp: string, fields: MemeFields): SignedRequest {
  const { caption, tags, file } = fields;
  const form = { caption, content_sha256: sha256Hex(file), tags };
  const signature = by.sign(memeInput({ ...form, timestamp }));
  const body = encoder.encode(JSON.stringify(form));
  return { kind: 'meme', public_key: by.publicKey, target: '', timestamp, signature, body, file };
}

export interface DiscussFields {
  block_hash: string;
  message: string;
  sentiment: Sentiment;
  meme_references?: readonly string[];
}

export function composeDiscuss(by: Signatory, timestamp: string, fields: DiscussFields) {
  return signedInHeader('discuss', by, timestamp, { ...fields });
}

export interface AllianceFields {
  target_ids: readonly string[];
  purpose: string;
  duration?: string;
}

export function composeAlliancePropose(by: Signatory, timestamp: string, fields: AllianceFields) {
  return signedInHeader('alliance_propose', by, timestamp, { ...fields });
}

export function composeAllianceRespond(
  by: Signatory,
  timestamp: string,
  allianceId: string,
  accepted: boolean,
) {
  return signedInHeader('alliance_respond', by, timestamp, { accepted }, allianceId);
}

export function composeAllianceLeave(by: Signatory, timestamp: string, allianceId: string) {
  return signedInHeader('alliance_leave', by, timestamp, {}, allianceId);
}
