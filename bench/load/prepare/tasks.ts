/** What is handed to the signing threads, and what comes back: plain values only. */

export interface WorkerSetting {
  /** Keys follow from it. */
  seed: string;
  /** In the data of every transaction. */
  run: string;
  /** Empty when the server does not show it. */
  networkId: string;
}

/** One input for all, or one for each ordinal. */
export interface SignTask {
  ordinals: readonly number[];
  inputs: readonly string[];
}

export interface TransactionTask {
  /** Number of the first; numbers are never used twice in a run. */
  first: number;
  count: number;
  /** The keys that sign in turn. */
  senders: { first: number; count: number };
}

export interface LinkTask {
  parent: string;
  blocks: readonly { producer: number; timestamp: string; transactions: Uint8Array }[];
}

export interface Linked {
  parent: string;
  /** As the protocol makes it out of the content; another server may have another way. */
  hash: string;
  body: Uint8Array;
}
