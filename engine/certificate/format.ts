/** What a certificate is: its members, and how it is written as text. Safe in a browser. */
import { canonical } from '../protocol/canonical.js';

/** The first version of the format. */
export const CERTIFICATE_FORMAT = 'folkmoot certificate 1';

/** Larger ones are neither made nor read unless the caller says so. */
export const CERTIFICATE_BYTES = 16 * 1024 * 1024;

/** Both digest chains of the log after an entry: hex. */
export interface ChainDigests {
  digest: string;
  log_digest: string;
}

/** What a certificate says; checking recomputes every member of it. */
export interface CertificateClaim {
  network_id: string;
  block_hash: string;
  height: number;
  status: 'finalized' | 'rejected';
  /** Weights: for, against, and of the whole electorate. */
  approve: number;
  reject: number;
  total: number;
}

/** A request as it stands in the log, but for its number. */
export interface CertifiedEntry {
  at: number;
  kind: string;
  public_key: string;
  target: string;
  timestamp: string;
  signature: string;
  body: string;
}

/** One entry of the log, as far as the digest chain needs it. */
export interface CertificateLink {
  /** Of whatever the decision rests on, and of no other. */
  entry?: CertifiedEntry;
  log_digest: string;
  /** The texts that the digest covers: events, then changed records. */
  results: string[];
}

/** Entries of the log without a gap, with the digests before and after them. */
export interface CertificateSpan {
  first: number;
  before: ChainDigests;
  links: CertificateLink[];
  after: ChainDigests;
}

/** The JSON of a certificate. */
export interface Certificate {
  format: typeof CERTIFICATE_FORMAT;
  claim: CertificateClaim;
  spans: CertificateSpan[];
}

/** The one text of a certificate: canonical JSON and a line feed. */
export function certificateText(certificate: Certificate): string {
  return `${canonical(certificate)}\n`;
}

/** Why a certificate is refused; a value to callers, thrown on the way to them. */
export class Refused extends Error {
  override name = 'Refused';
  constructor(
    /** A JSON Pointer into the certificate; '' for the whole. */
    readonly where: string,
    message: string,
  ) {
    super(message);
  }
}
