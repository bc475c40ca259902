/**
 * An order in etcd: one key, whose value is the last batch. Etcd counts its versions without gaps,
 * so a version is the number of a batch and its revision the place to go on from. A batch is put
 * only where the node's own key says that the one before it was that node's last: once, however
 * often it is tried, and by one process of a name.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Static, type TSchema, validator } from '../../engine/internal.js';
import {
  EtcdClient,
  EtcdError,
  type EtcdTls,
  type KeyValue,
  type OperationResult,
  type WatchEvent,
} from '../etcd/index.js';
import { Appended } from './appended.js';
import { decodeBatch, encodeBatch, jsonIn, OtherProtocol, UnreadableBatch } from './encode.js';
import {
  type BadCard,
  type Batch,
  Card,
  Founding,
  type Named,
  type Order,
  OrderError,
  type OrderErrorCode,
  type OrderedBatch,
  type OrderHealth,
  type Position,
} from './order.js';
import { Parts } from './parts.js';

/** How long one member may take, in milliseconds, before the next one is asked. */
const PATIENCE = { connectMs: 1_000, callMs: 2_000 } as const;
/** Nodes that are alive repair the founding each second. */
const FOUNDING = { looks: 4, everyMs: 1_000 } as const;
/** Values that were reported; beyond, they may be reported again. */
const MOST_REPORTED = 1_000;

interface EtcdOrderOptions {
  /** As `endpointsOf` gives them. */
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
  readonly #appended = new Appended();
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
      const read = readAs(Founding, stored);
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

  async isAppended({ node, incarnation, k, position }: Named): Promise<boolean> {
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
    const read = readAs(Card, stored.value.toString());
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
    const read = readAs(Founding, value.toString());
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
function readAs<T extends TSchema>(schema: T, text: string): Read<T> {
  const value = jsonIn(text);
  if (value === undefined) return { problem: 'it is not JSON' };
  const problem = validator(schema)(value);
  if (problem) return { problem: `${problem.pointer} ${problem.message}`.trim() };
  return { value: value as Static<T> };
}

type Read<T extends TSchema> = { value: Static<T> } | { problem: string };

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
