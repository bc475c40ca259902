/**
 * Checks a certificate offline and without the log. Recomputes every digest, hash, signature,
 * weight and sum. Reports the facts that the certificate proves and the assumptions that the reader
 * must trust. Runs in browsers.
 */
import { canonical } from '../protocol/canonical.js';
import { agentId, sha256Hex } from '../protocol/signing.js';
import type { NetworkRule } from '../rules/network-rule.js';
import { checkVerdict, type Tie } from '../rules/rule.js';
import { decodeEntries, type Entry } from './chain.js';
import {
  CERTIFICATE_BYTES,
  type Certificate,
  type CertificateClaim,
  CertificateError,
  readCertificate,
} from './format.js';
import {
  assertBounded,
  assertProposalSigned,
  assertRegistrationSigned,
  assertVoteSigned,
  type CertifiedGenesis,
  type CertifiedProposal,
  parseGenesisEntry,
  parseProposal,
  transactionHashes,
} from './requests.js';
import {
  assertConsistent,
  findBlockEvents,
  findRecord,
  formatValue,
  instant,
  type Members,
  parseObject,
} from './results.js';
import {
  type Grounds,
  type SpanDigests,
  statement,
  type TrustedDigest,
  trustedSpans,
} from './statement.js';
import {
  type CertifiedElectorate,
  type CertifiedTally,
  type CountedVote,
  certifiedRule,
  collectVotes,
  computeTally,
  countVotes,
  recomputeElectorate,
} from './tally.js';

/** Options of {@link checkCertificate}. */
export interface CheckCertificateOptions {
  /** Log digests from a trusted source. The certificate must contain their entries. */
  trusted?: readonly TrustedDigest[];
  /** Default: 16 MiB. */
  mostBytes?: number;
  /**
   * SHA-256, in hex, of the modules that the check may run. If the decision rule is a different
   * module, the check does not run it, and proves everything except the outcome.
   */
  rules?: readonly string[];
}

/** A counted vote with a valid signature. */
export interface CertifiedVote {
  agent_id: string;
  public_key: string;
  decision: 'approve' | 'reject';
  weight: number;
  /** Number of the log entry that contains the vote. */
  entry: number;
}

/** Result for a valid certificate. */
export interface CertificateHolds {
  holds: true;
  claim: CertificateClaim;
  genesis: CertifiedGenesis;
  proposal: CertifiedProposal;
  /** In counting order. */
  votes: CertifiedVote[];
  /** Tie that the order of the options decided. */
  tied?: Tie;
  /** Scores that the rule computes from the votes, such as the effective number of votes. */
  standings?: Readonly<Record<string, number>>;
  /** Entry ranges in the certificate, with the log's digests after each range. */
  spans: SpanDigests[];
  /** Facts proved by the certificate alone, as sentences. */
  proves: string[];
  /** Assumptions that the reader must trust, as sentences. */
  trusts: string[];
}

/**
 * Result for an invalid certificate. `where` is a JSON Pointer, or '' for the whole document.
 * `code` is a stable key for the problem, and `problem` describes it.
 */
export interface CertificateRefused {
  holds: false;
  where: string;
  code: string;
  problem: string;
}

/**
 * Checks a certificate. For an invalid certificate, returns `holds: false` with the problem and
 * does not throw.
 *
 * @param certificate text or bytes, unchanged from the result of `certify`.
 *
 * @example
 * ```ts
 * import { checkCertificate } from 'folkmoot/client';
 *
 * const checked = checkCertificate('{"format":"folkmoot certificate 1"}\n');
 * console.log(checked.holds ? checked.proves : checked.problem); // missing member: claim
 * ```
 */
export function checkCertificate(
  certificate: string | Uint8Array,
  options: CheckCertificateOptions = {},
): CertificateHolds | CertificateRefused {
  const { trusted = [], mostBytes = CERTIFICATE_BYTES, rules = [] } = options;
  try {
    return checked(readCertificate(certificate, mostBytes), trusted, rules);
  } catch (error) {
    if (!(error instanceof CertificateError)) throw error;
    const { where, code, message } = error;
    return { holds: false, where, code, problem: message };
  }
}

