/** What a run gives: its figures, and the digests that the same seed reproduces. */
import type { SimOptions } from './options.js';

/** Which build made a result. */
export interface Provenance {
  version: string;
  /** Null outside a checkout. */
  commit: string | null;
  node: string;
}

export interface SimResult extends Partial<Provenance> {
  seed: string;
  options: Omit<SimOptions, 'out' | 'seed'>;
  outcome: 'pass' | 'no_progress';
  digest: string;
  log_digest: string;
  blocks: {
    proposed: number;
    finalized: number;
    rejected: number;
    expired: number;
    orphaned: number;
  };
  /** Accepted ones. */
  votes: number;
  /** Genesis included. */
  entries: number;
  events: number;
  /** Signatures that the verifier found valid. */
  verified: number;
  commits: number;
  transactions: { finalized: number };
  /** Requests that were not done, by reason. */
  refused: Record<string, number>;
  virtual_ms: number;
  wall_ms: number;
  votes_per_s: number;
  peak_rss_bytes: number;
}
