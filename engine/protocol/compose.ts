/** Composes signed requests. Pure; runs in browsers. The private key stays behind `sign`. */
import type { CommandKind } from './schema/command.js';
import { carriage, type SignedRequest, targetOf } from './schema/entry.js';
import type { Decision, Sentiment, Status } from './schema/primitives.js';
import type { ProposalBody, RequestBody } from './schema/request.js';
import {
  httpInput,
  memeInput,
  proposalInput,
  sha256Hex,
  transactionInput,
  voteInput,
} from './signing.js';
import { utf8 } from './text.js';
import { type AroundBody, plainJson, UnsignedRequest } from './unsigned.js';

/** A signing key. `sign` takes a signing input as text and returns hex. */
export interface Signatory {
  /** Hex. */
  publicKey: string;
  sign(input: string): string;
  /** Placeholder for every signature in an unsigned network. If set, builds no signing inputs. */
  unsigned?: string;
}

/**
 * Returns the text that a request's signature covers. `raw` is the parsed body.
 *
 * @example
 * ```ts
 * import { composeVote, createVerifier, generateKeyPair, signatory, signingInput } from 'folkmoot';
 *
 * const keys = generateKeyPair();
 * const fields = { block_hash: 'ab'.repeat(32), decision: 'approve' } as const;
 * const vote = composeVote(signatory(keys), '2026-01-01T00:00:00Z', fields);
 * const body: { signature: string } = JSON.parse(new TextDecoder().decode(vote.body));
 * const message = new TextEncoder().encode(signingInput(vote, body));
 * const signature = Uint8Array.from(Buffer.from(body.signature, 'hex'));
 * const verifier = createVerifier('inline');
 * const jobs = [{ publicKey: keys.publicKey, message, signature }];
 * console.log(await verifier.verify(jobs)); // [ true ]
 * await verifier.close();
 * ```
 */
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

/** Signs a request in the member `signature` of `body`, which is mutated. */
function signedInBody(
  kind: 'vote' | 'propose',
  by: Signatory,
  body: Record<string, unknown> & { signature: string },
): SignedRequest {
  const inputOf = kind === 'vote' ? voteInput : proposalInput;
  body.signature = by.unsigned ?? by.sign(inputOf(body));
  const around = { kind, public_key: by.publicKey, target: '', timestamp: '', signature: '' };
  return withBody(by, around, body);
}

/** Signs a request in the header. Keeps `body`, which the caller must not change afterwards. */
function signedInHeader(
  kind: CommandKind,
  by: Signatory,
  timestamp: string,
  body: Record<string, unknown>,
  id?: string,
): SignedRequest {
  const target = targetOf(kind, id);
  const around = { kind, public_key: by.publicKey, target, timestamp, signature: '' };
  const request = withBody(by, around, body);
  const { method } = carriage[kind];
  const input = () => httpInput({ method, target, timestamp, bodySha256: sha256Hex(request.body) });
  request.signature = by.unsigned ?? by.sign(input());
  return request;
}

function withBody(by: Signatory, around: AroundBody, body: Record<string, unknown>): SignedRequest {
  const plain = by.unsigned === undefined ? null : plainJson(body);
  return plain
    ? new UnsignedRequest(around, body, plain)
    : { ...around, body: utf8(JSON.stringify(body)) };
}

/**
 * Registration data: a personality (any word; scripted agents recognize some), a name of 1 to 64
 * characters, and capabilities.
 */
export interface Registration {
  personality: string;
  name: string;
  description?: string;
  capabilities: readonly ('validator' | 'producer')[];
}

/**
 * Composes a signed registration. The agent's id is `agentId` (`folkmoot/signing`) applied to its
 * key.
 *
 * @param timestamp time of signing, RFC 3339; servers allow a skew of 5 minutes.
 */
export function composeRegister(by: Signatory, timestamp: string, fields: Registration) {
  return signedInHeader('register', by, timestamp, { public_key: by.publicKey, ...fields });
}

/**
 * Composes a signed status update for the agent `agentId`, which must be the signer. The timestamp
 * must be later than the one in the agent's last update.
 *
 * @param timestamp time of signing, RFC 3339.
 */
export function composeStatus(
  by: Signatory,
  timestamp: string,
  agentId: string,
  fields: { status: Status; reason?: string; expected_duration?: string },
) {
  return signedInHeader('status', by, timestamp, { ...fields }, agentId);
}

