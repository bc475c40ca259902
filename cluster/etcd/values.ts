/** etcd requests and responses as plain values, with keys as text. */
import type { DeleteRangeResponse, RangeResponse, ResponseOp, WireKeyValue } from './wire.js';

/** A key with its metadata. A revision counts all changes in the whole store. */
export interface KeyValue {
  /** Bytes that are not UTF-8 are replaced with U+FFFD. */
  key: string;
  value: Buffer;
  /**
   * Revision at which the key was created. A key that was deleted and created again gets a new
   * create revision.
   */
  createRevision: number;
  modRevision: number;
  /** Counts the changes since the key's creation, from 1, without gaps. */
  version: number;
  /** `0` if the key has no lease. */
  lease: string;
}

/** One key, or all keys with a prefix: `{ prefix: '' }` is every key. */
export type Keys = string | { prefix: string };

export interface RangeOptions {
  /** Reads the state at this revision. */
  revision?: number;
  /** Maximum number of keys. Default: all. More than 64 MiB must be read in pages. */
  limit?: number;
  /** Starts after this key, to read the next page of a prefix. */
  after?: string;
  keysOnly?: boolean;
  /** Reads the member's own state, which may be stale. */
  serializable?: boolean;
}

export interface Range {
  /** The store's revision at the time of the read. */
  revision: number;
  /** Ordered by key, as bytes. */
  values: KeyValue[];
  /** True if `limit` truncated the result. */
  more: boolean;
  /** Number of matching keys, before `limit` is applied. */
  count: number;
}

/** Condition on a key. An absent key's version and revisions are 0. */
export type Condition =
  | { key: string; is: '=' | '!=' | '<' | '>'; version: number }
  | { key: string; is: '=' | '!=' | '<' | '>'; createRevision: number }
  | { key: string; is: '=' | '!=' | '<' | '>'; modRevision: number }
  | { key: string; is: '=' | '!='; value: string | Uint8Array }
  | { key: string; is: '=' | '!='; lease: string };

export type Operation =
  | { put: string; value: string | Uint8Array; lease?: string }
  | { get: Keys; limit?: number; keysOnly?: boolean }
  | { delete: Keys };

export interface Transaction {
  /** Conditions, all of which must be true. Default: none. */
  if?: readonly Condition[];
  do: readonly Operation[];
  /** Operations executed if a condition is false. Default: none. */
  otherwise?: readonly Operation[];
}

/** Result of an operation: a range for a `get`, a count for a `delete`, null for a `put`. */
export type OperationResult = Range | { deleted: number } | null;

export interface TransactionResult {
  /** True if the conditions were met. */
  succeeded: boolean;
  revision: number;
  results: OperationResult[];
}

const bytes = (value: string | Uint8Array): Uint8Array =>
  typeof value === 'string' ? Buffer.from(value) : value;

/** Builds the half-open key range that etcd expects. */
export function toRange(keys: Keys, after?: string): { key: Uint8Array; range_end?: Uint8Array } {
  if (typeof keys === 'string') return { key: bytes(keys) };
  const least = after === undefined ? bytes(keys.prefix) : bytes(`${after}\0`);
  // A key may not be empty. A lone zero byte as the end means no end.
  const key = least.length === 0 ? Buffer.of(0) : least;
  return { key, range_end: beyond(keys.prefix) };
}

/** Returns the smallest key after all keys with the prefix. */
function beyond(prefix: string): Uint8Array {
  const end = Buffer.from(prefix);
  for (let last = end.length - 1; last >= 0; last -= 1) {
    if (end[last] === 0xff) continue;
    end[last]! += 1;
    return end.subarray(0, last + 1);
  }
  return Buffer.of(0);
}

const results = { '=': 'EQUAL', '!=': 'NOT_EQUAL', '<': 'LESS', '>': 'GREATER' } as const;

export function wireCondition(condition: Condition): object {
  const { key, is } = condition;
  const base = { key: bytes(key), result: results[is] };
  if ('version' in condition) return { ...base, target: 'VERSION', version: condition.version };
  if ('value' in condition) return { ...base, target: 'VALUE', value: bytes(condition.value) };
  if ('lease' in condition) return { ...base, target: 'LEASE', lease: condition.lease };
  if ('createRevision' in condition) {
    return { ...base, target: 'CREATE', create_revision: condition.createRevision };
  }
  return { ...base, target: 'MOD', mod_revision: condition.modRevision };
}

export function wireOperation(operation: Operation): object {
  if ('put' in operation) {
    const { put, value, lease = '0' } = operation;
    return { request_put: { key: bytes(put), value: bytes(value), lease } };
  }
  if ('delete' in operation) return { request_delete_range: toRange(operation.delete) };
  const { get, limit = 0, keysOnly = false } = operation;
  return { request_range: { ...toRange(get), limit, keys_only: keysOnly } };
}

export function toKeyValue(wire: WireKeyValue): KeyValue {
  return {
    key: wire.key.toString('utf8'),
    value: wire.value,
    createRevision: Number(wire.create_revision),
    modRevision: Number(wire.mod_revision),
    version: Number(wire.version),
    lease: wire.lease,
  };
}

/**
 * @param revision the whole response's revision, since etcd omits the revision inside a
 *   transaction.
 */
export function toRangeResult({ kvs, more, count }: RangeResponse, revision: number): Range {
  return { revision, values: kvs.map(toKeyValue), more, count: Number(count) };
}

const deletedIn = ({ deleted }: DeleteRangeResponse) => ({ deleted: Number(deleted) });

export function toOperationResult(answer: ResponseOp, revision: number): OperationResult {
  if (answer.response_range) return toRangeResult(answer.response_range, revision);
  return answer.response_delete_range ? deletedIn(answer.response_delete_range) : null;
}
