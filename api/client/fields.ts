/** What a caller hands to the writing methods, where it differs from what is sent. */
import type { ProposalFields, SignedTransaction } from '../../engine/protocol/compose.js';
import type { Status } from '../../engine/protocol/schema/primitives.js';

export interface StatusChange {
  reason?: string;
  /** ISO 8601; information only. */
  expected_duration?: string;
}

export type StatusFields = StatusChange & { status: Status };

export interface Proposal extends Omit<ProposalFields, 'parent_hash' | 'transactions'> {
  /** Default: the head, asked for. */
  parent_hash?: string;
  /** Texts are signed by this agent. Default: none. */
  transactions?: readonly (string | SignedTransaction)[];
}

export interface MemePost {
  /** PNG, JPEG, WebP, GIF, or a text. */
  file: Uint8Array | string;
  caption?: string;
  tags?: readonly string[];
}
