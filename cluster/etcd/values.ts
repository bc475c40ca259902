/** What is asked of etcd and what it answers, as our programs have it: keys are text. */
import type { DeleteRangeResponse, RangeResponse, ResponseOp, WireKeyValue } from './wire.js';

/** One key and what etcd knows of it; revisions count all changes of the whole etcd. */
export interface KeyValue {
  /** Of a key that is no UTF-8, with U+FFFD for what is none. */
  key: string;
  value: Buffer;
  /** When it was last made: who knows this revision knows its own key from a later one. */
  createRevision: number;
  modRevision: number;
  /** Counts from 1 since it was made, without gaps. */
  version: number;
  /** `0` without one. */
  lease: string;
}

/** One key, or all that begin with something: `{ prefix: '' }` is every key. */
export type Keys = string | { prefix: string };

export interface RangeOptions {
  /** As it was then. */
  revision?: number;
  /** Left out, all; more than 64 MiB must be asked for in parts. */
  limit?: number;
  /** Begins behind this key: the next part of a range by prefix. */
  after?: string;
  keysOnly?: boolean;
  /** What the member has that is asked, which may be old. */
  serializable?: boolean;
}

export interface Range {
  /** Of the whole etcd, when this was read. */
  revision: number;
  /** In the order of their keys, as bytes. */
  values: KeyValue[];
  /** Whether `limit` left some out. */
  more: boolean;
  /** How many there are, with those left out. */
  count: number;
}

/** What must hold of a key; one that is not there has version and revisions 0. */
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
  /** All must hold; none always does. */
  if?: readonly Condition[];
  do: readonly Operation[];
  /** Where one does not hold; default: nothing. */
  otherwise?: readonly Operation[];
}

/** Of each operation in turn: what a `get` found, how many a `delete` took away, null of a put. */
export type OperationResult = Range | { deleted: number } | null;

export interface TransactionResult {
  /** Whether the conditions held. */
  succeeded: boolean;
  revision: number;
  results: OperationResult[];
}

const bytes = (value: string | Uint8Array): Uint8Array =>
  typeof value === 'string' ? Buffer.from(value) : value;

/** Etcd's way to say which keys: from one to before another. */
export function toRange(keys: Keys, after?: string): { key: Uint8Array; range_end?: Uint8Array } {
  if (typeof keys === 'string') return { key: bytes(keys) };
  const least = after === undefined ? bytes(keys.prefix) : bytes(`${after}\0`);
  // A key may not be empty; and a single zero as the end stands for none.
  const key = least.length === 0 ? Buffer.of(0) : least;
  return { key, range_end: beyond(keys.prefix) };
}

/** The least that does not begin with it. */
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

/** @param revision of the answer as a whole: inside of a transaction etcd leaves some out. */
export function toRangeResult({ kvs, more, count }: RangeResponse, revision: number): Range {
  return { revision, values: kvs.map(toKeyValue), more, count: Number(count) };
}

const deletedIn = ({ deleted }: DeleteRangeResponse) => ({ deleted: Number(deleted) });

export function toOperationResult(answer: ResponseOp, revision: number): OperationResult {
  if (answer.response_range) return toRangeResult(answer.response_range, revision);
  return answer.response_delete_range ? deletedIn(answer.response_delete_range) : null;
}
