/** States the facts that a certificate proves and the assumptions that it needs. */
import { lowerAscii } from '../protocol/text.js';
import { describeTie, type Tie } from '../rules/rule.js';
import type { Entry } from './chain.js';
import { type CertificateClaim, CertificateError, type ChainDigests } from './format.js';
import type { CertifiedGenesis, CertifiedProposal } from './requests.js';
import { formatValue } from './results.js';
import type { CountedVote } from './tally.js';

/** Log digest after an entry, from a trusted source. */
export interface TrustedDigest {
  seq: number;
  digest: string;
}

/** Range of entries, with the log's digests after the last entry. */
export interface SpanDigests extends ChainDigests {
  first: number;
  last: number;
  /** Last entry in the range that a trusted digest covers, or null. */
  trusted_to: number | null;
}

/** @throws {CertificateError} if a trusted digest differs, or its entry is missing. */
export function trustedSpans(
  entries: readonly Entry[],
  trusted: readonly TrustedDigest[],
): SpanDigests[] {
  const spans: SpanDigests[] = [];
  for (const { span, seq, digest, log_digest } of entries) {
    const known = spans[span];
    spans[span] = { first: seq, trusted_to: null, ...known, last: seq, digest, log_digest };
  }
  for (const { seq, digest } of trusted) {
    const entry = entries.find((one) => one.seq === seq);
    if (!entry) {
      const runs = spans.map(({ first, last }) => (first === last ? first : `${first} to ${last}`));
      const missing = { seq, entries: `entries ${runs.join(', ')}` };
      throw new CertificateError('/spans', 'TRUSTED_ENTRY_MISSING', missing);
    }
    if (entry.digest !== lowerAscii(digest)) {
      const mismatch = { seq, found: entry.digest, trusted: digest };
      throw new CertificateError(entry.where, 'TRUSTED_DIGEST_MISMATCH', mismatch);
    }
    const span = spans[entry.span]!;
    span.trusted_to = Math.max(span.trusted_to ?? 0, seq);
  }
  return spans;
}

/** Entries on which a decision depends, by role. */
export interface Grounds {
  claim: CertificateClaim;
  parameters: CertifiedGenesis;
  proposal: CertifiedProposal;
  /** SHA-256 of the module that is the decision rule, if the check did not run it. */
  unproven: string | null;
  genesis: Entry;
  /** The entry that wrote the electorate. If the rule uses vetoes, the registrations too. */
  electorate: readonly Entry[];
  opened: Entry;
  votes: readonly CountedVote[];
  closed: Entry;
  tied: Tie | null;
  /** Scores of a rule that the check ran. */
  standings: Readonly<Record<string, number>> | undefined;
}

/** Returns proved facts and required assumptions. */
export function statement(
  grounds: Grounds,
  spans: readonly SpanDigests[],
): { proves: string[]; trusts: string[] } {
  return { proves: proven(grounds), trusts: trustedFor(grounds, spans) };
}

function proven(grounds: Grounds): string[] {
  const { claim, parameters, proposal, votes, unproven, tied, standings } = grounds;
  const { network_id, block_hash, status, approve, reject, total, choice } = claim;
  const chosen = choice === undefined ? '' : `, with the choice ${choice}`;
  const { policy, weights } = parameters;
  return [
    `Key ${proposal.producer} signed the proposal of block ${block_hash}, with ` +
      `${proposal.transactions} transactions, for the network ${network_id}.`,
    `${votes.length} agents signed one vote each on this block: weight ${approve} for, ` +
      `${reject} against, of ${total} in the electorate.`,
    ...(unproven
      ? []
      : [
          `With policy ${policy} and weights ${weights}, these votes make the block ` +
            `${status}${chosen}${tied ? `; ${describeTie(tied)}` : ''}.`,
        ]),
    ...(standings ? [`The standings of the rule are ${formatValue(standings)}.`] : []),
  ];
}

function trustedFor(grounds: Grounds, spans: readonly SpanDigests[]): string[] {
  const { claim, unproven, genesis, electorate, opened, votes, closed } = grounds;
  const isKnown = ({ span, seq }: Entry) => seq <= (spans[span]!.trusted_to ?? -1);
  const parts: [string, readonly Entry[]][] = [
    ['the network parameters', [genesis]],
    ['the electorate', electorate],
    ['the proposal', [opened]],
    ['the counted votes', votes.map(({ entry }) => entry)],
    ['the end of the block', [closed]],
  ];
  const byDigest = new Map<string, string[]>();
  for (const [what, entries] of parts) {
    const unknown = entries.filter((entry) => !isKnown(entry));
    if (unknown.length === 0) continue;
    const by = named(unknown, spans);
    byDigest.set(by, [...(byDigest.get(by) ?? []), what]);
  }
  const open = [...byDigest].map(
    ([by, what]) => `The network's log has ${by}. Needed for: ${what.join('; ')}.`,
  );
  const given = spans.flatMap(({ trusted_to: seq }) =>
    seq === null
      ? []
      : [
          `The trusted digest of entry ${seq} is from this network's log. An owner of the log ` +
            `can recompute it with folkmoot replay DIR --to ${seq}.`,
        ],
  );
  const rule =
    unproven === null
      ? []
      : [
          `The decision rule, a module with SHA-256 ${unproven}, gives this decision: ` +
            `${claim.status}. The check did not run the module.`,
        ];
  return [...open, ...rule, ...given];
}

/** Lists the digests that the reader must trust for these entries. */
function named(entries: readonly Entry[], spans: readonly SpanDigests[]): string {
  const needed = [...new Set(entries.map(({ span }) => spans[span]!))];
  const shown = needed
    .slice(0, 3)
    .map(({ last, digest }) => `digest ${digest} after entry ${last}`);
  const more = needed.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
}
