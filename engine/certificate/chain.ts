/**
 * Recomputes both of the log's digest chains over a certificate's spans. Independent of
 * `protocol/log.ts`, which needs Node.
 */
import { sha256 } from '#sha256';
import {
  CertificateError,
  type CertificateSpan,
  type CertifiedEntry,
  type ChainDigests,
} from './format.js';
import { parseResults, type Results } from './results.js';

/** A link with its position in the log and its recomputed digests. */
export interface Entry extends ChainDigests {
  seq: number;
  /** Index of the span. `where` is the JSON Pointer of the link. */
  span: number;
  where: string;
  request: CertifiedEntry | undefined;
  results: Results;
}

const encoder = new TextEncoder();
const ZEROS = '00'.repeat(32);

/** Returns all entries, ascending. @throws {CertificateError} if a digest does not match. */
export function decodeEntries(spans: readonly CertificateSpan[]): Entry[] {
  const entries: Entry[] = [];
  let next = 0;
  for (const [index, span] of spans.entries()) {
    const where = `/spans/${index}`;
    if (index === 0 && (span.first !== 0 || !isStart(span.before))) {
      throw new CertificateError(where, 'LOG_START');
    }
    // Adjacent spans must be merged, so that each certificate has exactly one encoding.
    if (index > 0 && span.first <= next) {
      const { first } = span;
      throw new CertificateError(`${where}/first`, 'SPAN_ORDER', { first, previous: next });
    }
    for (const entry of spanEntries(span, index, where)) entries.push(entry);
    next = span.first + span.links.length;
  }
  return entries;
}

const isStart = ({ digest, log_digest }: ChainDigests) => digest === ZEROS && log_digest === ZEROS;

function spanEntries(span: CertificateSpan, index: number, inside: string): Entry[] {
  let { digest, log_digest } = span.before;
  if (span.links[0]!.entry === undefined) {
    // Only a request ties the span to entry numbers.
    throw new CertificateError(`${inside}/links/0`, 'SPAN_START');
  }
  const entries = span.links.map((link, place) => {
    const { entry: request, log_digest: claimed, results: texts } = link;
    const seq = span.first + place;
    const where = `${inside}/links/${place}`;
    if (request)
      log_digest = hexOf(sha256(joined([bytesOf(log_digest), framed(partsOf(seq, request))])));
    else log_digest = claimed;
    if (log_digest !== claimed) {
      const mismatch = { name: 'log_digest', seq, claimed, found: log_digest };
      throw new CertificateError(`${where}/log_digest`, 'DIGEST_MISMATCH', mismatch);
    }
    digest = hexOf(sha256(joined([bytesOf(digest), bytesOf(log_digest), framed(texts)])));
    const results = parseResults(texts, where);
    return { seq, span: index, where, request, results, digest, log_digest };
  });
  for (const [name, found] of Object.entries({ digest, log_digest })) {
    const claimed = span.after[name as keyof ChainDigests];
    if (found === claimed) continue;
    const mismatch = { name, seq: entries.at(-1)!.seq, claimed, found };
    throw new CertificateError(`${inside}/after/${name}`, 'DIGEST_MISMATCH', mismatch);
  }
  return entries;
}

const partsOf = (seq: number, entry: CertifiedEntry): string[] => {
  const { at, kind, public_key, target, timestamp, signature, body } = entry;
  return [`${seq}`, `${at}`, kind, public_key, target, timestamp, signature, body];
};

/** Prefixes each part with its length in bytes (8 bytes, big-endian). */
function framed(parts: readonly string[]): Uint8Array {
  return joined(
    parts.flatMap((part) => {
      const bytes = encoder.encode(part);
      const length = new Uint8Array(8);
      new DataView(length.buffer).setUint32(4, bytes.length);
      return [length, bytes];
    }),
  );
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const piece of pieces) {
    whole.set(piece, end);
    end += piece.length;
  }
  return whole;
}

const bytesOf = (hex: string): Uint8Array =>
  Uint8Array.from({ length: hex.length / 2 }, (_, index) =>
    Number.parseInt(hex.slice(2 * index, 2 * index + 2), 16),
  );

const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
