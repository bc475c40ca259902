/**
 * The state of a simulated etcd member, as etcd 3.4 defines it: keys with all their changes since
 * the last compaction, leases and alarms. A command changes the state at once and depends on
 * nothing else, so members that apply the same commands have the same state.
 */
import type { Answers, RangeResponse, ResponseOp, WireKeyValue } from '../etcd/wire.js';

/** A 64-bit integer, as the client sends it. */
type Long = string | number;

export interface RangeRequest {
  key: Uint8Array;
  range_end?: Uint8Array;
  revision?: Long;
  limit?: Long;
  keys_only?: boolean;
  serializable?: boolean;
}

interface PutRequest {
  key: Uint8Array;
  value: Uint8Array;
  lease?: Long;
}

interface DeleteRequest {
  key: Uint8Array;
  range_end?: Uint8Array;
}

interface Compare {
  key: Uint8Array;
  result: 'EQUAL' | 'NOT_EQUAL' | 'LESS' | 'GREATER';
  target: 'VERSION' | 'CREATE' | 'MOD' | 'VALUE' | 'LEASE';
  version?: Long;
  create_revision?: Long;
  mod_revision?: Long;
  value?: Uint8Array;
  lease?: Long;
}

/** Exactly one member is present. */
interface RequestOp {
  request_range?: RangeRequest;
  request_put?: PutRequest;
  request_delete_range?: DeleteRequest;
}

interface TxnRequest {
  compare: Compare[];
  success: RequestOp[];
  failure: RequestOp[];
}

interface AlarmRequest {
  action: 'GET' | 'ACTIVATE' | 'DEACTIVATE';
  memberID?: Long;
  alarm?: 'NONE' | 'NOSPACE' | 'CORRUPT';
}

/** Requests by method. `Lease/LeaseGrant` has its ID once a member has proposed it. */
interface Requests {
  'KV/Range': RangeRequest;
  'KV/Put': PutRequest;
  'KV/DeleteRange': DeleteRequest;
  'KV/Txn': TxnRequest;
  'KV/Compact': { revision: Long };
  'Lease/LeaseGrant': { TTL: Long; ID: string };
  'Lease/LeaseRevoke': { ID: string };
  'Maintenance/Alarm': AlarmRequest;
}

/** A command of the replicated log. */
export type Command = {
  [Name in keyof Requests]: { name: Name; request: Requests[Name] };
}[keyof Requests];

/** etcd's errors: gRPC status code and text. */
const refusals = {
  noKey: [3, 'etcdserver: key is not provided'],
  tooManyOperations: [3, 'etcdserver: too many operations in txn request'],
  duplicateKey: [3, 'etcdserver: duplicate key given in txn request'],
  tooLarge: [3, 'etcdserver: request is too large'],
  noLease: [5, 'etcdserver: requested lease not found'],
  leaseTooLong: [11, 'etcdserver: too large lease TTL'],
  leaseExists: [9, 'etcdserver: lease already exists'],
  noSpace: [8, 'etcdserver: mvcc: database space exceeded'],
  compacted: [11, 'etcdserver: mvcc: required revision has been compacted'],
  future: [11, 'etcdserver: mvcc: required revision is a future revision'],
  noLeader: [14, 'etcdserver: no leader'],
  leaderChanged: [14, 'etcdserver: leader changed'],
  timedOut: [14, 'etcdserver: request timed out'],
  dropped: [2, 'raft proposal dropped'],
} as const satisfies Record<string, readonly [code: number, details: string]>;

export type Refusal = keyof typeof refusals;

export const refusalOf = (refusal: Refusal): { code: number; details: string } => {
  const [code, details] = refusals[refusal];
  return { code, details };
};

/** A response without its header, or the refusal. */
export type Outcome = { answer: object; revision: number } | { refusal: Refusal };

/** A change of a key. `version` is 0 if the change deletes the key. */
export interface Change {
  key: Buffer;
  value: Buffer;
  createRevision: number;
  modRevision: number;
  version: number;
  lease: string;
}

/** Defaults of an etcd member. */
const MOST_OPERATIONS = 128;
const MOST_REQUEST_BYTES = 1.5 * 1_048_576;
const MOST_LEASE_SECONDS = 9_000_000_000;
/** 1.5 election timeouts, in whole seconds. */
const LEAST_LEASE_SECONDS = 2;
/** Approximate size of a change besides its key and value. */
const CHANGE_BYTES = 120;

/** Byte strings, which compare like the bytes. */
const textOf = (bytes: Uint8Array): string => viewOf(bytes).toString('latin1');
/** Requests are not copied: clients do not change what they have sent. */
const viewOf = ({ buffer, byteOffset, length }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, length);
const nothing = Buffer.alloc(0);

