/**
 * An order in etcd: one key, whose value is the last batch. Etcd counts its versions without gaps,
 * so a version is the number of a batch and its revision the place to go on from. A batch is put
 * only where the node's own key says that the one before it was that node's last: once, however
 * often it is tried, and by one process of a name.
 */
import {
  EtcdClient,
  EtcdError,
  type EtcdTls,
  type KeyValue,
  type OperationResult,
  type WatchEvent,
} from '../etcd/index.js';
import { Appended } from './appended.js';
import { decodeBatch, encodeBatch } from './encode.js';
import {
  type Batch,
  type Card,
  type Founding,
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
interface EtcdOrderOptions {
  /** As `endpointsOf` gives them. */
  endpoints: readonly string[];
  tls?: EtcdTls;
  networkId: string;
}

export class EtcdOrder implements Order {
  readonly client: EtcdClient;
  readonly #prefix: string;
  readonly #parts: Parts;
  readonly #appended = new Appended();

  constructor({ endpoints, tls, networkId }: EtcdOrderOptions) {
    this.client = new EtcdClient({ endpoints, ...(tls ? { tls } : {}), ...PATIENCE });
    this.#prefix = `folkmoot/network/${networkId}/`;
    this.#parts = new Parts(this.client, this.#prefix);
  }

  /** Ends what is under way. */
  close(): void {
    this.client.close();
  }

  found(mine: Founding): Promise<Founding> {
    const key = this.#key('founding');
    return this.#ask(async () => {
      const { succeeded, results } = await this.client.transact({
        if: [{ key, is: '=', version: 0 }],
        do: [{ put: key, value: JSON.stringify(mine) }],
        otherwise: [{ get: key }],
      });
      return succeeded ? mine : (JSON.parse(valueIn(results[0]).toString()) as Founding);
    });
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
      const last = succeeded ? after : valueIn(results[0]).toString();
      if (last === after) return;
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
        ],
      });
      const isOurs = valueIn(results[2]).toString().startsWith(`${incarnation}:`);
      if (!succeeded || !isOurs) throw fenced(node);
      return positionIn(valuesIn(results[1])[0] ?? null);
    });
  }

  cards(): Promise<Card[]> {
    return this.#ask(async () => {
      const { values } = await this.client.range({ prefix: this.#key('card/') });
      return values.map(({ value }) => JSON.parse(value.toString()) as Card);
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
        for (const { type, value } of events) {
          if (type === 'put') tell(JSON.parse(value.toString()) as Card);
        }
      }
    });
  }

  #key(name: string): string {
    return this.#prefix + name;
  }

  async #batchOf({ type, value, version, modRevision }: WatchEvent): Promise<OrderedBatch> {
    if (type === 'delete')
      throw new OrderError('FOREIGN', 'somebody has deleted the order in etcd');
    const batch = this.#appended.take(value) ?? decodeBatch(await this.#parts.together(value));
    return { ...batch, position: { version, revision: modRevision } };
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
