/**
 * The order is stored in etcd under one key, whose value is the last batch. etcd counts a key's
 * versions without gaps, so the version is the batch number, and the revision is the position to
 * continue from. A node puts a batch in a transaction that checks the node's own key for the number
 * of its previous batch. A batch is therefore appended only once, however often the node retries,
 * and by only one process per node name. A batch above etcd's value size limit is stored in parts.
 */

import { type Static, Type } from '../../engine/protocol/bundled/typebox.js';
import { digestPattern } from '../../engine/protocol/patterns.js';
import { validator } from '../../engine/protocol/schema/validator.js';
import { sha256Hex } from '../../engine/protocol/signing.js';
import { sleep } from '../../engine/store/host-clock.js';
import { EtcdClient, type EtcdOptions, type WatchEvent } from '../etcd/client.js';
import type { Condition, KeyValue, Operation, OperationResult } from '../etcd/values.js';
import { EtcdError } from '../etcd/wire.js';
import {
  AppendedParts,
  type BadCard,
  type Batch,
  type BatchId,
  Card,
  decodeBatch,
  encodeBatch,
  Founding,
  type Order,
  OrderError,
  type OrderedBatch,
  type OrderHealth,
  type OrderProblem,
  type Position,
  parseJsonOrUndefined,
  unreadableBatch,
} from './order.js';

/** Timeouts per member, in milliseconds. Short, so that the next member is tried soon. */
const PATIENCE = { connectMs: 1_000, callMs: 2_000 } as const;
/** Attempts to read the founding record. Live nodes repair a damaged record every second. */
const FOUNDING = { looks: 4, everyMs: 1_000 } as const;
/** Number of values remembered as reported. Beyond this number, values may be reported again. */
const MOST_REPORTED = 1_000;

interface EtcdOrderOptions extends Omit<EtcdOptions, keyof typeof PATIENCE> {
  networkId: string;
  /** Reports values in etcd that no node has written. */
  tell?: (line: string) => void;
}

/** Value of a node's key: its incarnation and the number of its last batch. */
const HOLDER = /^[^:]{1,64}:\d{1,16}$/;

export class EtcdOrder implements Order {
  readonly client: EtcdClient;
  readonly #prefix: string;
  readonly #parts: Parts;
  readonly #appended = new AppendedParts();
  readonly #tell: (line: string) => void;
  /** The founding record as stored; null until read. */
  #founding: string | null = null;
  /** Revisions of the unreadable values that were reported, by key. */
  readonly #reported = new Map<string, number>();

  constructor({ networkId, tell = () => {}, ...etcd }: EtcdOrderOptions) {
    this.#tell = tell;
    this.client = new EtcdClient({ ...etcd, ...PATIENCE });
    this.#prefix = `folkmoot/network/${networkId}/`;
    this.#parts = new Parts(this.client, this.#prefix);
  }

  close(): void {
    this.client.close();
  }

