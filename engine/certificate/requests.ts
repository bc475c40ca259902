/** Parses and verifies the requests in a certificate: genesis, registrations, proposals, votes. */
import { verifyText } from '../crypto/reference.js';
import { canonical } from '../protocol/canonical.js';
import { parseJson } from '../protocol/json.js';
import { limits } from '../protocol/limits.js';
import type { RuleOptions } from '../protocol/schema/genesis.js';
import { findGenesisShapeProblem } from '../protocol/schema/validate.js';
import {
  agentId,
  blockHash,
  httpInput,
  proposalInput,
  sha256Hex,
  transactionInput,
  voteInput,
} from '../protocol/signing.js';
import { isHash, isPublicKey, isSignature, lowerAscii } from '../protocol/text.js';
import { findGenesisProblem } from '../rules/genesis-problem.js';
import { findMemberProblem, findRuleProblem } from '../rules/network-rule.js';
import type { Entry } from './chain.js';
import { CertificateError, type CertificateSpan, type CertifiedEntry } from './format.js';
import { formatValue } from './results.js';

/** Network parameters that affect the decision on a block. */
export interface CertifiedGenesis {
  network_id: string;
  /** Name of the decision rule. */
  policy: string;
  weights: 'equal' | 'reputation' | 'alliance_bonus';
  voting_period_ms: number;
  min_validators: number;
  participation_bps: number;
  /** Parameters, lines or module of the rule. */
  rule?: RuleOptions;
}

type Body = Readonly<Record<string, unknown>>;

const encoder = new TextEncoder();
const bytesIn = (text: string) => encoder.encode(text).length;

/** Limit of transactions in a proposal: docs/protocol.md, section 2. */
const TRANSACTIONS = 1_000;
const DATA_BYTES = 4_096;
const REFERENCES = 16;
const MOST_OPTIONS = 16;

/** Enforces the protocol's limits before any digest or signature. @throws {CertificateError} */
export function assertBounded(spans: readonly CertificateSpan[]): void {
  for (const [index, { links }] of spans.entries()) {
    for (const [place, { entry }] of links.entries()) {
      if (entry) assertRequest(entry, `/spans/${index}/links/${place}/entry`);
    }
  }
}

function assertRequest(entry: CertifiedEntry, where: string): void {
  const { kind, body, public_key, target, timestamp, signature } = entry;
  const most = kind === 'propose' ? limits.proposalBytes : limits.bodyBytes;
  const size = body.length > most ? body.length : bytesIn(body);
  if (size > most) {
    throw new CertificateError(`${where}/body`, 'BODY_TOO_LARGE', { kind, size, most });
  }
  if (kind === 'genesis' || kind === 'tick') {
    const isEmpty = public_key + target + timestamp + signature === '';
    if (!isEmpty) throw new CertificateError(where, 'SYSTEM_ENTRY', { kind });
  }
  if (kind === 'tick') {
    if (body !== '') throw new CertificateError(`${where}/body`, 'TICK_BODY');
    return;
  }
  const parsed = parsedBody(body, where);
  if (kind === 'propose') assertTransactions(parsed, where);
}

function assertTransactions({ transactions }: Body, where: string): void {
  const inside = `${where}/body/transactions`;
  if (!Array.isArray(transactions)) throw new CertificateError(inside, 'NOT_AN_ARRAY');
  const count = transactions.length;
  if (count > TRANSACTIONS) {
    throw new CertificateError(inside, 'TOO_MANY_TRANSACTIONS', { count, most: TRANSACTIONS });
  }
  for (const [index, transaction] of transactions.entries()) {
    const { data, hash, sender, signature } = (transaction ?? {}) as Body;
    const isFormed =
      typeof data === 'string' &&
      typeof hash === 'string' &&
      isHash(hash) &&
      (sender === undefined || (typeof sender === 'string' && isPublicKey(sender))) &&
      typeof signature === 'string' &&
      isSignature(signature);
    const bytes = isFormed ? bytesIn(data) : 0;
    if (bytes >= 1 && bytes <= DATA_BYTES) continue;
    throw new CertificateError(`${inside}/${index}`, 'NOT_A_TRANSACTION');
  }
}

function parsedBody(body: string, where: string): Body {
  const parsed = parseJson(body);
  if ('message' in parsed) {
    const { pointer, message } = parsed;
    const problem = pointer === '' ? message : `${pointer} ${message}`;
    throw new CertificateError(`${where}/body`, 'BAD_JSON', { problem });
  }
  const { value } = parsed;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Body;
  throw new CertificateError(`${where}/body`, 'NOT_AN_OBJECT');
}

