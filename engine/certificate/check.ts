/**
 * Checks a certificate, offline and without the log: every digest, hash, signature, weight and sum
 * of it is recomputed. Says what follows, and what has to be trusted for that. Safe in a browser.
 */
import { canonical } from '../protocol/canonical.js';
import { agentId } from '../protocol/signing.js';
import {
  type Entry,
  entriesOf,
  type Members,
  membersOf,
  recordIn,
  recordText,
  said,
} from './chain.js';
import { CERTIFICATE_BYTES, type Certificate, type CertificateClaim, Refused } from './format.js';
import { readCertificate } from './read.js';
import {
  assertProposalSigned,
  assertVoteSigned,
  type CertifiedGenesis,
  type CertifiedProposal,
  genesisOf,
  proposalOf,
} from './requests.js';
import {
  type Grounds,
  type SpanDigests,
  statement,
  type TrustedDigest,
  trustedSpans,
} from './statement.js';
import { type CountedVote, electorateOf, tallyOf, votesOf } from './tally.js';

/** What a check is told beside the certificate. */
export interface CheckCertificateOptions {
  /** Digests of the log that came from elsewhere, each of an entry that is in the certificate. */
  trusted?: readonly TrustedDigest[];
  /** Default: 16 MiB. */
  mostBytes?: number;
}

/** A vote that counted, its signature checked. */
export interface CertifiedVote {
  agent_id: string;
  public_key: string;
  decision: 'approve' | 'reject';
  weight: number;
  /** Number of its entry in the log. */
  entry: number;
}

/** A certificate that holds. */
export interface CertificateHolds {
  holds: true;
  claim: CertificateClaim;
  genesis: CertifiedGenesis;
  proposal: CertifiedProposal;
  /** In the order in which they were counted. */
  votes: CertifiedVote[];
  /** Each run of entries that it rests on, with the log's digests after it. */
  spans: SpanDigests[];
  /** What follows from it alone, in sentences. */
  proves: string[];
  /** What has to be trusted for the rest, in sentences. */
  trusts: string[];
}

/** A certificate that is refused: what is wrong, and where (a JSON Pointer, '' for all of it). */
export interface CertificateRefused {
  holds: false;
  where: string;
  problem: string;
}

/**
 * Whether a certificate holds. It never throws for what a certificate says: a bad one gives
 * `holds: false` with what is wrong.
 *
 * @param certificate its text or bytes, exactly as `certify` wrote it.
 *
 * @example
 * ```ts
 * import { checkCertificate } from 'folkmoot/client';
 *
 * const checked = checkCertificate('{"format":"folkmoot certificate 1"}\n');
 * console.log(checked.holds ? checked.proves : checked.problem); // has no member claim
 * ```
 */
export function checkCertificate(
  certificate: string | Uint8Array,
  options: CheckCertificateOptions = {},
): CertificateHolds | CertificateRefused {
  const { trusted = [], mostBytes = CERTIFICATE_BYTES } = options;
  try {
    return checked(readCertificate(certificate, mostBytes), trusted);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { holds: false, where: error.where, problem: error.message };
  }
}

