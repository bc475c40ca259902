import type { MessageRow } from '../../engine/protocol/messages.js';
import type { PeerErrorCode } from './proof.js';

/** Texts of `PeerError`; `code` is its category. */
export const peerMessages = {
  NO_RESPONSE: { code: 'UNREACHABLE', text: 'no response: {reason}' },
  TRANSFER_TIMEOUT: { code: 'UNREACHABLE', text: 'snapshot transfer timed out' },
  PEER_REFUSED: { code: 'REFUSED', text: 'peer refused with status {status} {reason}' },
  SECRET_REJECTED: {
    code: 'REFUSED',
    text: 'peer refused with status {status} {reason}',
    fix: 'use the same --peer-secret on all nodes',
  },
  CLOCK_REJECTED: {
    code: 'REFUSED',
    text: 'peer refused with status {status} {reason}',
    fix: 'synchronize the clocks of both nodes',
  },
  ADDRESS_REJECTED: {
    code: 'REFUSED',
    text: 'peer refused with status {status} {reason}',
    fix: 'connect to the address that the peer announces (--peer-listen)',
  },
  TLS_MISMATCH: {
    code: 'REFUSED',
    text: 'this node {own} TLS between nodes, the peer {peer} it',
    fix: 'give --cluster-cert to all nodes, or to none',
  },
  SECRET_UNPROVEN: {
    code: 'UNPROVEN',
    text: 'peer did not prove that it knows the secret; snapshot rejected',
    fix: 'use the same --peer-secret on all nodes',
  },
  TRUNCATED: { code: 'CUT', text: 'transfer ended after {received} of {bytes} bytes' },
  TOO_LONG: { code: 'UNSOUND', text: 'snapshot exceeds its announced size of {bytes} bytes' },
  HASH_MISMATCH: { code: 'UNSOUND', text: 'snapshot does not match its announced SHA-256' },
  INVALID_DESCRIPTION: {
    code: 'UNSOUND',
    text: 'invalid snapshot description (expected protocol {protocol})',
    fix: 'run the same version on all nodes',
  },
  READER_DIED: {
    code: 'UNSOUND',
    text: 'cannot read the snapshot: the process that reads it ended with {status}',
  },
  SNAPSHOT_UNREADABLE: { code: 'UNSOUND', text: 'cannot read the snapshot: {reason}' },
  WRONG_END: { code: 'UNSOUND', text: 'snapshot ends at batch {version} (expected {expected})' },
  NOT_FROM_LOG: {
    code: 'UNSOUND',
    text: 'snapshot {what} of entry {seq} does not follow from its log',
  },
  NO_ORDER: { code: 'OTHER_NETWORK', text: 'snapshot of a network without a cluster' },
  OTHER_NETWORK: {
    code: 'OTHER_NETWORK',
    text: 'snapshot of another network: {found} (expected {expected})',
  },
  DIVERGED: {
    code: 'PARTED',
    text: 'snapshot has digest {found} at entry {seq}, {who} has {digest}',
    fix: 'find the damaged folder with `folkmoot replay`',
  },
  NOT_AHEAD: {
    code: 'NOT_AHEAD',
    text: 'snapshot ends at batch {version}, this node is at batch {own}',
  },
  DISK_FULL: { code: 'NO_ROOM', text: 'disk full' },
  NO_SPACE: {
    code: 'NO_ROOM',
    text: 'not enough disk space: {free} bytes free for a snapshot of {bytes} bytes',
  },
} as const satisfies Record<string, MessageRow & { code: PeerErrorCode }>;
