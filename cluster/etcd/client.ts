/**
 * Client for an etcd cluster. A call goes to the member that answered last. If that member fails,
 * the client retries the call on the next member, but only if the call was not executed or can be
 * repeated. A write that may have been executed is never sent twice. Instead, the caller gets an
 * error with the outcome `unknown`, and then reads the state or repeats an idempotent write.
 */

import { type HostClock, hostClock } from '../../engine/store/host-clock.js';
import {
  type CallLimits,
  type EtcdMember,
  fetchStatus,
  Member,
  type MemberStatus,
  type MemberStream,
} from './member.js';
import {
  type Keys,
  type KeyValue,
  type Range,
  type RangeOptions,
  type Transaction,
  type TransactionResult,
  toKeyValue,
  toOperationResult,
  toRange,
  toRangeResult,
  wireCondition,
  wireOperation,
} from './values.js';
import {
  type Answers,
  EtcdError,
  type EtcdTls,
  type MethodName,
  type WatchResponse,
} from './wire.js';

export interface EtcdOptions {
  /** From `parseEndpoints`. */
  endpoints: readonly string[];
  tls?: EtcdTls;
  /** Connection timeout per member, in milliseconds. Default: 2,000. */
  connectMs?: number;
  /**
   * Response timeout per member, in milliseconds. Default: 5,000, since an election takes 1 to 3 s.
   */
  callMs?: number;
  /** Default: the clock of this machine. */
  clock?: HostClock;
  /** Creates the connection to a member. Default: over gRPC. */
  connect?: (endpoint: string) => EtcdMember;
}

export class EtcdClient {
  /** @internal */
  readonly clock: HostClock;
  readonly #members: readonly EtcdMember[];
  readonly #limits: CallLimits;
  readonly #picker: MemberPicker;

  /** Creates a client, which connects on the first call. */
  constructor({ endpoints, tls, connectMs = 2_000, callMs = 5_000, ...ports }: EtcdOptions) {
    const { clock = hostClock, connect = (endpoint) => new Member(endpoint, tls) } = ports;
    this.clock = clock;
    this.#members = endpoints.map(connect);
    this.#limits = { connectMs, callMs };
    this.#picker = new MemberPicker(endpoints.length, clock);
  }

  /** Reads keys. This call and every other call rejects with {@link EtcdError}. */
  async range(keys: Keys, options: RangeOptions = {}): Promise<Range> {
    const { revision = 0, limit = 0, after, keysOnly = false, serializable = false } = options;
    const how = { revision, limit, keys_only: keysOnly, serializable };
    const found = await this.#ask('KV/Range', { ...toRange(keys, after), ...how }, true);
    return toRangeResult(found, Number(found.header.revision));
  }

  async get(key: string): Promise<KeyValue | null> {
    return (await this.range(key)).values[0] ?? null;
  }

