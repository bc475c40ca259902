/** Forges certificates by changing a certificate and recomputing its digests. */
import { createHash } from 'node:crypto';
import { canonical } from 'folkmoot';

export interface Forged {
  format: string;
  claim: Record<string, unknown>;
  spans: {
    first: number;
    before: { digest: string; log_digest: string };
    links: {
      entry?: Record<string, unknown> & { body: string };
      log_digest: string;
      results: string[];
    }[];
    after: { digest: string; log_digest: string };
  }[];
}

export type Link = Forged['spans'][number]['links'][number];

const parts = ['at', 'kind', 'public_key', 'target', 'timestamp', 'signature', 'body'];

function hashed(before: string[], texts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const hex of before) hash.update(hex, 'hex');
  for (const text of texts) {
    const length = Buffer.alloc(8);
    length.writeBigUInt64BE(BigInt(Buffer.byteLength(text)));
    hash.update(length).update(text);
  }
  return hash.digest('hex');
}

/** Changes a certificate and recomputes both digest chains. */
export function forged(text: string, change: (certificate: Forged) => void): string {
  const certificate = JSON.parse(text) as Forged;
  change(certificate);
  for (const { first, before, links, after } of certificate.spans) {
    let { digest, log_digest } = before;
    for (const [index, link] of links.entries()) {
      const { entry, results } = link;
      if (entry) {
        const texts = [`${first + index}`, ...parts.map((name) => String(entry[name]))];
        log_digest = hashed([log_digest], texts);
      } else log_digest = link.log_digest;
      link.log_digest = log_digest;
      digest = hashed([digest, log_digest], results);
    }
    Object.assign(after, { digest, log_digest });
  }
  return `${canonical(certificate)}\n`;
}

export const linksOf = ({ spans }: Forged): Link[] => spans.flatMap(({ links }) => links);

/** Returns the links that contain counted votes. */
export const votesIn = (certificate: Forged): Link[] =>
  linksOf(certificate).filter(({ entry }) => entry?.kind === 'vote');