export class EtcdStore {
  /** A fresh etcd has revision 1. */
  revision = 1;
  /** Oldest revision that can be read. */
  compactRevision = -1;
  /** Time to live in seconds, and keys, by lease. */
  readonly leases = new Map<string, { seconds: number; keys: Set<string> }>();
  /** Members whose disk is full. */
  readonly alarms = new Set<string>();
  readonly #changes = new Map<string, Change[]>();
  /** Sorted keys of `#changes`. */
  readonly #keys: string[] = [];
  readonly #history = new Map<number, readonly Change[]>();
  #oldest = 2;
  /** Changes of the command that is being applied. */
  #pending: Change[] = [];

  /** Changes at a revision, in order. */
  changesAt(revision: number): readonly Change[] {
    return this.#history.get(revision) ?? [];
  }

  /** @param isAnswered false if no client waits, so that nothing needs to be read. */
  apply(command: Command, isAnswered = true): Outcome {
    const refusal = this.#findRefusal(command);
    if (refusal) return { refusal };
    const answer = this.#execute(command, isAnswered);
    if (this.#pending.length > 0) {
      this.revision += 1;
      this.#history.set(this.revision, this.#pending);
      this.#pending = [];
    }
    return { answer, revision: this.revision };
  }

  #findRefusal(command: Command): Refusal | null {
    if (this.alarms.size > 0 && writtenBytes(command) > 0) return 'noSpace';
    switch (command.name) {
      case 'KV/Range':
        return this.#findUnreadable(command.request);
      case 'KV/Put':
        return this.#findLost(command.request);
      case 'KV/Txn':
        return this.#findRefusedOperation(command.request);
      case 'KV/Compact': {
        const revision = Number(command.request.revision);
        if (revision <= this.compactRevision) return 'compacted';
        return revision > this.revision ? 'future' : null;
      }
      case 'Lease/LeaseGrant':
        if (Number(command.request.TTL) > MOST_LEASE_SECONDS) return 'leaseTooLong';
        return this.leases.has(command.request.ID) ? 'leaseExists' : null;
      case 'Lease/LeaseRevoke':
        return this.leases.has(String(command.request.ID)) ? null : 'noLease';
      default:
        return null;
    }
  }

  /** Only the branch that is executed can be refused, and then nothing is executed. */
  #findRefusedOperation({ compare, success, failure }: TxnRequest): Refusal | null {
    const operations = compare.every((one) => this.#holds(one)) ? success : failure;
    for (const { request_put } of operations) {
      const refusal = request_put && this.#findLost(request_put);
      if (refusal) return refusal;
    }
    for (const { request_range } of operations) {
      const refusal = request_range && this.#findUnreadable(request_range);
      if (refusal) return refusal;
    }
    return null;
  }

  #findUnreadable({ revision = 0 }: RangeRequest): Refusal | null {
    if (Number(revision) > this.revision) return 'future';
    return Number(revision) > 0 && Number(revision) < this.compactRevision ? 'compacted' : null;
  }

  #findLost({ lease = 0 }: PutRequest): Refusal | null {
    return String(lease) === '0' || this.leases.has(String(lease)) ? null : 'noLease';
  }

  #execute(command: Command, isAnswered: boolean): object {
    switch (command.name) {
      case 'KV/Range':
        return this.range(command.request);
      case 'KV/Put':
        return this.#put(command.request);
      case 'KV/DeleteRange':
        return this.#delete(command.request);
      case 'KV/Txn': {
        const { compare, success, failure } = command.request;
        const succeeded = compare.every((one) => this.#holds(one));
        const all = succeeded ? success : failure;
        const operations = isAnswered ? all : all.filter((one) => !one.request_range);
        return { succeeded, responses: operations.map((one) => this.#operate(one)) };
      }
      case 'KV/Compact':
        this.#compact(Number(command.request.revision));
        return {};
      case 'Lease/LeaseGrant': {
        const { ID, TTL } = command.request;
        const seconds = Math.max(LEAST_LEASE_SECONDS, Number(TTL));
        this.leases.set(ID, { seconds, keys: new Set() });
        return { ID, TTL: String(seconds) };
      }
      case 'Lease/LeaseRevoke':
        return this.#revoke(String(command.request.ID));
      case 'Maintenance/Alarm':
        return this.#alarm(command.request);
    }
  }

  range(request: RangeRequest): Omit<RangeResponse, 'header'> {
    const { revision = 0, limit = 0, keys_only = false } = request;
    const at = Number(revision) > 0 ? Number(revision) : Number.POSITIVE_INFINITY;
    const found = this.#within(request).flatMap((key) => this.#find(key, at) ?? []);
    const most = Number(limit) > 0 ? Number(limit) : found.length;
    const kvs = found.slice(0, most).map((one) => toWire(one, keys_only));
    return { kvs, more: found.length > most, count: String(found.length) };
  }

  #operate({ request_range, request_put, request_delete_range }: RequestOp): ResponseOp {
    const header = { member_id: '0', revision: '0' };
    if (request_range) return { response_range: { header, ...this.range(request_range) } };
    if (request_put) return { response_put: { header, ...this.#put(request_put) } };
    return { response_delete_range: { header, ...this.#delete(request_delete_range!) } };
  }

  /** A missing key has the value of no comparison, not even `!=`, and is otherwise all zeros. */
  #holds(compare: Compare): boolean {
    const found = this.#find(textOf(compare.key), Number.POSITIVE_INFINITY);
    if (!found && compare.target === 'VALUE') return false;
    const { createRevision = 0, modRevision = 0, version = 0, lease = '0' } = found ?? {};
    const sides: Record<Compare['target'], () => number> = {
      VERSION: () => version - Number(compare.version ?? 0),
      CREATE: () => createRevision - Number(compare.create_revision ?? 0),
      MOD: () => modRevision - Number(compare.mod_revision ?? 0),
      VALUE: () => Buffer.compare(found!.value, compare.value ?? nothing),
      LEASE: () => Number(BigInt(lease) - BigInt(compare.lease ?? 0)),
    };
    const order = sides[compare.target]();
    if (compare.result === 'EQUAL') return order === 0;
    if (compare.result === 'NOT_EQUAL') return order !== 0;
    return compare.result === 'LESS' ? order < 0 : order > 0;
  }

  #put({ key, value, lease = '0' }: PutRequest): object {
    const text = textOf(key);
    const last = this.#find(text, Number.POSITIVE_INFINITY);
    const modRevision = this.revision + 1;
    const { version, createRevision } = last ?? { version: 0, createRevision: modRevision };
    this.#detach(text, last);
    this.leases.get(String(lease))?.keys.add(text);
    this.#add(text, {
      key: viewOf(key),
      value: viewOf(value),
      createRevision,
      modRevision,
      version: version + 1,
      lease: String(lease),
    });
    return {};
  }

  #delete(request: DeleteRequest): { deleted: string } {
    let deleted = 0;
    for (const text of this.#within(request)) if (this.#bury(text)) deleted += 1;
    return { deleted: String(deleted) };
  }

  #bury(text: string): boolean {
    const last = this.#find(text, Number.POSITIVE_INFINITY);
    if (!last) return false;
    this.#detach(text, last);
    const modRevision = this.revision + 1;
    const gone = { value: nothing, createRevision: 0, version: 0, lease: '0' };
    this.#add(text, { ...gone, key: last.key, modRevision });
    return true;
  }

  #detach(text: string, last: Change | null): void {
    if (last) this.leases.get(last.lease)?.keys.delete(text);
  }

  #add(text: string, change: Change): void {
    const changes = this.#changes.get(text);
    if (changes) changes.push(change);
    else {
      this.#changes.set(text, [change]);
      this.#keys.splice(this.#placeOf(text), 0, text);
    }
    this.#pending.push(change);
  }

  #revoke(id: string): object {
    const { keys } = this.leases.get(id)!;
    this.leases.delete(id);
    for (const text of [...keys].sort()) this.#bury(text);
    return {};
  }

  #alarm({ action, memberID = '0', alarm = 'NONE' }: AlarmRequest): object {
    const member = String(memberID);
    const rows = (members: Iterable<string>) => ({
      alarms: [...members].map((one) => ({ memberID: one, alarm: 'NOSPACE' })),
    });
    if (action === 'GET') return rows(this.alarms);
    if (action === 'DEACTIVATE') {
      return rows(alarm === 'NOSPACE' && this.alarms.delete(member) ? [member] : []);
    }
    this.alarms.add(member);
    return rows([member]);
  }

  #compact(revision: number): void {
    this.compactRevision = revision;
    for (; this.#oldest < revision; this.#oldest += 1) this.#history.delete(this.#oldest);
    for (const [text, changes] of this.#changes) {
      const last = changes.findLastIndex(({ modRevision }) => modRevision <= revision);
      const from = last >= 0 && changes[last]!.version === 0 ? last + 1 : Math.max(0, last);
      changes.splice(0, from);
      if (changes.length > 0) continue;
      this.#changes.delete(text);
      this.#keys.splice(this.#placeOf(text), 1);
    }
  }

  /** Finds a key as it was at a revision. */
  #find(text: string, revision: number): Change | null {
    const found = this.#changes.get(text)?.findLast((one) => one.modRevision <= revision);
    return found && found.version > 0 ? found : null;
  }

  #within({ key, range_end = nothing }: DeleteRequest): string[] {
    const text = textOf(key);
    if (range_end.length === 0) return this.#changes.has(text) ? [text] : [];
    const isOpen = range_end.length === 1 && range_end[0] === 0;
    const end = isOpen ? this.#keys.length : this.#placeOf(textOf(range_end));
    return this.#keys.slice(this.#placeOf(text), end);
  }

  /** Index of the first key that is not below `text`. */
  #placeOf(text: string): number {
    let [low, high] = [0, this.#keys.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#keys[middle]! < text) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const bytesOf = ({ key, value }: { key: Uint8Array; value: Uint8Array }): number =>
  CHANGE_BYTES + key.length + value.length;

function toWire(change: Change, keysOnly: boolean): WireKeyValue {
  return {
    key: change.key,
    value: keysOnly ? nothing : change.value,
    create_revision: String(change.createRevision),
    mod_revision: String(change.modRevision),
    version: String(change.version),
    lease: change.lease,
  };
}

export const toWireEvent = (change: Change): Answers['Watch/Watch']['events'][number] => ({
  type: change.version === 0 ? 'DELETE' : 'PUT',
  kv: toWire(change, false),
});

/** True if a range request or a watch includes the key. */
export function includes({ key, range_end = nothing }: DeleteRequest, other: Buffer): boolean {
  if (range_end.length === 0) return other.equals(key);
  if (Buffer.compare(other, key) < 0) return false;
  const isOpen = range_end.length === 1 && range_end[0] === 0;
  return isOpen || Buffer.compare(other, range_end) < 0;
}

/** True if a request only reads, so that it is not a command of the log. */
export function isRead({ name, request }: Command): boolean {
  if (name === 'KV/Range') return true;
  if (name !== 'KV/Txn') return false;
  const { success, failure } = request;
  return [...success, ...failure].every(({ request_range }) => request_range);
}

/** Bytes that a command adds to the database, 0 for a command that frees space or only reads. */
export function writtenBytes({ name, request }: Command): number {
  if (name === 'KV/Put') return bytesOf(request);
  if (name === 'Lease/LeaseGrant') return CHANGE_BYTES;
  if (name !== 'KV/Txn') return 0;
  const sums = [request.success, request.failure].map((operations) =>
    operations.reduce((sum, { request_put }) => sum + (request_put ? bytesOf(request_put) : 0), 0),
  );
  return Math.max(...sums);
}

/** Checks a request as a member does before it proposes it. */
export function findRequestRefusal({ name, request }: Command): Refusal | null {
  if (name === 'KV/Range' || name === 'KV/Put' || name === 'KV/DeleteRange') {
    if (request.key.length === 0) return 'noKey';
  }
  if (name === 'KV/Txn') {
    const { compare, success, failure } = request;
    const most = Math.max(compare.length, success.length, failure.length);
    if (most > MOST_OPERATIONS) return 'tooManyOperations';
    const keyed = [...compare, ...[...success, ...failure].map(asksFor)];
    if (keyed.some(({ key }) => key.length === 0)) return 'noKey';
    if ([success, failure].some(putsTwice)) return 'duplicateKey';
  }
  return writtenBytes({ name, request } as Command) > MOST_REQUEST_BYTES ? 'tooLarge' : null;
}

const asksFor = (operation: RequestOp): { key: Uint8Array } =>
  operation.request_range ?? operation.request_put ?? operation.request_delete_range!;

/**
 * True if a key is put twice, or put and deleted. As in etcd, a deletion without an end overlaps
 * with nothing.
 */
function putsTwice(operations: readonly RequestOp[]): boolean {
  if (operations.length < 2) return false;
  const deletions = operations.flatMap((one) => one.request_delete_range ?? []);
  const put = new Set<string>();
  for (const { request_put } of operations) {
    if (!request_put) continue;
    const key = viewOf(request_put.key);
    const isDeleted = deletions.some((range) => {
      const { range_end } = range;
      return !(range_end?.length === 1 && range_end[0] === 0) && includes(range, key);
    });
    if (isDeleted || put.has(textOf(key))) return true;
    put.add(textOf(key));
  }
  return false;
}