function checked(
  { claim, spans }: Certificate,
  trusted: readonly TrustedDigest[],
  modules: readonly string[],
) {
  assertBounded(spans);
  const entries = decodeEntries(spans);
  assertInTime(entries);
  const agents = assertConsistent(entries);
  const genesis = parseGenesisEntry(entries[0]!);
  if (genesis.network_id !== claim.network_id) {
    const mismatch = { claimed: claim.network_id, found: genesis.network_id };
    throw new CertificateError('/claim/network_id', 'CLAIM_MISMATCH', mismatch);
  }
  const hash = claim.block_hash;
  const block = blockIn(entries, hash);
  const { opened, closed, ordinal } = block;
  const source = sha256Hex(genesis.rule?.source ?? '');
  const rule = certifiedRule(genesis, modules.includes(source), entries[0]!);
  const proposal = parseProposal(opened, claim.network_id, hash);
  const from = recomputeElectorate(entries, opened, block.electorate, genesis, rule);
  const { electorate, written, registered } = from;
  const votes = collectVotes(entries, { hash, ordinal }, electorate, agents, rule);
  const deadline = opened.request!.at + genesis.voting_period_ms;
  const byVote = votes.at(-1)?.entry === closed;
  assertVotedInTime(votes, block, deadline, byVote);
  const options = optionsOf(block, proposal, rule);
  const tally = rule
    ? computeTally(rule, {
        block: { hash, height: claim.height, options },
        proposedAt: opened.request!.at,
        ...{ electorate, votes, atDeadline: !byVote },
      })
    : countVotes(votes, recordedOutcome(block, options));
  assertBlock(block, { claim, proposal, options, electorate, deadline, tally });
  assertHeight(entries, claim, tally.status === 'finalized' ? closed : null);
  const { approve, reject, choice } = tally;
  const status = tally.status ?? 'undecided';
  const found = { approve, reject, total: electorate.total, status, choice };
  for (const [name, value] of Object.entries(found)) {
    const claimed = claim[name as keyof typeof found];
    if (claimed !== value) {
      throw new CertificateError(`/claim/${name}`, 'CLAIM_MISMATCH', {
        claimed: formatValue(claimed),
        found: formatValue(value),
      });
    }
  }
  const electors = [written, ...registered.map(({ entry }) => entry)];
  const entriesFor = { genesis: entries[0]!, electorate: electors, opened, votes, closed };
  const unproven = rule ? null : source;
  const { tied } = tally;
  const standings = rule ? tally.standings : undefined;
  const grounds = {
    claim,
    parameters: genesis,
    proposal,
    unproven,
    tied,
    standings,
    ...entriesFor,
  };
  assertUsed(entries, grounds);
  const known = trustedSpans(entries, trusted);
  // Signatures are verified last, since they cost most.
  assertProposalSigned(opened, proposal, claim.network_id);
  for (const one of registered) assertRegistrationSigned(one.entry, one);
  for (const vote of votes) assertVoteSigned(vote.entry, vote);
  const sentences = statement(grounds, known);
  const counted = { ...(tied ? { tied } : {}), ...(standings ? { standings } : {}) };
  const holds = { holds: true as const, claim, genesis, proposal, ...counted };
  return { ...holds, votes: votes.map(shown), spans: known, ...sentences };
}

/** Asserts that engine time does not decrease and that only entry 0 is genesis. */
function assertInTime(entries: readonly Entry[]): void {
  let before = 0;
  for (const { request, seq, where } of entries) {
    if (!request) continue;
    if ((request.kind === 'genesis') !== (seq === 0) || request.at < before) {
      const { kind, at } = request;
      throw new CertificateError(where, 'ENTRY_ORDER', { seq, kind, at });
    }
    before = request.at;
  }
}

/**
 * Asserts that all votes come after the proposal and no later than the deadline. Either a vote
 * closes the block, or the tick one millisecond after the deadline does.
 */
function assertVotedInTime(
  votes: readonly CountedVote[],
  { opened, closed }: CertifiedBlock,
  deadline: number,
  byVote: boolean,
): void {
  for (const { entry } of votes) {
    const { seq, request, where } = entry;
    if (seq > opened.seq && seq <= closed.seq && request!.at <= deadline) continue;
    throw new CertificateError(where, 'VOTE_OUTSIDE_PERIOD', { seq });
  }
  const { kind, at } = closed.request ?? {};
  if (byVote || (kind === 'tick' && at === deadline + 1)) return;
  throw new CertificateError(closed.where, 'BLOCK_END', { seq: closed.seq });
}

