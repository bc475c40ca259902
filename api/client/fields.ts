/** What a caller hands to the writing methods, where it differs from what is sent. */
import type { ProposalFields, SignedTransaction } from '../../engine/protocol/compose.js';
import type { Status } from '../../engine/protocol/schema/primitives.js';

/** What may be said with a change of status. */
export interface StatusChange {
  reason?: string;
  /** ISO 8601; information only. */
  expected_duration?: string;
}

export type StatusFields = StatusChange & { status: Status };

/** A block to propose: everything in it may be left out. */
export interface Proposal extends Omit<ProposalFields, 'parent_hash' | 'transactions'> {
  /** Default: the head, asked for. */
  parent_hash?: string;
  /** Texts are signed by this agent. Default: none. */
  transactions?: readonly (string | SignedTransaction)[];
}

/** A meme to post: a caption of up to 280 characters, up to 10 tags, a file of up to 1 MiB. */
export interface MemePost {
  /** PNG, JPEG, WebP, GIF, or a text. */
  file: Uint8Array | string;
  caption?: string;
  tags?: readonly string[];
}
