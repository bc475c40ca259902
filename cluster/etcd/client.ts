/**
 * The client of an etcd with one or several members. A call goes to the member that answered last;
 * where that one is not to be had it goes to the next, as long as it is sure that nothing was done,
 * or does not matter. A write that may have been done is never sent twice: that is told by an error
 * with the outcome `unknown`, and who asked finds out, or asks in a way that can be repeated.
 */
import type { EtcdTls } from './address.js';
import { EtcdError } from './error.js';
import { keepAt } from './lease.js';
import { Member } from './member.js';
import { type MemberStatus, statusOf } from './status.js';
import { Turns } from './turns.js';
import {
  foundIn,
  type Keys,
  type KeyValue,
  type Range,
  type RangeOptions,
  rangeOf,
  resultOf,
  type Transaction,
  type TransactionResult,
  wireCondition,
  wireOperation,
} from './values.js';
import { type WatchBatch, type WatchOptions, watchAt } from './watch.js';
import type { Answers, MethodName } from './wire.js';

export interface EtcdOptions {
  /** As `endpointsOf` gives them. */
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
  readonly #turns: Turns;

  /** Connects when it is first asked something. */
  constructor({ endpoints, tls, connectMs = 2_000, callMs = 5_000 }: EtcdOptions) {
    this.#members = endpoints.map((endpoint) => new Member(endpoint, tls));
    this.#limits = { connectMs, callMs };
    this.#turns = new Turns(endpoints.length);
  }

  /**
   * What every call throws.
   * @throws {EtcdError}
   */
  async range(keys: Keys, options: RangeOptions = {}): Promise<Range> {
    const { revision = 0, limit = 0, after, keysOnly = false, serializable = false } = options;
    const how = { revision, limit, keys_only: keysOnly, serializable };
    const found = await this.#ask('KV/Range', { ...rangeOf(keys, after), ...how }, true);
    return foundIn(found, Number(found.header.revision));
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
    return Number((await this.#ask('KV/DeleteRange', rangeOf(keys), false)).deleted);
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
    return { succeeded, revision, results: responses.map((one) => resultOf(one, revision)) };
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
    const at = this.#turns.watch();
    try {
      yield* watchAt(this.#members[at]!, keys, options, this.#limits.connectMs);
    } catch (error) {
      if (error instanceof EtcdError && error.member === 'silent') this.#turns.failed(at, true);
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
    return Promise.all(this.#members.map((member) => statusOf(member, this.#limits)));
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
    for (const { at, leftOut } of this.#turns.now()) {
      // Who answers is believed: asking one that was silent would take long.
      if (last?.member === 'answers' && leftOut) break;
      try {
        const answer = await ask(this.#members[at]!);
        this.#turns.answered(at);
        return answer;
      } catch (error) {
        if (!(error instanceof EtcdError) || error.kind !== 'unavailable') throw error;
        this.#turns.failed(at, error.member === 'silent');
        last = error;
        if (error.outcome === 'unknown' && !repeatable) break;
      }
    }
    throw last!;
  }
}
