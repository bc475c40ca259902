/** What the page and the worker that recomputes tell each other. */

/** Of a signature: `unchecked` where nobody signs in this network. */
export type Verdict = 'holds' | 'failed' | 'unchecked';

/** A block with all that was signed for it. */
export interface BlockToCheck {
  hash: string;
  network_id: string;
  /** False in a network whose agents sign nothing. */
  signed: boolean;
  rule: { policy: string; participation_bps: number };
  /** Public key. */
  producer: string;
  proposal: Readonly<Record<string, unknown>>;
  electorate: readonly { agent_id: string; weight: number; personality: string }[];
  votes: readonly { public_key: string; vote: Readonly<Record<string, unknown>> }[];
}

export interface BlockChecked {
  /** Whether the block's hash is that of its proposal. */
  hash: boolean;
  proposal: Verdict;
  transactions: readonly Verdict[];
  votes: readonly Verdict[];
  /** Weight of the votes whose signatures hold. */
  tally: { approve: number; reject: number };
  /** What these votes make of it at its deadline. */
  outcome: string;
  /** What checked: `WebCrypto`, or `reference`. */
  by: string | null;
}

/** The first place where what the server stored does not follow from its log. */
export interface Parting {
  entry: number;
  /** Engine time of that entry, where it can be read. */
  at: number | null;
  kind: string;
  /** Id of the agent whose entry it is, or that an event is about; '' where there is none. */
  actor: string;
  /** What differs: a member of an event, a digest, the entry itself. */
  field: string;
  expected: string;
  found: string;
}

/** How far a recomputation has come. */
export interface Progress {
  entries: number;
  /** Of so many. */
  of: number;
  /** Signatures that were checked, and hold. */
  signatures: number;
}

/** How a recomputation ended. */
export interface Recomputed extends Progress {
  /** After the last entry that was recomputed, and as the server has it. */
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