const shown = ({ agent_id, public_key, decision, weight, entry }: CountedVote): CertifiedVote => ({
  ...{ agent_id, public_key, decision, weight, entry: entry.seq },
});

interface CertifiedBlock {
  opened: Entry;
  closed: Entry;
  /** Block records at the proposal and at the end. */
  first: Members;
  last: Members;
  /** Numbers from the block's record, compared with other records later. */
  ordinal: number;
  electorate: number;
}

/** Finds the entries that opened and closed the block, with its records. */
function blockIn(entries: readonly Entry[], hash: string): CertifiedBlock {
  const found = entries.flatMap((entry) => {
    const record = findRecord(entry, 'blocks', hash);
    return record ? [{ entry, value: parseObject(record.value, entry.where) }] : [];
  });
  const [first, last] = found;
  // A block is recorded twice, as `voting` and in its final state.
  if (found.length !== 2 || first!.value.state !== 'voting') {
    throw new CertificateError('/spans', 'BLOCK_RECORDS', { hash });
  }
  const { entry: closed, value } = last!;
  const { ordinal, electorate } = parseObject(value.context, closed.where);
  if (typeof ordinal !== 'number' || typeof electorate !== 'number') {
    throw new CertificateError(closed.where, 'BLOCK_CONTEXT');
  }
  const opened = first!.entry;
  const number = findRecord(opened, 'block_numbers', ordinal)?.value;
  if (canonical(number ?? null) !== canonical({ block_hash: hash })) {
    throw new CertificateError(opened.where, 'BLOCK_NUMBER', { seq: opened.seq, ordinal });
  }
  assertAlone(entries, 'block_proposal', hash, opened);
  assertAlone(entries, 'block_status', hash, closed);
  return { opened, closed, first: first!.value, last: value, ordinal, electorate };
}

/** Asserts that exactly one event of this type names the block, and that it is in this entry. */
function assertAlone(entries: readonly Entry[], type: string, hash: string, entry: Entry): void {
  const found = findBlockEvents(entries, type, hash);
  if (found.length === 1 && found[0]!.entry === entry) return;
  throw new CertificateError(entry.where, 'BLOCK_EVENT_COUNT', { type, seq: entry.seq });
}

interface Recomputed {
  claim: CertificateClaim;
  proposal: CertifiedProposal;
  options: readonly string[];
  electorate: CertifiedElectorate;
  deadline: number;
  tally: CertifiedTally;
}

/** Returns the names of the options that the rule chooses among. */
function optionsOf(
  { first, opened }: CertifiedBlock,
  { options }: CertifiedProposal,
  rule: NetworkRule | null,
): readonly string[] {
  const isUsed = rule ? rule.usesOptions : 'options' in parseObject(first.context, opened.where);
  return isUsed ? options : [];
}

/** Returns the outcome in a block's record, for a rule that the check does not run. */
function recordedOutcome({ last, closed }: CertifiedBlock, options: readonly string[]) {
  const { choice, standings, vetoed } = parseObject(last.context, closed.where);
  const verdict = checkVerdict({ status: last.state, choice, standings }, true, options);
  return { ...verdict, vetoed: vetoed === true };
}

const definedOf = (members: Members): Members =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));

