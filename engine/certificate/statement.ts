/** What a certificate proves and what has to be trusted for it, in plain sentences. */
import { lowerAscii } from '../protocol/unicode.js';
import type { Entry } from './chain.js';
import { type CertificateClaim, CertificateError, type ChainDigests } from './format.js';
import type { CertifiedGenesis, CertifiedProposal } from './requests.js';
import type { CountedVote } from './tally.js';

/** The digest of a log after an entry, from a source that one trusts: hex. */
export interface TrustedDigest {
  seq: number;
  digest: string;
}

/** A run of entries, and the log's digests after the last of them. */
export interface SpanDigests extends ChainDigests {
  first: number;
  last: number;
  /** The last of these entries that a trusted digest covers; null without any. */
  trusted_to: number | null;
}

/** @throws {CertificateError} when a trusted digest is another, or of an entry that is not here. */
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
      throw new CertificateError(
        '/spans',
        `entry ${seq} is not in it: it has entries ${runs.join(', ')}`,
      );
    }
    if (entry.digest !== lowerAscii(digest)) {
      const other = `the trusted one is ${digest}: it is of another log`;
      throw new CertificateError(
        entry.where,
        `the digest after entry ${seq} is ${entry.digest}, ${other}`,
      );
    }
    const span = spans[entry.span]!;
    span.trusted_to = Math.max(span.trusted_to ?? 0, seq);
  }
  return spans;
}

/** What a decision rests on: the entries by what they are for. */
export interface Grounds {
  claim: CertificateClaim;
  parameters: CertifiedGenesis;
  proposal: CertifiedProposal;
  genesis: Entry;
  /** Wrote the electorate; with the policy `veto`, also where electors registered. */
  electorate: readonly Entry[];
  opened: Entry;
  votes: readonly CountedVote[];
  closed: Entry;
}

/** What follows from the certificate alone, and what it takes for granted. */
export function statement(
  grounds: Grounds,
  spans: readonly SpanDigests[],
): { proves: string[]; trusts: string[] } {
  return { proves: proven(grounds), trusts: trustedFor(grounds, spans) };
}

function proven({ claim, parameters, proposal, votes }: Grounds): string[] {
  const { network_id, block_hash, status, approve, reject, total } = claim;
  const { policy, weights } = parameters;
  return [
    `Key ${proposal.producer} signed the proposal of block ${block_hash}, with ` +
      `${proposal.transactions} transactions, for the network ${network_id}.`,
    `${votes.length} agents signed a vote on it, each once: weight ${approve} for and ${reject} ` +
      `against, of ${total} in the electorate.`,
    `By policy ${policy} and weights ${weights}, these votes have the block ${status}.`,
  ];
}

function trustedFor(grounds: Grounds, spans: readonly SpanDigests[]): string[] {
  const { genesis, electorate, opened, votes, closed } = grounds;
  const isKnown = ({ span, seq }: Entry) => seq <= (spans[span]!.trusted_to ?? -1);
  const parts: [string, readonly Entry[]][] = [
    ["the network's parameters", [genesis]],
    ['the electorate', electorate],
    ['that the block was proposed', [opened]],
    ['that these votes counted', votes.map(({ entry }) => entry)],
    ['that the block ended so', [closed]],
  ];
  const byDigest = new Map<string, string[]>();
  for (const [what, entries] of parts) {
    const unknown = entries.filter((entry) => !isKnown(entry));
    if (unknown.length === 0) continue;
    const by = named(unknown, spans);
    byDigest.set(by, [...(byDigest.get(by) ?? []), what]);
  }
  const open = [...byDigest].map(
    ([by, what]) => `That ${by} is of the network's log. On it rest: ${what.join('; ')}.`,
  );
  const given = spans.flatMap(({ trusted_to: seq }) =>
    seq === null
      ? []
      : [
          `That the digest you gave for entry ${seq} is that of this network's log; whoever has ` +
            `the log recomputes it: folkmoot replay DIR --to ${seq}.`,
        ],
  );
  return [...open, ...given];
}

/** The digests that would have to be known for these entries. */
function named(entries: readonly Entry[], spans: readonly SpanDigests[]): string {
  const needed = [...new Set(entries.map(({ span }) => spans[span]!))];
  const shown = needed
    .slice(0, 3)
    .map(({ last, digest }) => `digest ${digest} after entry ${last}`);
  const more = needed.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
}