  /** @returns the revision of the write. */
  async put(key: string, value: string | Uint8Array, lease = '0'): Promise<number> {
    const { request_put } = wireOperation({ put: key, value, lease }) as { request_put: object };
    return Number((await this.#ask('KV/Put', request_put, false)).header.revision);
  }

  /** @returns the number of keys deleted. */
  async delete(keys: Keys): Promise<number> {
    return Number((await this.#ask('KV/DeleteRange', toRange(keys), false)).deleted);
  }

  /**
   * Executes either all operations or none. Takes at most 128 operations, and no key may be put
   * twice.
   */
  async transact(transaction: Transaction): Promise<TransactionResult> {
    const { if: conditions = [], do: operations, otherwise = [] } = transaction;
    const request = {
      compare: conditions.map(wireCondition),
      success: operations.map(wireOperation),
      failure: otherwise.map(wireOperation),
    };
    const reads = [...operations, ...otherwise].every((operation) => 'get' in operation);
    const { header, succeeded, responses } = await this.#ask('KV/Txn', request, reads);
    const revision = Number(header.revision);
    return {
      succeeded,
      revision,
      results: responses.map((one) => toOperationResult(one, revision)),
    };
  }

  /** Deletes the history before `revision`. Repeating the call fails with `compacted`. */
  async compact(revision: number): Promise<void> {
    await this.#ask('KV/Compact', { revision }, false);
  }

  /**
   * Watches keys at one member. Each watch starts at the next member, so that a caller that retries
   * after a broken or silent watch gets a different member.
   *
   * @example
   * for await (const { events } of client.watch({ prefix: 'a/' }, { from: revision + 1 })) {
   *   for (const event of events) console.log(event.type, event.key, event.modRevision);
   * }
   */
  async *watch(
    keys: Keys,
    options: WatchOptions = {},
  ): AsyncGenerator<WatchBatch, void, undefined> {
    const at = this.#picker.watch();
    try {
      const { connectMs } = this.#limits;
      yield* watchAt(this.#members[at]!, keys, options, { connectMs, clock: this.clock });
    } catch (error) {
      if (error instanceof EtcdError && error.member === 'silent') this.#picker.failed(at, true);
      throw error;
    }
  }

  /** Grants a lease. etcd may choose a longer duration. */
  async grantLease(seconds: number): Promise<{ id: string; seconds: number }> {
    // Repeatable, because an unused lease expires.
    const { ID, TTL } = await this.#ask('Lease/LeaseGrant', { TTL: seconds }, true);
    return { id: ID, seconds: Number(TTL) };
  }

  /**
   * @returns the seconds until the lease expires.
   * @throws {EtcdError} `no_lease` if the lease has expired.
   */
  async keepLease(id: string): Promise<number> {
    const keep = (member: EtcdMember) => keepAt(member, id, this.#limits);
    const left = await this.#tryEach(keep, true);
    if (left > 0) return left;
    throw new EtcdError('LEASE_EXPIRED', { lease: id });
  }

  /** Revokes a lease, which deletes its keys. An expired lease is not an error. */
  async revokeLease(id: string): Promise<void> {
    try {
      await this.#ask('Lease/LeaseRevoke', { ID: id }, true);
    } catch (error) {
      if (!(error instanceof EtcdError && error.kind === 'no_lease')) throw error;
    }
  }

  /** Queries every member. Never rejects. */
  status(): Promise<MemberStatus[]> {
    return Promise.all(this.#members.map((member) => fetchStatus(member, this.#limits)));
  }

  /** Lists etcd's alarms. `NOSPACE` blocks all writes until `disarm`. */
  async alarms(): Promise<{ memberId: string; alarm: 'NOSPACE' | 'CORRUPT' }[]> {
    const { alarms } = await this.#ask('Maintenance/Alarm', { action: 'GET' }, true);
    return alarms.flatMap(({ memberID, alarm }) =>
      alarm === 'NONE' ? [] : [{ memberId: memberID, alarm }],
    );
  }

  async disarm({ memberId, alarm }: { memberId: string; alarm: string }): Promise<void> {
    await this.#ask('Maintenance/Alarm', { action: 'DEACTIVATE', memberID: memberId, alarm }, true);
  }

  close(): void {
    for (const member of this.#members) member.close();
  }

  /** @param repeatable true if executing the call twice does no harm. */
  #ask<Name extends MethodName>(
    name: Name,
    request: object,
    repeatable: boolean,
  ): Promise<Answers[Name]> {
    return this.#tryEach((member) => member.call(name, request, this.#limits), repeatable);
  }

  async #tryEach<T>(ask: (member: EtcdMember) => Promise<T>, repeatable: boolean): Promise<T> {
    let last: EtcdError | null = null;
    for (const { at, leftOut } of this.#picker.now()) {
      // Believes a member that answers, because trying a silent member would take too long.
      if (last?.member === 'answers' && leftOut) break;
      try {
        const answer = await ask(this.#members[at]!);
        this.#picker.answered(at);
        return answer;
      } catch (error) {
        if (!(error instanceof EtcdError) || error.kind !== 'unavailable') throw error;
        this.#picker.failed(at, error.member === 'silent');
        last = error;
        if (error.outcome === 'unknown' && !repeatable) break;
      }
    }
    throw last!;
  }
}

/*
 * Selects the member for a call. A silent member is skipped for a while, as long as a different
 * member answers. Members that fail fast are not skipped.
 */

/** Time for which a silent member is skipped. */
const SILENT_MS = 3_000;

export class MemberPicker {
  readonly #leftOutUntil: number[];
  /** Index of the first member to try, which is the member that answered last. */
  #first = 0;
  #watches = 0;

  constructor(
    members: number,
    private readonly clock: HostClock,
  ) {
    this.#leftOutUntil = Array<number>(members).fill(Number.NEGATIVE_INFINITY);
  }

  /** Members to try, in order. Skipped members come last. */
  now(): { at: number; leftOut: boolean }[] {
    return this.#from(this.#first);
  }

  /** Returns the member for the next watch, a different member each time. */
  watch(): number {
    const { at } = this.#from(this.#first + this.#watches)[0]!;
    this.#watches += 1;
    return at;
  }

  answered(member: number): void {
    this.#leftOutUntil[member] = Number.NEGATIVE_INFINITY;
  }

  /** Moves on to the next member, unless a different call has already done so. */
  failed(member: number, silent: boolean): void {
    if (silent) this.#leftOutUntil[member] = this.clock.monotonic() + SILENT_MS;
    if (this.#first === member) this.#first = this.#from(member + 1)[0]!.at;
  }

  #from(first: number): { at: number; leftOut: boolean }[] {
    const now = this.clock.monotonic();
    const all = this.#leftOutUntil.map((_, step, { length }) => {
      const at = (first + step) % length;
      return { at, leftOut: this.#leftOutUntil[at]! > now };
    });
    return [...all.filter(({ leftOut }) => !leftOut), ...all.filter(({ leftOut }) => leftOut)];
  }
}

/**
 * @returns the seconds until the lease expires, or 0 if the lease has expired.
 * @throws {EtcdError}
 */
async function keepAt(member: EtcdMember, id: string, limits: CallLimits): Promise<number> {
  const stream = await member.stream('Lease/LeaseKeepAlive', limits);
  stream.end({ ID: id });
  try {
    for await (const { TTL } of stream) return Number(TTL);
  } finally {
    stream.cancel();
  }
  throw new EtcdError('CALL_ENDED', { endpoint: member.endpoint }, { outcome: 'unknown' });
}

/** Renewals per lease duration. */
const RENEWALS = 3;

export class Lease {
  readonly id: string;
  /**
   * Aborts when the lease has expired, or may have expired because no renewal succeeded in time.
   */
  readonly lost: AbortSignal;
  readonly #client: EtcdClient;
  readonly #lose = new AbortController();
  readonly #heldMs: number;
  #cancelRenewal: () => void;
  #cancelExpiry = () => {};

  /** @throws {EtcdError} */
  static async grant(client: EtcdClient, seconds: number): Promise<Lease> {
    const asked = client.clock.monotonic();
    const granted = await client.grantLease(seconds);
    return new Lease(client, granted.id, granted.seconds, asked);
  }

  private constructor(client: EtcdClient, id: string, seconds: number, since: number) {
    this.#client = client;
    this.id = id;
    this.#heldMs = seconds * 1_000;
    this.lost = this.#lose.signal;
    this.#hold(since + this.#heldMs);
    this.#cancelRenewal = this.#later();
  }

  /** Revokes the lease, which deletes its keys. If etcd is unreachable, the lease expires. */
  async release(): Promise<void> {
    this.#end();
    await this.#client.revokeLease(this.id).catch((error) => {
      if (!(error instanceof EtcdError)) throw error;
    });
  }

  /** Ends on time even while a renewal waits for members that are silent. */
  #hold(until: number): void {
    const { clock } = this.#client;
    this.#cancelExpiry();
    this.#cancelExpiry = clock.after(until - clock.monotonic(), () => this.#end());
  }

  #end(): void {
    this.#cancelRenewal();
    this.#cancelExpiry();
    this.#lose.abort();
  }

  #later(): () => void {
    return this.#client.clock.after(this.#heldMs / RENEWALS, () => void this.#renew());
  }

  async #renew(): Promise<void> {
    const { clock } = this.#client;
    const asked = clock.monotonic();
    const kept = await this.#client.keepLease(this.id).then(
      (seconds) => seconds,
      (error: unknown) => (error instanceof EtcdError && error.kind !== 'no_lease' ? null : 0),
    );
    if (this.lost.aborted) return;
    if (kept === 0) return this.#end();
    if (kept !== null) this.#hold(asked + kept * 1_000);
    this.#cancelRenewal = this.#later();
  }
}