function checked({ claim, spans }: Certificate, trusted: readonly TrustedDigest[]) {
  const entries = entriesOf(spans);
  const genesis = genesisOf(entries[0]!);
  if (genesis.network_id !== claim.network_id) {
    throw new Refused('/claim/network_id', `entry 0 begins the network ${genesis.network_id}`);
  }
  const hash = claim.block_hash;
  const { opened, closed, context } = blockIn(entries, hash);
  const proposal = proposalOf(opened, claim.network_id, hash);
  const number = context.electorate as number;
  const { written, electorate } = electorateOf(entries, number, genesis);
  const votes = votesOf(entries, { hash, ordinal: context.ordinal as number }, electorate);
  const deadline = opened.request!.at + genesis.voting_period_ms;
  for (const { entry } of votes) {
    const seq = entry.seq;
    if (seq > opened.seq && seq <= closed.seq && entry.request!.at <= deadline) continue;
    throw new Refused(
      entry.where,
      `the vote of entry ${seq} came before the block, or after its end`,
    );
  }
  const byVote = votes.at(-1)?.entry === closed;
  const tally = tallyOf(genesis, electorate, votes, !byVote);
  const status = tally.status ?? 'undecided';
  const { approve, reject, voted, vetoed } = tally;
  // All that the log says of the block, made anew: a vote that is left out would show here.
  const expected = {
    state: status,
    context: {
      ...{ block_hash: hash, parent_hash: proposal.parent_hash, height: claim.height },
      ...{ ordinal: context.ordinal, entry: opened.seq, producer: agentId(proposal.producer) },
      ...{ producer_key: proposal.producer, transactions: proposal.transactions },
      ...{ electorate: context.electorate, proposed_at: opened.request!.at, deadline },
      ...{
        closed_at: byVote ? closed.request!.at : context.closed_at,
        approve,
        reject,
        voted,
        vetoed,
      },
      ...{ total: electorate.total, electors: electorate.weights.size },
    },
  };
  assertSame(closed, recordIn(closed, recordText('blocks', hash))!.value, expected);
  if (!byVote && !(Number(context.closed_at) > deadline)) {
    throw new Refused(closed.where, `entry ${closed.seq} decides before the deadline, by no vote`);
  }
  const found = { approve, reject, total: electorate.total, status };
  for (const [name, value] of Object.entries(found)) {
    const claimed = claim[name as keyof typeof found];
    if (claimed !== value) throw new Refused(`/claim/${name}`, `is ${claimed}; it is ${value}`);
  }
  const entriesFor = { genesis: entries[0]!, electorate: written, opened, votes, closed };
  const grounds = { claim, parameters: genesis, proposal, ...entriesFor };
  assertUsed(entries, grounds);
  const known = trustedSpans(entries, trusted);
  // Last, since they cost the most.
  assertProposalSigned(opened, proposal, claim.network_id);
  for (const vote of votes) assertVoteSigned(vote.entry, vote);
  const sentences = statement(grounds, known);
  return {
    holds: true as const,
    claim,
    genesis,
    proposal,
    votes: votes.map(shown),
    spans: known,
    ...sentences,
  };
}

const shown = ({ agent_id, public_key, decision, weight, entry }: CountedVote): CertifiedVote => ({
  ...{ agent_id, public_key, decision, weight, entry: entry.seq },
});

/** The entries that opened and closed the block, and what the log says of it at the end. */
function blockIn(entries: readonly Entry[], hash: string) {
  const beginning = recordText('blocks', hash);
  const states = entries.flatMap((entry) => {
    const record = recordIn(entry, beginning);
    return record ? [{ entry, state: record.value.state, context: record.value.context }] : [];
  });
  const [first, last] = states;
  if (states.length !== 2 || first!.state !== 'voting' || last!.state === 'voting') {
    throw new Refused(
      '/spans',
      `it does not hold how block ${hash} was proposed, and how it ended`,
    );
  }
  const context = membersOf(last!.context, last!.entry.where);
  for (const name of ['ordinal', 'electorate', 'closed_at']) {
    if (Number.isSafeInteger(context[name])) continue;
    throw new Refused(last!.entry.where, `the record of the block has no usable ${name}`);
  }
  return { opened: first!.entry, closed: last!.entry, context };
}

function assertSame(
  { where, seq }: Entry,
  found: Members,
  expected: { state: string; context: Record<string, unknown> },
): void {
  if (canonical(found) === canonical(expected)) return;
  const { state } = found;
  const context = membersOf(found.context, where);
  const name = Object.keys(expected.context).find((one) => context[one] !== expected.context[one]);
  const [what, was, is] =
    state === expected.state && name !== undefined
      ? [name, context[name], expected.context[name]]
      : ['state', state, expected.state];
  const recomputed = `recomputed it is ${is}`;
  throw new Refused(where, `by entry ${seq} the block's ${what} is ${said(was)}; ${recomputed}`);
}

/** What stands in it for nothing could be changed without being noticed. */
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
    const rests = whole.has(entry) ? 'rests, and its request is not here' : 'does not rest';
    throw new Refused(entry.where, `is entry ${entry.seq}, on which the decision ${rests}`);
  }
  const spans = new Set([...whole].map(({ span }) => span));
  const idle = entries.find(({ span }) => !spans.has(span));
  if (idle) throw new Refused(`/spans/${idle.span}`, 'holds nothing on which the decision rests');
}
