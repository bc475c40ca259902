/**
 * An order in etcd: one key, whose value is the last batch. etcd counts the key's versions without
 * gaps, so a version is the number of a batch and its revision the place to continue from. A node
 * puts a batch only if its own key says that the batch before it was its last, so a batch is
 * appended once, however often it is tried, and by one process of a name. A batch that is larger
 * than a value of etcd may be is put in parts.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { type Static, Type } from '../../engine/protocol/bundled/typebox.js';
import { validator } from '../../engine/protocol/schema/validator.js';
import { sha256Hex } from '../../engine/protocol/signing.js';
import { EtcdClient } from '../etcd/client.js';
import type { Condition, KeyValue, Operation, OperationResult } from '../etcd/values.js';
import type { WatchEvent } from '../etcd/watch.js';
import { EtcdError, type EtcdTls } from '../etcd/wire.js';
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
  type OrderErrorCode,
  type OrderedBatch,
  type OrderHealth,
  OtherProtocol,
  type Position,
  parseJsonOrUndefined,
  UnreadableBatch,
} from './order.js';

/** How long one member may take, in milliseconds, before the next one is asked. */
const PATIENCE = { connectMs: 1_000, callMs: 2_000 } as const;
/** Nodes that are alive repair the founding each second. */
const FOUNDING = { looks: 4, everyMs: 1_000 } as const;
/** Values that were reported; beyond, they may be reported again. */
const MOST_REPORTED = 1_000;

interface EtcdOrderOptions {
  /** As `parseEndpoints` gives them. */
  endpoints: readonly string[];
  tls?: EtcdTls;
  networkId: string;
  /** Reports values in etcd that no node has written. */
  tell?: (line: string) => void;
}

/** What a node's own key holds: the process that has its name, and the number of its last batch. */
const HOLDER = /^[^:]{1,64}:\d{1,16}$/;

export class EtcdOrder implements Order {
  readonly client: EtcdClient;
  readonly #prefix: string;
  readonly #parts: Parts;
  readonly #appended = new AppendedParts();
  readonly #tell: (line: string) => void;
  /** The value that the network was begun with, once that is known. */
  #founding: string | null = null;
  /** Revisions of unreadable values that were reported, by their keys. */
  readonly #reported = new Map<string, number>();

  constructor({ endpoints, tls, networkId, tell = () => {} }: EtcdOrderOptions) {
    this.#tell = tell;
    this.client = new EtcdClient({ endpoints, ...(tls ? { tls } : {}), ...PATIENCE });
    this.#prefix = `folkmoot/network/${networkId}/`;
    this.#parts = new Parts(this.client, this.#prefix);
  }

