/** What is done in a process of its own: it may take minutes, and its end must end no node. */
import type { PeerErrorCode } from './error.js';

/** Copies the data of a folder, which another process goes on writing, into an empty one. */
export interface CopyTask {
  do: 'copy';
  folder: string;
  to: string;
}

/** What was copied, in a file of its own. */
export interface Copied {
  network: string;
  log: string;
  version: number;
  bytes: number;
  sha256: string;
}

/** An entry that somebody has told the digest of. */
export interface Told {
  who: string;
  seq: number;
  /** Hex. */
  digest: string;
}

/** Looks at every byte of a snapshot, and at whether all follows from its log. */
export interface CheckTask {
  do: 'check';
  folder: string;
  network: string;
  log: string;
  epoch: string;
  /** How many batches of the order it is said to have. */
  version: number;
  /** Where the log ends that it must continue. */
  own: Told;
  /** What other nodes said of themselves: of entries beyond its end it says nothing. */
  told: readonly Told[];
  /** Every signature as well. */
  signatures: boolean;
}

export type Task = CopyTask | CheckTask;

/** What the process says: how far it is, and in the end what came of it. */
export type Said =
  | { entries: number; of: number }
  | { done: Copied | null }
  | { failed: PeerErrorCode | null; message: string };