/** A vote. `reason` takes up to 1,024 characters, and `meme_references` up to 16 ids. */
export interface VoteFields {
  block_hash: string;
  decision: Decision;
  reason?: string;
  meme_references?: readonly string[];
  /** Ballot, for a network whose decision rule counts ballots. */
  ballot?: unknown;
}

/**
 * Composes a signed vote. A second, conflicting vote on a block is an equivocation, which costs
 * reputation.
 *
 * @param timestamp time of signing, RFC 3339.
 */
export function composeVote(by: Signatory, timestamp: string, fields: VoteFields) {
  // Members are listed by name, because most requests are votes and a spread takes 20 times as
  // long.
  const { block_hash, decision, reason, meme_references } = fields;
  const known = { block_hash, decision, reason, meme_references, timestamp, signature: '' };
  for (const name in fields) {
    if (!isVoteField(name))
      return signedInBody('vote', by, { ...fields, timestamp, signature: '' });
  }
  return signedInBody('vote', by, known);
}

const isVoteField = (name: string): boolean =>
  name === 'block_hash' || name === 'decision' || name === 'reason' || name === 'meme_references';

/** A transaction in a proposal. `sender` is absent if the producer signs the transaction. */
export interface SignedTransaction {
  hash: string;
  data: string;
  sender?: string;
  signature: string;
}

/**
 * Composes a signed transaction for a proposal.
 *
 * @param networkId id of the only network that accepts the transaction.
 * @param data 1 to 4,096 bytes as UTF-8, opaque to the network.
 * @param bySender true if the signer is not the producer.
 */
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

/** A block: its parent (the head), up to 1,000 transactions, the state change, and a meme. */
export interface ProposalFields
  extends Omit<
    ProposalBody,
    'transactions' | 'state_diff' | 'meme_content' | 'timestamp' | 'signature'
  > {
  transactions: readonly SignedTransaction[];
  state_diff?: { additions: Record<string, unknown>; deletions: Record<string, unknown> };
  meme_content?: { type: string; content: string; tags: readonly string[] };
}

/** Composes a signed block proposal. @param timestamp time of signing, RFC 3339. */
export function composeProposal(by: Signatory, timestamp: string, fields: ProposalFields) {
  return signedInBody('propose', by, { ...fields, timestamp, signature: '' });
}

/**
 * A meme: a caption of up to 280 characters, up to 10 tags, and the file (PNG, JPEG, GIF, WebP or
 * text, up to 1 MiB).
 */
export interface MemeFields {
  caption: string;
  tags: readonly string[];
  file: Uint8Array;
}

/** Composes a signed meme, with the file's hash. @param timestamp time of signing, RFC 3339. */
export function composeMeme(by: Signatory, timestamp: string, fields: MemeFields): SignedRequest {
  const { caption, tags, file } = fields;
  const form = { caption, content_sha256: sha256Hex(file), tags };
  const signature = by.unsigned ?? by.sign(memeInput({ ...form, timestamp }));
  const around = { public_key: by.publicKey, target: '', timestamp, signature, file };
  return withBody(by, { kind: 'meme', ...around }, form);
}

/** A message about a block, up to 2,048 characters long. */
export interface DiscussFields {
  block_hash: string;
  message: string;
  sentiment: Sentiment;
  meme_references?: readonly string[];
}

/** Composes a signed message about a block. @param timestamp time of signing, RFC 3339. */
export function composeDiscuss(by: Signatory, timestamp: string, fields: DiscussFields) {
  return signedInHeader('discuss', by, timestamp, { ...fields });
}

/**
 * An alliance to found: the ids of 1 to 31 agents to invite, the purpose, and the duration (ISO
 * 8601, PT1M to P30D; default PT1H).
 */
export interface AllianceFields {
  target_ids: readonly string[];
  purpose: string;
  duration?: string;
}

/** Composes a signed alliance proposal. @param timestamp time of signing, RFC 3339. */
export function composeAlliancePropose(by: Signatory, timestamp: string, fields: AllianceFields) {
  return signedInHeader('alliance_propose', by, timestamp, { ...fields });
}

/** Composes a signed response to an invitation. @param timestamp time of signing, RFC 3339. */
export function composeAllianceRespond(
  by: Signatory,
  timestamp: string,
  allianceId: string,
  accepted: boolean,
) {
  return signedInHeader('alliance_respond', by, timestamp, { accepted }, allianceId);
}

/** Composes a signed request to leave an alliance. @param timestamp time of signing, RFC 3339. */
export function composeAllianceLeave(by: Signatory, timestamp: string, allianceId: string) {
  return signedInHeader('alliance_leave', by, timestamp, {}, allianceId);
}