export interface WatchOptions {
  /** First revision to deliver. Default: from now on. */
  from?: number;
  /** Ends the watch without delivering a further batch. */
  signal?: AbortSignal;
}

/** A changed key. For a deleted key, only `key` and `modRevision` are meaningful. */
export interface WatchEvent extends KeyValue {
  type: 'put' | 'delete';
}

/**
 * A batch of events. The first batch is empty and confirms the watch. A revision may be split
 * across two batches, and etcd 3.4 may repeat an event, so compare `modRevision` and `version`.
 */
export interface WatchBatch {
  endpoint: string;
  /** Latest revision known to the member. */
  revision: number;
  events: WatchEvent[];
}

/** Interval of progress requests, and the number that may stay unanswered. */
const SIGNS = { everyMs: 500, inVain: 3 } as const;

/**
 * @throws {EtcdError} `compacted`, with the oldest revision available; `unavailable` if the watch
 *   ended. The events delivered so far are valid.
 */
async function* watchAt(
  member: EtcdMember,
  keys: Keys,
  { from = 0, signal }: WatchOptions,
  { connectMs, clock }: { connectMs: number; clock: HostClock },
): AsyncGenerator<WatchBatch, void, undefined> {
  const stream = await member.stream('Watch/Watch', { connectMs });
  const cancel = () => stream.cancel();
  signal?.addEventListener('abort', cancel);
  const signs = new Signs(stream, member.endpoint, clock);
  const create = { ...toRange(keys), start_revision: from, fragment: true };
  stream.write({ create_request: create });
  try {
    const incoming = stream[Symbol.asyncIterator]();
    while (!signal?.aborted) {
      const next = await signs.before(incoming.next());
      if (next.done) break;
      assertGoesOn(next.value, member.endpoint);
      const batch = batchOf(next.value, member.endpoint);
      if (next.value.created || batch.events.length > 0) yield batch;
    }
  } catch (error) {
    if (signal?.aborted) return;
    throw error;
  } finally {
    signs.end();
    signal?.removeEventListener('abort', cancel);
    stream.cancel();
  }
  if (!signal?.aborted) {
    throw new EtcdError('WATCH_CANCELED', { endpoint: member.endpoint, reason: 'stream ended' });
  }
}