/** Recomputes the block's records and events. Detects an omitted vote. */
function assertBlock(block: CertifiedBlock, recomputed: Recomputed): void {
  const { opened, closed, first, last, ordinal } = block;
  const { claim, proposal, options, electorate, deadline, tally } = recomputed;
  const { block_hash, height } = claim;
  const { parent_hash, producer: producer_key } = proposal;
  const state = tally.status ?? 'undecided';
  const producer = agentId(producer_key);
  const transactions = transactionHashes(proposal);
  /** Members that records and events share. */
  const about = { block_hash, parent_hash, height };
  const fixed = {
    ...about,
    ...{ ordinal, entry: opened.seq, producer, producer_key },
    ...{ transactions: transactions.length, electorate: block.electorate },
    ...{ proposed_at: opened.request!.at, deadline, total: electorate.total },
    electors: electorate.weights.size,
    ...(options.length > 0 ? { options } : {}),
  };
  const { approve, reject, voted, vetoed, choice, standings, fault } = tally;
  const outcome = definedOf({ choice, standings, fault });
  const begin = { closed_at: 0, approve: 0, reject: 0, voted: 0, vetoed: false };
  const end = { closed_at: closed.request!.at, approve, reject, voted, vetoed, ...outcome };
  assertRecord(closed, last, state, { ...fixed, ...end });
  assertRecord(opened, first, 'voting', { ...fixed, ...begin });
  const [{ data: status }] = findBlockEvents([closed], 'block_status', block_hash) as [EventFound];
  const told = { ...about, status: state, approve, reject, electorate: electorate.total };
  const counts = { transactions: transactions.length, timestamp: instant(closed.request!.at) };
  assertTold(closed, status, { ...told, ...counts, ...outcome });
  const [{ data }] = findBlockEvents([opened], 'block_proposal', block_hash) as [EventFound];
  const by = { id: producer, public_key: producer_key };
  const { meme_content: _, transactions: listed, ...rest } = data;
  const hashes = Array.isArray(listed)
    ? listed.map((one) => parseObject(one, opened.where).hash)
    : 0;
  const timestamp = instant(opened.request!.at);
  const offered = options.length > 0 ? { options } : {};
  const expected = { ...about, producer: by, timestamp, transactions, ...offered };
  assertTold(opened, { ...rest, transactions: hashes }, expected);
}

/** Asserts that only the closing entry writes a finalized block's height. */
function assertHeight(
  entries: readonly Entry[],
  { block_hash, height }: CertificateClaim,
  final: Entry | null,
): void {
  const found = entries.filter((entry) => {
    const value = findRecord(entry, 'heights')?.value;
    return value !== undefined && parseObject(value, entry.where).block_hash === block_hash;
  });
  const record = final ? findRecord(final, 'heights', height) : undefined;
  const isSame = final
    ? found.length === 1 && found[0] === final && record !== undefined
    : found.length === 0;
  if (isSame) return;
  const where = (final ?? found[0])!.where;
  throw new CertificateError(where, 'BLOCK_HEIGHT', { height });
}

type EventFound = ReturnType<typeof findBlockEvents<Entry>>[number];

function assertTold({ where, seq }: Entry, found: Members, expected: Members): void {
  if (canonical(found) === canonical(expected)) return;
  throw new CertificateError(where, 'BLOCK_EVENT', { seq, value: formatValue(found) });
}

function assertRecord(
  { where, seq }: Entry,
  found: Members,
  state: string,
  expected: Readonly<Record<string, unknown>>,
): void {
  if (canonical(found) === canonical({ state, context: expected })) return;
  const context = parseObject(found.context, where);
  const name = Object.keys(expected).find((one) => context[one] !== expected[one]);
  const [what, was, is] =
    state === found.state && name !== undefined
      ? [name, context[name], expected[name]]
      : ['state', found.state, state];
  const difference = { name: what, found: formatValue(was), expected: formatValue(is) };
  throw new CertificateError(where, 'BLOCK_RECORD', { seq, ...difference });
}

/** Asserts that the decision needs every request and span, because unused parts could be forged. */
function assertUsed(
  entries: readonly Entry[],
  { genesis, electorate, opened, votes, closed }: Grounds,
): void {
  const whole = new Set([
    genesis,
    ...electorate,
    opened,
    ...votes.map(({ entry }) => entry),
    closed,
  ]);
  for (const entry of entries) {
    if ((entry.request !== undefined) === whole.has(entry)) continue;
    const { where, seq } = entry;
    if (!whole.has(entry)) throw new CertificateError(where, 'REQUEST_UNUSED', { seq });
    throw new CertificateError(where, 'REQUEST_MISSING', { seq, kind: 'a request' });
  }
  const spans = new Set([...whole].map(({ span }) => span));
  const idle = entries.find(({ span }) => !spans.has(span));
  if (idle) throw new CertificateError(`/spans/${idle.span}`, 'SPAN_UNUSED');
}