/** Parses entry 0. Validates only the parameters that affect decisions. */
export function parseGenesisEntry(entry: Entry): CertifiedGenesis {
  const { where } = entry;
  const body = bodyOf(entry, 'genesis');
  if (canonical(body) !== entry.request!.body) {
    throw new CertificateError(where, 'NOT_CANONICAL');
  }
  const { policy, weights } = body;
  const wrong =
    Object.entries(wholes).find(([name, [least, most]]) => {
      const value = body[name];
      return !Number.isSafeInteger(value) || Number(value) < least || Number(value) > most;
    })?.[0] ??
    (typeof policy === 'string' ? undefined : 'policy') ??
    (['equal', 'reputation', 'alliance_bonus'].includes(weights as string) ? undefined : 'weights');
  if (wrong !== undefined) throw new CertificateError(where, 'GENESIS_PARAMETER', { name: wrong });
  const genesis = body as unknown as CertifiedGenesis;
  // Some networks predate `rule`. Only a network with that member has all current parameters.
  const check = policy === 'module' ? findTextProblem : findGenesisProblem;
  const found = 'rule' in body ? check(genesis) : findRuleProblem(genesis);
  if (found) {
    const name = `${found.pointer.slice(1).replaceAll('/', '.')} ${found.message}`;
    throw new CertificateError(where, 'GENESIS_PARAMETER', { name });
  }
  if ('signatures' in body) {
    throw new CertificateError(where, 'UNSIGNED_NETWORK');
  }
  return genesis;
}

/** Returns the first problem in the parameters of a module that the check may not run, or null. */
const findTextProblem = (genesis: CertifiedGenesis) =>
  findGenesisShapeProblem(genesis) ?? findMemberProblem(genesis);

/** Integer parameters with their bounds: docs/protocol.md, section 11. */
const wholes: Readonly<Record<string, readonly [least: number, most: number]>> = {
  voting_period_ms: [1, 86_400_000],
  min_validators: [1, 1_000_000],
  participation_bps: [0, 10_000],
};

/** A signed proposal. */
export interface CertifiedProposal {
  /** 64 lower-case hex digits. */
  producer: string;
  /** Request body, with `transactions`, `state_diff` and `meme_content`. */
  body: Readonly<Record<string, unknown>>;
  parent_hash: string;
  transactions: number;
  /** Names of the options; empty if the proposal has none. */
  options: readonly string[];
}

/** @throws {CertificateError} if the proposal is not for this block. */
export function parseProposal(entry: Entry, networkId: string, hash: string): CertifiedProposal {
  const { where } = entry;
  const body = bodyOf(entry, 'propose');
  const producer = keyOf(entry);
  for (const name of ['producer', 'network_id']) {
    // Hashing replaces these members, so accepting them would let two proposals have the same hash.
    if (name in body) throw new CertificateError(where, 'PROPOSAL_MEMBER', { name });
  }
  const found = blockHash(body, producer, networkId);
  if (found !== hash) {
    const wrong = { key: producer, network: networkId, found, hash };
    throw new CertificateError(where, 'WRONG_PROPOSAL', wrong);
  }
  const { parent_hash: parent } = body;
  const transactions = body.transactions as readonly Body[];
  if (typeof parent !== 'string' || !isHash(parent)) {
    throw new CertificateError(where, 'PARENT_HASH', { value: formatValue(parent) });
  }
  const signed = new Set(transactions.map((one) => `${hashOf(one)} ${signerOf(one, producer)}`));
  if (signed.size < transactions.length) {
    throw new CertificateError(where, 'DUPLICATE_TRANSACTION');
  }
  const options = optionNames(body, where);
  const parent_hash = lowerAscii(parent);
  return { producer, body, parent_hash, transactions: transactions.length, options };
}

const OPTION_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

function optionNames({ options = [] }: Body, where: string): string[] {
  const names = Array.isArray(options) ? options.map((one) => (one as Body | null)?.name) : [null];
  const isFormed =
    names.length <= MOST_OPTIONS &&
    new Set(names).size === names.length &&
    names.every((name) => typeof name === 'string' && OPTION_NAME.test(name));
  if (isFormed) return names as string[];
  throw new CertificateError(`${where}/entry/body/options`, 'PROPOSAL_OPTIONS');
}

const hashOf = ({ hash }: Body): string => lowerAscii(hash as string);
const signerOf = ({ sender }: Body, producer: string): string =>
  sender === undefined ? producer : lowerAscii(sender as string);

/** Returns the transaction hashes in lower case. */
export const transactionHashes = ({ body }: CertifiedProposal): string[] =>
  (body.transactions as readonly Body[]).map(hashOf);

/** Verifies the producer's signature, and the hash and signature of each transaction. */
export function assertProposalSigned(
  { where }: Entry,
  { producer, body }: CertifiedProposal,
  networkId: string,
): void {
  if (!isSigned(proposalInput(body), producer, body.signature)) {
    throw new CertificateError(where, 'SIGNATURE', { what: 'the proposal', key: producer });
  }
  for (const [index, transaction] of (body.transactions as readonly Body[]).entries()) {
    const hash = hashOf(transaction);
    if (sha256Hex(transaction.data as string) !== hash) {
      throw new CertificateError(where, 'TRANSACTION_HASH', { index });
    }
    const signer = signerOf(transaction, producer);
    if (!isSigned(transactionInput(networkId, hash), signer, transaction.signature)) {
      const what = `transaction ${index}`;
      throw new CertificateError(where, 'SIGNATURE', { what, key: signer });
    }
  }
}

