import type { MessageRow } from '../../engine/protocol/messages.js';
import type { OrderErrorCode } from './order.js';

/** Texts of {@link OrderError}; `code` is its category. */
export const orderMessages = {
  ETCD_UNAVAILABLE: { code: 'UNAVAILABLE', text: '{message}' },
  ETCD_FULL: { code: 'FULL', text: '{message}' },
  ETCD_TRIMMED: { code: 'TRIMMED', text: '{message}' },
  ETCD_FOREIGN: { code: 'FOREIGN', text: '{message}' },
  PARTS_DELETED: {
    code: 'UNAVAILABLE',
    text: 'parts of the batch were deleted before it was appended',
    fix: 'append it again',
  },
  KEY_OVERWRITTEN: {
    code: 'UNAVAILABLE',
    text: 'etcd key overwritten by another program: {key}',
    fix: 'keep other programs out of this prefix',
  },
  ORDER_DELETED: {
    code: 'FOREIGN',
    text: 'order deleted from etcd by another program: {key}',
    fix: 'restore etcd from a backup',
  },
  FOUNDING_UNREADABLE: {
    code: 'FOREIGN',
    text: 'unreadable founding record in etcd at {key}: {problem}',
    fix: 'start again while another node runs, which restores it, or restore etcd from a backup',
  },
  NODE_NAME_TAKEN: {
    code: 'FENCED',
    text: 'node name taken by another process, or forgotten: {node}',
    fix: 'give each node its own --node',
  },
  OTHER_PROTOCOL: {
    code: 'FOREIGN',
    text: 'batch of the order has protocol {protocol} (expected {expected})',
    fix: 'run the same version on all nodes',
  },
  TOO_FAR_BEHIND: {
    code: 'TRIMMED',
    text: 'this node is too far behind the order: {message}',
    fix: 'start all nodes with --peer-listen, or start this one on a copy of a stopped node',
  },
  REQUEST_UNVERIFIED: {
    code: 'FOREIGN',
    text: 'unverified request in the order: {request}, {reason}',
    fix: 'run the same version on all nodes',
  },
} as const satisfies Record<string, MessageRow & { code: OrderErrorCode }>;