/**
 * Sends progress requests, and counts the unanswered ones. Measures no time, because a process that
 * was blocked for a long time has sent only one request meanwhile.
 */
class Signs {
  readonly #stop: () => void;
  #waiting = false;
  #inVain = 0;

  constructor(stream: MemberStream<WatchResponse>, endpoint: string, clock: HostClock) {
    this.#stop = clock.every(SIGNS.everyMs, () => {
      if (this.#waiting) this.#inVain += 1;
      if (this.#inVain > SIGNS.inVain) {
        // Destroys the stream rather than racing a pending promise, which would retain every event
        // ever received.
        stream.destroy(new EtcdError('WATCH_SILENT', { endpoint }, { member: 'silent' }));
      } else stream.write({ progress_request: {} });
    });
  }

  /** Awaits the next message. The stream fails if no progress arrives meanwhile. */
  async before<T>(awaited: Promise<T>): Promise<T> {
    this.#waiting = true;
    this.#inVain = 0;
    try {
      return await awaited;
    } finally {
      this.#waiting = false;
    }
  }

  end(): void {
    this.#stop();
  }
}

function assertGoesOn(
  { canceled, compact_revision, cancel_reason }: WatchResponse,
  at: string,
): void {
  if (!canceled) return;
  const compactRevision = Number(compact_revision);
  if (compactRevision > 0) {
    const values = { endpoint: at, revision: compactRevision };
    throw new EtcdError('WATCH_COMPACTED', values, { compactRevision });
  }
  throw new EtcdError('WATCH_CANCELED', { endpoint: at, reason: cancel_reason });
}

const batchOf = ({ header, events }: WatchResponse, endpoint: string): WatchBatch => ({
  endpoint,
  revision: Number(header.revision),
  events: events.map(({ type, kv }) => ({
    type: type === 'PUT' ? 'put' : 'delete',
    ...toKeyValue(kv),
  })),
});