export interface SignedVote {
  /** 64 lower-case hex digits. */
  public_key: string;
  agent_id: string;
  decision: 'approve' | 'reject';
  reason: string;
  /** Without duplicates. */
  meme_references: readonly string[];
  /** Undefined if the vote has none. */
  ballot: unknown;
  body: Readonly<Record<string, unknown>>;
}

/** @throws {CertificateError} unless the entry is a vote on this block. */
export function parseVote(entry: Entry, hash: string): SignedVote {
  const { where, seq } = entry;
  const body = bodyOf(entry, 'vote');
  const public_key = keyOf(entry);
  const { block_hash, decision, reason = '', meme_references: references = [], ballot } = body;
  if (typeof block_hash !== 'string' || lowerAscii(block_hash) !== hash) {
    throw new CertificateError(where, 'VOTE_BLOCK', { seq, block: formatValue(block_hash) });
  }
  if (decision !== 'approve' && decision !== 'reject') {
    throw new CertificateError(where, 'VOTE_DECISION', { seq, value: formatValue(decision) });
  }
  const isList =
    Array.isArray(references) &&
    references.length <= REFERENCES &&
    references.every((one) => typeof one === 'string');
  if (typeof reason !== 'string' || !isList) {
    throw new CertificateError(where, 'VOTE_MEMBERS', { seq });
  }
  const meme_references = [...new Set<string>(references)];
  const agent_id = agentId(public_key);
  return { public_key, agent_id, decision, reason, meme_references, ballot, body };
}

/** @throws {CertificateError} */
export function assertVoteSigned({ where, seq }: Entry, { public_key, body }: SignedVote): void {
  if (isSigned(voteInput(body), public_key, body.signature)) return;
  const what = `the vote of entry ${seq}`;
  throw new CertificateError(where, 'SIGNATURE', { what, key: public_key });
}

/** A registration, as its agent's record. */
export interface SignedRegistration {
  public_key: string;
  agent_id: string;
  personality: string;
  name: string;
  description: string;
  capabilities: readonly unknown[];
  registered_at: number;
}

/** @throws {CertificateError} unless the entry registers a validator. */
export function parseRegistration(entry: Entry): SignedRegistration {
  const { where } = entry;
  const body = bodyOf(entry, 'register');
  const { public_key: key, personality, name, description = '', capabilities } = body;
  const isPersonality =
    typeof personality === 'string' && /^[A-Za-z][A-Za-z0-9_-]{0,31}$/.test(personality);
  const isValidator = Array.isArray(capabilities) && capabilities.includes('validator');
  const isKey = typeof key === 'string' && isPublicKey(key);
  const isNamed = typeof name === 'string' && typeof description === 'string';
  if (!isKey || !isNamed || !isPersonality || !isValidator) {
    throw new CertificateError(where, 'NOT_A_REGISTRATION', { seq: entry.seq });
  }
  const header = entry.request!.public_key;
  const public_key = lowerAscii(key);
  if (header !== '' && lowerAscii(header) !== public_key) {
    throw new CertificateError(where, 'HEADER_KEY', { seq: entry.seq });
  }
  return {
    public_key,
    agent_id: agentId(public_key),
    personality: lowerAscii(personality),
    name,
    description,
    capabilities,
    registered_at: entry.request!.at,
  };
}

const REGISTER = '/api/v1/agents/register';

/** @throws {CertificateError} */
export function assertRegistrationSigned(
  { where, seq, request }: Entry,
  { public_key }: SignedRegistration,
): void {
  const { target, timestamp, signature, body } = request!;
  const input = httpInput({ method: 'POST', target, timestamp, bodySha256: sha256Hex(body) });
  const isRoute = target.split('?')[0] === REGISTER;
  if (isRoute && isSigned(input, public_key, signature)) return;
  const what = `the registration of entry ${seq}`;
  throw new CertificateError(where, 'SIGNATURE', { what, key: public_key });
}

const isSigned = (input: string, key: string, signature: unknown): boolean =>
  typeof signature === 'string' && verifyText(input, key, signature);

/** Returns the signer's key in lower case. */
function keyOf({ request, where }: Entry): string {
  const { public_key } = request!;
  if (isPublicKey(public_key)) return lowerAscii(public_key);
  const value = formatValue(public_key);
  throw new CertificateError(`${where}/entry/public_key`, 'NOT_A_KEY', { value });
}

function bodyOf({ request, where, seq }: Entry, kind: string): Body {
  if (request?.kind === kind) return parsedBody(request.body, `${where}/entry`);
  throw new CertificateError(where, 'REQUEST_MISSING', { seq, kind });
}
