/**
 * The client of an etcd with one or several members. A call goes to the member that answered last;
 * where that one is not to be had it goes to the next, as long as it is sure that nothing was done,
 * or does not matter. A write that may have been done is never sent twice: that is told by an error
 * with the outcome `unknown`, and who asked finds out, or asks in a way that can be repeated.
 */

import type { ServiceError } from './bundled/grpc.js';
import { fetchStatus, Member, type MemberStatus } from './member.js';
import {
  type Keys,
  type KeyValue,
  type Range,
  type RangeOptions,
  type Transaction,
  type TransactionResult,
  toOperationResult,
  toRange,
  toRangeResult,
  wireCondition,
  wireOperation,
} from './values.js';
import { type WatchBatch, type WatchOptions, watchAt } from './watch.js';
import { type Answers, EtcdError, type EtcdTls, type MethodName, toEtcdError } from './wire.js';

export interface EtcdOptions {
  /** As `parseEndpoints` gives them. */
  endpoints: readonly string[];
  tls?: EtcdTls;
  /** How long one member may take to be connected; default: 2,000. */
  connectMs?: number;
  /** How long one member may take to answer; default: 5,000, an election is 1 to 3 s. */
  callMs?: number;
}

export class EtcdClient {
  readonly #members: readonly Member[];
  readonly #limits: { connectMs: number; callMs: number };
  readonly #picker: MemberPicker;

  /** Connects when it is first asked something. */
  constructor({ endpoints, tls, connectMs = 2_000, callMs = 5_000 }: EtcdOptions) {
    this.#members = endpoints.map((endpoint) => new Member(endpoint, tls));
    this.#limits = { connectMs, callMs };
    this.#picker = new MemberPicker(endpoints.length);
  }

  /**
   * What every call throws.
   * @throws {EtcdError}
   */
  async range(keys: Keys, options: RangeOptions = {}): Promise<Range> {
    const { revision = 0, limit = 0, after, keysOnly = false, serializable = false } = options;
    const how = { revision, limit, keys_only: keysOnly, serializable };
    const found = await this.#ask('KV/Range', { ...toRange(keys, after), ...how }, true);
    return toRangeResult(found, Number(found.header.revision));
  }

  async get(key: string): Promise<KeyValue | null> {
    return (await this.range(key)).values[0] ?? null;
  }