  /** Ends what is under way. */
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
      if (look === FOUNDING.looks) throw unreadableFounding(key, read.problem);
      await sleep(FOUNDING.everyMs);
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
      throw new OrderError('UNAVAILABLE', 'parts of a batch were cleared away before it stood');
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
      // The next append repairs a key that holds what no node writes.
      const isOurs = holder.startsWith(`${incarnation}:`) || !HOLDER.test(holder);
      if (!succeeded || !isOurs) throw fenced(node);
      await this.#repairFounding(valuesIn(results[3])[0]);
      return positionIn(valuesIn(results[1])[0] ?? null);
    });
  }

  async cards(): Promise<Card[]> {
    return (await this.allCards()).cards;
  }

  /** The cards of nodes, and the values among them that are not cards. */
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

  /** Its card is gone, and nothing is kept for it; a process of that name is fenced. */
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

  /** A bad card is skipped, and reported once. */
  #cardIn(stored: KeyValue): Card | BadCard {
    const node = stored.key.slice(this.#key('card/').length);
    const read = readAs<Card>(cardProblem, stored.value.toString());
    if ('value' in read && read.value.node === node) return read.value;
    const problem = 'value' in read ? `it is the card of ${read.value.node}` : read.problem;
    const advice = '`folkmoot cluster forget` deletes it';
    this.#report(stored, `it is not the card of a node: ${problem}; it is skipped; ${advice}`);
    return { node, problem };
  }

  #report({ key, modRevision }: KeyValue, problem: string): void {
    if (this.#reported.get(key) === modRevision) return;
    if (this.#reported.size >= MOST_REPORTED) this.#reported.clear();
    this.#reported.set(key, modRevision);
    this.#tell(`unreadable value in etcd at ${key}, revision ${modRevision}: ${problem}`);
  }

  /**
   * Takes the own name back where another program has written over it. Whether the batch was put
   * before that is not known: it is put again, and a request that comes twice is a repeat.
   */
  async #retake(found: KeyValue, before: string): Promise<never> {
    const { key, modRevision } = found;
    this.#report(found, 'it does not name a process of the node; this node writes it anew');
    const holds = [{ key, is: '=', modRevision } as const];
    await this.client.transact({ if: holds, do: [{ put: key, value: before }] });
    throw new OrderError('UNAVAILABLE', `another program has written over ${key}`);
  }

  async #repairFounding(found: KeyValue | undefined): Promise<void> {
    if (!found || this.#founding === null) return;
    const { key, value, modRevision } = found;
    if (value.toString() === this.#founding) return;
    const read = readAs<Founding>(foundingProblem, value.toString());
    if (!('problem' in read)) return;
    this.#report(found, `it is not what a network is begun with: ${read.problem}; it is restored`);
    const holds = [{ key, is: '=', modRevision } as const];
    await this.client.transact({ if: holds, do: [{ put: key, value: this.#founding }] });
  }

  async #batchOf(event: WatchEvent): Promise<OrderedBatch> {
    const { type, value, version, modRevision } = event;
    if (type === 'delete') {
      throw new OrderError(
        'FOREIGN',
        `another program has deleted the order in etcd: ${event.key}`,
      );
    }
    const position = { version, revision: modRevision };
    const own = this.#appended.take(value);
    if (own) return { ...own, position };
    try {
      return { ...decodeBatch(await this.#parts.together(value, modRevision)), position };
    } catch (error) {
      const isForged =
        error instanceof OtherProtocol && !(await this.isAppended({ ...error.by, position }));
      if (!isForged && !(error instanceof UnreadableBatch)) throw error;
      return { ...NOTHING, position, unreadable: (error as Error).message };
    }
  }

  async #ask<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof EtcdError)) throw error;
      throw new OrderError(codes[error.kind], error.message, { cause: error });
    }
  }
}

/** What all nodes apply in place of an unreadable batch: no request, and no time passes. */
const NOTHING: Omit<OrderedBatch, 'position'> = {
  node: '',
  incarnation: '',
  k: 0,
  stamp: 0,
  witness: { seq: 0, digest: '' },
  inputs: [],
};

/** A value of etcd as its schema has it, or what is wrong with it. */
function readAs<T>(check: ReturnType<typeof validator>, text: string): Read<T> {
  const value = parseJsonOrUndefined(text);
  if (value === undefined) return { problem: 'it is not JSON' };
  const problem = check(value);
  if (problem) return { problem: `${problem.pointer} ${problem.message}`.trim() };
  return { value: value as T };
}

type Read<T> = { value: T } | { problem: string };

const cardProblem = validator('cluster_card', Card);
const foundingProblem = validator('cluster_founding', Founding);

function unreadableFounding(key: string, problem: string): OrderError {
  const what = `the founding of the network in etcd, ${key}, is unreadable: ${problem}`;
  const advice = 'a node that runs restores it within a second; else restore etcd from a copy';
  return new OrderError('FOREIGN', `${what}; ${advice}`);
}

const codes: Record<EtcdError['kind'], OrderErrorCode> = {
  unavailable: 'UNAVAILABLE',
  out_of_space: 'FULL',
  too_large: 'FOREIGN',
  compacted: 'TRIMMED',
  no_lease: 'FOREIGN',
  refused: 'FOREIGN',
};

const fenced = (node: string): OrderError =>
  new OrderError('FENCED', `another process has taken the name ${node}, or it was forgotten`);

/** What a `get` of a transaction found. */
const valuesIn = (result: OperationResult | undefined): KeyValue[] =>
  result && 'values' in result ? result.values : [];

/** Of one key; empty where it is not there. */
const valueIn = (result: OperationResult | undefined): Buffer =>
  valuesIn(result)[0]?.value ?? Buffer.alloc(0);

/** Where the order ends, by its key. */
const positionIn = (found: KeyValue | null): Position =>
  found ? { version: found.version, revision: found.modRevision } : { version: 0, revision: 0 };

/*
 * Batches that are larger than etcd takes at a time: they are put aside in parts, and the batch in
 * the order refers to these. A key beside them is written with the batch, and so has its revision.
 */

/** Etcd refuses more than 1.5 MiB. */
const PART_BYTES = 1024 * 1024;
/** In place of the length of a batch's head: what follows says where its parts are. */
const IN_PARTS = Buffer.from('ffffffff', 'hex');

/** Where the parts of a batch are; the largest batch has a few. */
const Reference = Type.Object({
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  parts: Type.Integer({ minimum: 1, maximum: 64 }),
});
const referenceProblem = validator('order_parts', Reference);

/** A value for the order, and what must hold, and be written, where it is put. */
interface PutAside {
  value: Buffer;
  holds: Condition[];
  refer: Operation[];
}

class Parts {
  readonly #client: EtcdClient;
  readonly #prefix: string;

  constructor(client: EtcdClient, prefix: string) {
    this.#client = client;
    this.#prefix = prefix;
  }

  /** Parts go first; the same again is the same. */
  async putAside(bytes: Buffer): Promise<PutAside> {
    if (bytes.length <= PART_BYTES) return { value: bytes, holds: [], refer: [] };
    const sha256 = sha256Hex(bytes);
    const holds: Condition[] = [];
    for (let from = 0; from < bytes.length; from += PART_BYTES) {
      const key = this.#partKey(sha256, holds.length);
      const modRevision = await this.#client.put(key, bytes.subarray(from, from + PART_BYTES));
      // Where the batch is put, its parts are as they were put: all nodes read them as of then.
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
   * The bytes of the batch that a value of the order is or refers to, as of its revision: they are
   * the same at every node, whatever is written to the keys of its parts later.
   *
   * @throws {UnreadableBatch}
   * @throws {EtcdError} `compacted` where that revision is not kept any more.
   */
  async together(value: Buffer, revision: number): Promise<Buffer> {
    if (!IN_PARTS.equals(value.subarray(0, IN_PARTS.length))) return value;
    const reference = parseJsonOrUndefined(value.toString('utf8', IN_PARTS.length));
    if (referenceProblem(reference)) {
      throw new UnreadableBatch('it does not say where its parts are');
    }
    const { sha256, parts } = reference as Static<typeof Reference>;
    const found: Buffer[] = [];
    for (let part = 0; part < parts; part += 1) {
      const [stored] = (await this.#client.range(this.#partKey(sha256, part), { revision })).values;
      if (!stored) throw new UnreadableBatch(`its part ${part} was not there when it was written`);
      found.push(stored.value);
    }
    const bytes = Buffer.concat(found);
    if (sha256Hex(bytes) === sha256) return bytes;
    throw new UnreadableBatch('its parts are not those that were put aside');
  }

  /** Deletes the parts of batches up to a revision, and those that no batch came to refer to. */
  async clear(revision: number): Promise<void> {
    const { values } = await this.#client.range(this.#partsOf(''), { keysOnly: true });
    const hashes = new Set(values.map(({ key }) => key.split('/').at(-2)!));
    for (const sha256 of hashes) {
      const ref = this.#refKey(sha256);
      const found = await this.#client.get(ref);
      if (found && found.modRevision > revision) continue;
      // A batch may come to refer to them meanwhile.
      await this.#client.transact({
        if: [{ key: ref, is: '=', modRevision: found?.modRevision ?? 0 }],
        do: [{ delete: this.#partsOf(`${sha256}/`) }, { delete: ref }],
      });
    }
  }

  #partsOf(sha256: string): { prefix: string } {
    return { prefix: `${this.#prefix}part/${sha256}` };
  }

  #partKey(sha256: string, part: number): string {
    return `${this.#prefix}part/${sha256}/${part}`;
  }

  #refKey(sha256: string): string {
    return `${this.#prefix}parted/${sha256}`;
  }
}