  async found(mine: Founding): Promise<Founding> {
    const key = this.#key('founding');
    const value = JSON.stringify(mine);
    for (let look = 1; ; look += 1) {
      const stored = await this.#ask(async () => {
        const { succeeded, results } = await this.client.transact({
          if: [{ key, is: '=', version: 0 }],
          do: [{ put: key, value }],
          otherwise: [{ get: key }],
        });
        return succeeded ? value : valueIn(results[0]).toString();
      });
      const read = readAs<Founding>(foundingProblem, stored);
      if (!('problem' in read)) {
        this.#founding = stored;
        return read.value;
      }
      if (look === FOUNDING.looks) throw unreadable(key, read.problem);
      await sleep(this.client.clock, FOUNDING.everyMs);
    }
  }

  join(node: string, incarnation: string): Promise<void> {
    return this.#ask(async () => {
      await this.client.put(this.#key(`node/${node}`), `${incarnation}:0`);
    });
  }

  head(): Promise<Position> {
    return this.#ask(async () => positionIn(await this.client.get(this.#key('order'))));
  }

  append(batch: Batch): Promise<void> {
    const { node, incarnation, k } = batch;
    const name = this.#key(`node/${node}`);
    return this.#ask(async () => {
      const { value, holds, refer } = await this.#parts.putAside(encodeBatch(batch));
      this.#appended.add(value, batch);
      const before = `${incarnation}:${k - 1}`;
      const after = `${incarnation}:${k}`;
      const { succeeded, results } = await this.client.transact({
        if: [{ key: name, is: '=', value: before }, ...holds],
        do: [{ put: this.#key('order'), value }, { put: name, value: after }, ...refer],
        otherwise: [{ get: name }],
      });
      const [found] = valuesIn(results[0]);
      const last = succeeded ? after : (found?.value.toString() ?? '');
      if (last === after) return;
      if (found && !HOLDER.test(last)) return this.#retake(found, before);
      if (last !== before) throw fenced(node);
      throw new OrderError('PARTS_DELETED', {});
    });
  }

  async follow(
    from: Position,
    take: (batch: OrderedBatch) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#ask(async () => {
      const watched = this.client.watch(this.#key('order'), { from: from.revision + 1, signal });
      for await (const { events } of watched) {
        for (const event of events) {
          if (signal.aborted) return;
          await take(await this.#batchOf(event));
        }
      }
    });
  }

  async isAppended({ node, incarnation, k, position }: BatchId): Promise<boolean> {
    const { revision } = position;
    try {
      const { values } = await this.client.range(this.#key(`node/${node}`), { revision });
      const [found] = values;
      return found?.modRevision === revision && found.value.toString() === `${incarnation}:${k}`;
    } catch (error) {
      if (error instanceof EtcdError) return true;
      throw error;
    }
  }

  trim({ revision }: Position): Promise<void> {
    return this.#ask(async () => {
      await this.#parts.clear(revision);
      await this.client.compact(revision);
    });
  }

  announce(card: Card): Promise<Position> {
    const { node, incarnation } = card;
    const name = this.#key(`node/${node}`);
    const put = this.#key(`card/${node}`);
    return this.#ask(async () => {
      const { succeeded, results } = await this.client.transact({
        if: [{ key: name, is: '>', version: 0 }],
        do: [
          { put, value: JSON.stringify(card) },
          { get: this.#key('order'), keysOnly: true },
          { get: name },
          { get: this.#key('founding') },
        ],
      });
      const holder = valueIn(results[2]).toString();
      // The next append repairs a key with a foreign value.
      const isOurs = holder.startsWith(`${incarnation}:`) || !HOLDER.test(holder);
      if (!succeeded || !isOurs) throw fenced(node);
      await this.#repairFounding(valuesIn(results[3])[0]);
      return positionIn(valuesIn(results[1])[0] ?? null);
    });
  }

  async cards(): Promise<Card[]> {
    return (await this.allCards()).cards;
  }

  /** Returns the nodes' cards, and the values under card keys that are not cards. */
  allCards(): Promise<{ cards: Card[]; bad: BadCard[] }> {
    return this.#ask(async () => {
      const { values } = await this.client.range({ prefix: this.#key('card/') });
      const read = values.map((value) => this.#cardIn(value));
      return {
        cards: read.filter((one): one is Card => !('problem' in one)),
        bad: read.filter((one): one is BadCard => 'problem' in one),
      };
    });
  }

  async health(): Promise<OrderHealth> {
    const members = await this.client.status();
    const answering = members.filter(({ problem }) => problem === null);
    const leader = answering.some((one) => one.problem === null && one.leader !== '0');
    return { members: members.length, answering: answering.length, leader };
  }

  /** Deletes a node's card and name, which fences a process with that name. */
  forget(node: string): Promise<boolean> {
    return this.#ask(async () => {
      const [card] = await Promise.all([
        this.client.delete(this.#key(`card/${node}`)),
        this.client.delete(this.#key(`node/${node}`)),
      ]);
      return card > 0;
    });
  }

  async watchCards(tell: (card: Card) => void, signal: AbortSignal): Promise<void> {
    await this.#ask(async () => {
      for await (const { events } of this.client.watch(
        { prefix: this.#key('card/') },
        { signal },
      )) {
        for (const event of events) {
          if (event.type === 'delete') continue;
          const card = this.#cardIn(event);
          if (!('problem' in card)) tell(card);
        }
      }
    });
  }

  #key(name: string): string {
    return this.#prefix + name;
  }

  #cardIn(stored: KeyValue): Card | BadCard {
    const node = stored.key.slice(this.#key('card/').length);
    const read = readAs<Card>(cardProblem, stored.value.toString());
    if ('value' in read && read.value.node === node) return read.value;
    const problem = 'value' in read ? `card of another node: ${read.value.node}` : read.problem;
    const advice = 'delete it with `folkmoot cluster forget`';
    this.#report(stored, `not a node card: ${problem}; skipped; ${advice}`);
    return { node, problem };
  }

  #report({ key, modRevision }: KeyValue, problem: string): void {
    if (this.#reported.get(key) === modRevision) return;
    if (this.#reported.size >= MOST_REPORTED) this.#reported.clear();
    this.#reported.set(key, modRevision);
    this.#tell(`unreadable value in etcd at ${key}, revision ${modRevision}: ${problem}`);
  }

  /**
   * Restores this node's key after a different program has overwritten it. The batch may already
   * have been put before the overwrite, but it is put again, because repeated requests are
   * idempotent.
   */
  async #retake(found: KeyValue, before: string): Promise<never> {
    const { key, modRevision } = found;
    this.#report(found, 'not an incarnation of this node; rewritten');
    const holds = [{ key, is: '=', modRevision } as const];
    await this.client.transact({ if: holds, do: [{ put: key, value: before }] });
    throw new OrderError('KEY_OVERWRITTEN', { key });
  }

  async #repairFounding(found: KeyValue | undefined): Promise<void> {
    if (!found || this.#founding === null) return;
    const { key, value, modRevision } = found;
    if (value.toString() === this.#founding) return;
    const read = readAs<Founding>(foundingProblem, value.toString());
    if (!('problem' in read)) return;
    this.#report(found, `not a founding record: ${read.problem}; restored`);
    const holds = [{ key, is: '=', modRevision } as const];
    await this.client.transact({ if: holds, do: [{ put: key, value: this.#founding }] });
  }

  async #batchOf(event: WatchEvent): Promise<OrderedBatch> {
    const { type, value, version, modRevision } = event;
    if (type === 'delete') throw new OrderError('ORDER_DELETED', { key: event.key });
    const position = { version, revision: modRevision };
    const own = this.#appended.take(value);
    if (own) return { ...own, position };
    try {
      return { ...decodeBatch(await this.#parts.together(value, modRevision)), position };
    } catch (error) {
      if (!(error instanceof OrderError)) throw error;
      const { by, message, problem } = error;
      const isForged = by !== undefined && !(await this.isAppended({ ...by, position }));
      if (!isForged && problem !== 'BATCH_UNREADABLE') throw error;
      return { ...NOTHING, position, unreadable: message };
    }
  }

  async #ask<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof EtcdError)) throw error;
      throw new OrderError(problems[error.kind], { message: error.message }, { cause: error });
    }
  }
}

/**
 * Applied by all nodes in place of an unreadable batch. Contains no requests and does not advance
 * time.
 */
const NOTHING: Omit<OrderedBatch, 'position'> = {
  node: '',
  incarnation: '',
  k: 0,
  stamp: 0,
  witness: { seq: 0, digest: '' },
  inputs: [],
};

function readAs<T>(check: ReturnType<typeof validator>, text: string): Read<T> {
  const value = parseJsonOrUndefined(text);
  if (value === undefined) return { problem: 'not JSON' };
  const problem = check(value);
  if (problem) return { problem: `${problem.pointer} ${problem.message}`.trim() };
  return { value: value as T };
}

type Read<T> = { value: T } | { problem: string };

const cardProblem = validator('cluster_card', Card);
const foundingProblem = validator('cluster_founding', Founding);

const unreadable = (key: string, problem: string): OrderError =>
  new OrderError('FOUNDING_UNREADABLE', { key, problem });

const problems = {
  unavailable: 'ETCD_UNAVAILABLE',
  out_of_space: 'ETCD_FULL',
  too_large: 'ETCD_FOREIGN',
  compacted: 'ETCD_TRIMMED',
  no_lease: 'ETCD_FOREIGN',
  refused: 'ETCD_FOREIGN',
} as const satisfies Record<EtcdError['kind'], OrderProblem>;

const fenced = (node: string): OrderError => new OrderError('NODE_NAME_TAKEN', { node });

const valuesIn = (result: OperationResult | undefined): KeyValue[] =>
  result && 'values' in result ? result.values : [];

/** Returns the value, or an empty buffer if the key is absent. */
const valueIn = (result: OperationResult | undefined): Buffer =>
  valuesIn(result)[0]?.value ?? Buffer.alloc(0);

const positionIn = (found: KeyValue | null): Position =>
  found ? { version: found.version, revision: found.modRevision } : { version: 0, revision: 0 };

/*
 * Parts of batches that exceed etcd's request size limit. The parts are put first, and the batch in
 * the order then refers to the parts. A marker key is put in the same transaction as the batch, so
 * the marker carries the batch's revision.
 */

/** etcd refuses requests above 1.5 MiB. */
const PART_BYTES = 1024 * 1024;
/** Marker in place of the head's length. A reference to the parts follows. */
const IN_PARTS = Buffer.from('ffffffff', 'hex');

const Reference = Type.Object({
  sha256: Type.String({ pattern: digestPattern }),
  parts: Type.Integer({ minimum: 1, maximum: 64 }),
});
const referenceProblem = validator('order_parts', Reference);

/** The value to put into the order, with the conditions and the marker for its parts. */
interface PutAside {
  value: Buffer;
  holds: Condition[];
  refer: Operation[];
}

class Parts {
  constructor(
    private readonly client: EtcdClient,
    private readonly prefix: string,
  ) {}

  /** Puts a large batch's parts. Repeating the call has no effect. */
  async putAside(bytes: Buffer): Promise<PutAside> {
    if (bytes.length <= PART_BYTES) return { value: bytes, holds: [], refer: [] };
    const sha256 = sha256Hex(bytes);
    const holds: Condition[] = [];
    for (let from = 0; from < bytes.length; from += PART_BYTES) {
      const key = this.#partKey(sha256, holds.length);
      const modRevision = await this.client.put(key, bytes.subarray(from, from + PART_BYTES));
      // The parts must be unchanged when the batch is put, because nodes read the parts at the
      // batch's revision.
      holds.push({ key, is: '=', modRevision });
    }
    const reference = Buffer.from(JSON.stringify({ sha256, parts: holds.length }));
    return {
      value: Buffer.concat([IN_PARTS, reference]),
      holds,
      refer: [{ put: this.#refKey(sha256), value: '' }],
    };
  }

  /**
   * Returns a batch's bytes, from the value itself or from the parts to which the value refers.
   * Parts are read at `revision`, so that all nodes get the same bytes.
   *
   * @throws {OrderError} `BATCH_UNREADABLE`
   * @throws {EtcdError} `compacted` if that revision was deleted.
   */
  async together(value: Buffer, revision: number): Promise<Buffer> {
    if (!IN_PARTS.equals(value.subarray(0, IN_PARTS.length))) return value;
    const reference = parseJsonOrUndefined(value.toString('utf8', IN_PARTS.length));
    if (referenceProblem(reference)) {
      throw unreadableBatch('invalid reference to the parts of a batch');
    }
    const { sha256, parts } = reference as Static<typeof Reference>;
    const found: Buffer[] = [];
    for (let part = 0; part < parts; part += 1) {
      const [stored] = (await this.client.range(this.#partKey(sha256, part), { revision })).values;
      if (!stored) throw unreadableBatch(`part not found: ${part} of ${parts}`);
      found.push(stored.value);
    }
    const bytes = Buffer.concat(found);
    if (sha256Hex(bytes) === sha256) return bytes;
    throw unreadableBatch('parts of a batch do not match its SHA-256');
  }

  /** Deletes the parts for batches up to `revision`, and parts without a batch. */
  async clear(revision: number): Promise<void> {
    const { values } = await this.client.range(this.#partsOf(''), { keysOnly: true });
    const hashes = new Set(values.map(({ key }) => key.split('/').at(-2)!));
    for (const sha256 of hashes) {
      const ref = this.#refKey(sha256);
      const found = await this.client.get(ref);
      if (found && found.modRevision > revision) continue;
      // A batch may refer to the parts by now.
      await this.client.transact({
        if: [{ key: ref, is: '=', modRevision: found?.modRevision ?? 0 }],
        do: [{ delete: this.#partsOf(`${sha256}/`) }, { delete: ref }],
      });
    }
  }

  #partsOf(sha256: string): { prefix: string } {
    return { prefix: `${this.prefix}part/${sha256}` };
  }

  #partKey(sha256: string, part: number): string {
    return `${this.prefix}part/${sha256}/${part}`;
  }

  #refKey(sha256: string): string {
    return `${this.prefix}parted/${sha256}`;
  }
}