  /** @returns the revision that it made. */
  async put(key: string, value: string | Uint8Array, lease = '0'): Promise<number> {
    const { request_put } = wireOperation({ put: key, value, lease }) as { request_put: object };
    return Number((await this.#ask('KV/Put', request_put, false)).header.revision);
  }

  /** @returns how many keys were there. */
  async delete(keys: Keys): Promise<number> {
    return Number((await this.#ask('KV/DeleteRange', toRange(keys), false)).deleted);
  }

  /** All at once, or nothing: at most 128 operations, no key put twice. */
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

  /** Takes away what was before `revision`, which itself stays; again it is `compacted`. */
  async compact(revision: number): Promise<void> {
    await this.#ask('KV/Compact', { revision }, false);
  }

  /**
   * Follows keys at one member; each watch begins at the next member in turn, so that who calls
   * again after it was cut, or because what must come does not come, gets another one.
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
      yield* watchAt(this.#members[at]!, keys, options, this.#limits.connectMs);
    } catch (error) {
      if (error instanceof EtcdError && error.member === 'silent') this.#picker.failed(at, true);
      throw error;
    }
  }

  /** Etcd may take a longer time than it was asked for. */
  async grantLease(seconds: number): Promise<{ id: string; seconds: number }> {
    // One that was granted unheard of ends by itself.
    const { ID, TTL } = await this.#ask('Lease/LeaseGrant', { TTL: seconds }, true);
    return { id: ID, seconds: Number(TTL) };
  }

  /**
   * @returns for how many seconds from now.
   * @throws {EtcdError} `no_lease` when it has ended.
   */
  async keepLease(id: string): Promise<number> {
    const keep = (member: Member) => keepAt(member, id, this.#limits);
    const left = await this.#tryEach(keep, true);
    if (left > 0) return left;
    throw new EtcdError('no_lease', `lease ${id} has ended`);
  }

  /** Its keys are deleted; one that has ended already is none the worse. */
  async revokeLease(id: string): Promise<void> {
    try {
      await this.#ask('Lease/LeaseRevoke', { ID: id }, true);
    } catch (error) {
      if (!(error instanceof EtcdError && error.kind === 'no_lease')) throw error;
    }
  }

  /** Asks every member; none throws. */
  status(): Promise<MemberStatus[]> {
    return Promise.all(this.#members.map((member) => fetchStatus(member, this.#limits)));
  }

  /** What etcd has raised: `NOSPACE` stops all writes until `disarm`. */
  async alarms(): Promise<{ memberId: string; alarm: 'NOSPACE' | 'CORRUPT' }[]> {
    const { alarms } = await this.#ask('Maintenance/Alarm', { action: 'GET' }, true);
    return alarms.flatMap(({ memberID, alarm }) =>
      alarm === 'NONE' ? [] : [{ memberId: memberID, alarm }],
    );
  }

  async disarm({ memberId, alarm }: { memberId: string; alarm: string }): Promise<void> {
    await this.#ask('Maintenance/Alarm', { action: 'DEACTIVATE', memberID: memberId, alarm }, true);
  }

  /** Ends what is under way. */
  close(): void {
    for (const member of this.#members) member.close();
  }

  /** @param repeatable whether it may be done twice. */
  #ask<Name extends MethodName>(
    name: Name,
    request: object,
    repeatable: boolean,
  ): Promise<Answers[Name]> {
    return this.#tryEach((member) => member.call(name, request, this.#limits), repeatable);
  }

  async #tryEach<T>(ask: (member: Member) => Promise<T>, repeatable: boolean): Promise<T> {
    let last: EtcdError | null = null;
    for (const { at, leftOut } of this.#picker.now()) {
      // Who answers is believed: asking one that was silent would take long.
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
 * Which member of an etcd is asked, and which after it. One that gave no sign of life is left out
 * for a while, as long as another answers: that one says at once what it cannot do.
 */

/** How long one is left out that fell silent. */
const SILENT_MS = 3_000;

export class MemberPicker {
  readonly #leftOutUntil: number[];
  /** The member that is asked first: the one that answered last. */
  #first = 0;
  #watches = 0;

  constructor(members: number) {
    this.#leftOutUntil = Array<number>(members).fill(Number.NEGATIVE_INFINITY);
  }

  /** Whom to ask now, one after the other; who was silent, and is left out, comes last. */
  now(): { at: number; leftOut: boolean }[] {
    return this.#from(this.#first);
  }

  /** Where the next watch is to be: each time at another member. */
  watch(): number {
    const { at } = this.#from(this.#first + this.#watches)[0]!;
    this.#watches += 1;
    return at;
  }

  answered(member: number): void {
    this.#leftOutUntil[member] = Number.NEGATIVE_INFINITY;
  }

  /** It cannot help; others may have moved on meanwhile. */
  failed(member: number, silent: boolean): void {
    if (silent) this.#leftOutUntil[member] = performance.now() + SILENT_MS;
    if (this.#first === member) this.#first = this.#from(member + 1)[0]!.at;
  }

  #from(first: number): { at: number; leftOut: boolean }[] {
    const now = performance.now();
    const all = this.#leftOutUntil.map((_, step, { length }) => {
      const at = (first + step) % length;
      return { at, leftOut: this.#leftOutUntil[at]! > now };
    });
    return [...all.filter(({ leftOut }) => !leftOut), ...all.filter(({ leftOut }) => leftOut)];
  }
}

/**
 * @returns the seconds that the lease has from now on; 0 when it has ended.
 * @throws {EtcdError}
 */
async function keepAt(
  member: Member,
  id: string,
  limits: { connectMs: number; callMs: number },
): Promise<number> {
  const stream = await member.stream('Lease/LeaseKeepAlive', limits);
  stream.end({ ID: id });
  try {
    for await (const { TTL } of stream) return Number(TTL);
  } catch (error) {
    throw toEtcdError(error as ServiceError, member.endpoint);
  } finally {
    stream.cancel();
  }
  const ended = `etcd at ${member.endpoint} ended a call`;
  throw new EtcdError('unavailable', ended, { outcome: 'unknown' });
}
