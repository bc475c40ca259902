/** Messages between the page and the verify worker. */
import type { Divergence } from '../../dist/engine/replay/recompute.js';
import type { RuleGenesis } from '../../dist/engine/rules/network-rule.js';
import type { Tie } from '../../dist/engine/rules/rule.js';

/** Result of a signature check; `unchecked` in a network without signatures. */
export type Verdict = 'holds' | 'failed' | 'unchecked';

interface ElectorToCheck {
  agent_id: string;
  /** Number of the agent, used to draw a committee; null if the page does not know it. */
  number: number | null;
  weight: number;
  personality: string;
}

/** A block with its signed requests. */
export interface BlockToCheck {
  hash: string;
  network_id: string;
  /** False if the network's agents sign nothing. */
  signed: boolean;
  rule: RuleGenesis;
  /** Public key. */
  producer: string;
  proposal: Readonly<Record<string, unknown>>;
  electorate: readonly ElectorToCheck[];
  votes: readonly { public_key: string; vote: Readonly<Record<string, unknown>> }[];
}

export interface Outcome {
  status: string;
  choice?: string | undefined;
  standings?: Readonly<Record<string, number>> | undefined;
  /** Tie that the order of the options decided. */
  tied: Tie | null;
}

export interface BlockChecked {
  /** True if the hash matches the proposal. */
  hash: boolean;
  proposal: Verdict;
  transactions: readonly Verdict[];
  votes: readonly Verdict[];
  /** Weight of the votes with valid signatures. */
  tally: { approve: number; reject: number };
  /** Outcome that these votes give at the deadline; null if this page does not run the rule. */
  outcome: Outcome | null;
  /**
   * Implementation that checked the signatures: `WebCrypto` or `reference`; null without
   * signatures.
   */
  by: string | null;
}

/** The first divergence between the stored data and the log. */
export interface Parting {
  entry: number;
  /** Engine time of the entry; null if unreadable. */
  at: number | null;
  kind: string;
  /** Id of the agent that sent the entry or that the event concerns; '' if there is none. */
  actor: string;
  /** Field that differs: a member of an event, a digest, or the entry itself. */
  field: string;
  expected: string;
  found: string;
}

/** Names of what may differ. */
export const partNames: Readonly<Record<Divergence['what'], string>> = {
  entry: 'entry',
  signature: 'signature',
  outcome: 'outcome',
  event: 'event',
  record: 'record',
  log_digest: 'log digest',
  digest: 'state digest',
  end: 'end of the log',
};

/** Progress of a recomputation. */
export interface Progress {
  entries: number;
  /** Total number of entries. */
  of: number;
  /** Number of valid signatures. */
  signatures: number;
}

/** Result of a recomputation. */
export interface Recomputed extends Progress {
  /** Digests after the last recomputed entry, and the server's digests. */
  digest: string;
  log_digest: string;
  served: { digest: string; log_digest: string };
  parting: Parting | null;
}

export type ToVerifier =
  | { do: 'block'; id: number; block: BlockToCheck }
  | { do: 'recompute'; id: number; origin: string; signatures: boolean }
  | { do: 'certify'; id: number; origin: string; block: string }
  | { do: 'stop'; id: number };

export type FromVerifier =
  | { is: 'block'; id: number; result: BlockChecked }
  | { is: 'progress'; id: number; progress: Progress }
  | { is: 'recomputed'; id: number; result: Recomputed }
  | { is: 'certificate'; id: number; result: string }
  | { is: 'failed'; id: number; why: string };
