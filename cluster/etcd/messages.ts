import type { MessageRow, MessageTable } from '../../engine/protocol/messages.js';
import type { EtcdFailure } from './wire.js';

/** Texts of `EtcdError`; `kind` is its category. */
export const etcdMessages = {
  UNAVAILABLE: { kind: 'unavailable', text: 'etcd at {endpoint}: {details}' },
  OUT_OF_SPACE: {
    kind: 'out_of_space',
    text: 'etcd at {endpoint}: {details}',
    fix: 'compact and defragment etcd, then disarm its alarm',
  },
  TOO_LARGE: { kind: 'too_large', text: 'etcd at {endpoint}: {details}' },
  COMPACTED: { kind: 'compacted', text: 'etcd at {endpoint}: {details}' },
  NO_LEASE: { kind: 'no_lease', text: 'etcd at {endpoint}: {details}' },
  REFUSED: { kind: 'refused', text: 'etcd at {endpoint}: {details}' },
  CLIENT_CLOSED: { kind: 'unavailable', text: 'etcd client is closed' },
  CONNECT_TIMEOUT: {
    kind: 'unavailable',
    text: 'etcd at {endpoint}: no connection within {connectMs} ms',
    fix: 'check the address and that the member runs',
  },
  CALL_ENDED: { kind: 'unavailable', text: 'etcd at {endpoint}: call ended without a response' },
  LEASE_EXPIRED: { kind: 'no_lease', text: 'etcd lease expired: {lease}' },
  WATCH_CANCELED: { kind: 'unavailable', text: 'etcd at {endpoint}: watch canceled: {reason}' },
  WATCH_SILENT: { kind: 'unavailable', text: 'etcd at {endpoint}: no response on a watch' },
  WATCH_COMPACTED: {
    kind: 'compacted',
    text: 'etcd at {endpoint}: revisions before {revision} were compacted',
  },
} as const satisfies Record<string, MessageRow & { kind: EtcdFailure }>;

/** Texts of `EtcdAddressError`. */
export const addressMessages = {
  INVALID_ADDRESS: {
    text: 'invalid etcd address: {address} (expected etcd://HOST:PORT, or a comma-separated list)',
  },
  INVALID_MEMBER: { text: 'invalid etcd member: {member} in {address} (expected HOST:PORT)' },
  TOO_MANY_MEMBERS: { text: 'too many etcd members: {count} in {address} (limit {limit})' },
  CERTIFICATE_WITHOUT_KEY: {
    text: 'client certificate and key belong together',
    fix: 'give both, or none',
  },
  FILE_UNREADABLE: { text: 'cannot read TLS file: {path}: {reason}' },
  NOT_PEM: { text: 'invalid TLS file: {path} (expected PEM, with a line -----BEGIN ...)' },
} as const satisfies MessageTable;
