/** A client of etcd, 3.4 and later: what the rest of Folkmoot asks one for. */
export { EtcdAddressError, type EtcdTls, endpointsOf, readTls } from './address.js';
export { EtcdClient, type EtcdOptions } from './client.js';
export { EtcdError, type EtcdFailure } from './error.js';
export { HeldLease } from './held-lease.js';
export type { MemberStatus } from './status.js';
export type {
  Condition,
  Keys,
  KeyValue,
  Operation,
  OperationResult,
  Range,
  RangeOptions,
  Transaction,
  TransactionResult,
} from './values.js';
export type { WatchBatch, WatchEvent, WatchOptions } from './watch.js';
