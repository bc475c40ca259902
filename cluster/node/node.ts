/**
 * This process's part of a network that several nodes keep: it takes batches out of the order,
 * applies each to its own network in one turn, and appends what clients request here. It also tells
 * the limits what agents have spent at other nodes.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { admit } from '../../engine/admit/admit.js';
import type { Verified } from '../../engine/admit/verify.js';
import type { Spent } from '../../engine/node/kept-network.js';
import type { Network } from '../../engine/node/network.js';
import type { Applied } from '../../engine/node/open-store.js';
import { type Refusal, refuse } from '../../engine/protocol/schema/reason.js';
import { type OrderMark, StoreError } from '../../engine/store/store.js';
import {
  type Batch,
  type Card,
  countBytes,
  type Input,
  type Order,
  OrderError,
  type OrderedBatch,
} from '../order/order.js';
import { Appender, type AppendRequest, type AppendResult } from './appender.js';
import { bounds } from './bounds.js';
import { Follower } from './follower.js';
import { ClockOffsets, FailureDetector, Members, NodeTime } from './members.js';
import { Ticker, Trimmer } from './ticker.js';

export interface NodeOptions {
  order: Order;
  /** This node's name: no other process may have it. */
  node: string;
  /** Verifies what other nodes let in as well. */
  verifyAll?: boolean;
  /** Of this program, for its card. */
  version?: string;
  /** The wall clock, milliseconds since 1970; default: the system's. */
  wall?: () => number;
  /** What whoever runs the node should know. */
  warn?: (message: string) => void;
  /** Called once when it cannot go on. */
  onFatal: (error: Error) => void;
}

/** The clock of a network whose time comes by an order. */
interface OrderClock {
  time: number;
}

export class ClusterNode {
  readonly incarnation = randomUUID();
  /** Where clients find this node, for its card; empty where nobody said. */
  url = '';
  /** What agents spend of their quotas at other nodes. */
  readonly spendings: RemoteUsage;
  /** Where its peers find it; empty where it gives them nothing. */
  peer = '';
  readonly #options: NodeOptions;
  readonly #inner: Network;
  readonly #clock: OrderClock;
  readonly #wall: () => number;
  readonly #warn: (message: string) => void;
  readonly #time: NodeTime;
  readonly #began: number;
  readonly #offsets: ClockOffsets;
  readonly #contact = new FailureDetector();
  readonly #members: Members;
  readonly #appender: Appender;
  readonly #ticker: Ticker;
  readonly #trimmer: Trimmer;
  #follower: Follower | null = null;
  /** What was applied last. */
  #mark: OrderMark;
  /** Where the order ended when this node began: what comes later is news. */
  #begin = 0;
  #warnedAt = Number.NEGATIVE_INFINITY;
  #closed = false;

  /** Over a network that was opened at its mark, with this clock. */
  constructor(inner: Network, clock: OrderClock, options: NodeOptions) {
    const { order, node, wall = Date.now, warn = () => {} } = options;
    this.#options = options;
    this.#inner = inner;
    this.#clock = clock;
    this.#wall = wall;
    this.#warn = warn;
    this.#began = wall();
    this.#mark = inner.read.position.order!;
    this.#time = new NodeTime(wall, this.#mark.time);
    this.#offsets = new ClockOffsets(wall);
    this.spendings = new RemoteUsage(() => this.#time.now());
    const failed = (error: Error) => this.#fail(error);
    this.#members = new Members({
      order,
      node,
      offsets: this.#offsets,
      card: () => this.card(),
      heard: () => this.#contact.heard(),
      applied: () => this.#mark.version,
      ends: (head, applied) => this.#compare(head.version, applied),
      failed,
    });
    this.#appender = new Appender({
      order,
      node,
      incarnation: this.incarnation,
      now: () => this.#now(),
      cutOffMs: () => this.#contact.cutOffMs(),
      heard: () => this.#contact.heard(),
      full: () => this.#trimmer.trim(),
      failed,
    });
    this.#ticker = new Ticker({
      node,
      alive: () => this.#members.alive(),
      now: () => this.#time.now(),
      deadline: () => (this.#clockProblem() ? null : inner.nextDeadline()),
      tick: () => this.#appender.ask(null),
    });
    this.#trimmer = new Trimmer({
      order,
      node,
      alive: () => this.#members.alive(),
      warn,
    });
  }

  /**
   * Resolves when it has the name, and all is applied that stood in the order when it began.
   *
   * @throws {OrderError} when the order is not to be had.
   * @throws {StoreError} `OTHER_NETWORK` when the folder is ahead of the order.
   */
  async begin(): Promise<void> {
    const { order, node } = this.#options;
    const { version } = await order.head();
    this.#assertNotAhead(version);
    this.#begin = version;
    await order.join(node, this.incarnation);
    this.#follower = new Follower({
      order,
      position: () => this.#mark,
      prepare: (batch) => this.#prepare(batch),
      warn: this.#warn,
      failed: (error) => this.#fail(error),
    });
    await this.#members.greet();
    while (this.#mark.version < this.#begin && !this.#closed) await sleep(bounds.roomMs);
    this.#ticker.set();
  }

  /** Requests that wait for the order. */
  get pending(): number {
    return this.#appender.pending;
  }

  /** The other nodes that were heard of a moment ago. */
  alive(): string[] {
    return this.#members.alive();
  }

  /** For how many ms the order was not heard of; 0 as long as that is usual. */
  cutOffMs(): number {
    return this.#contact.cutOffMs();
  }

  /** Why no request is taken now, or null. */
  unable(): Refusal | null {
    const outcome = this.#inner.unable();
    if (outcome?.result === 'refused') return outcome.refusal;
    return this.#clockProblem() ?? this.#appender.unable();
  }

  /** Asks for a request's place in the order, or, of null, for a barrier. */
  async ask(wanted: AppendRequest | null): Promise<AppendResult> {
    const refusal = wanted ? this.unable() : null;
    return refusal ? { refusal } : this.#appender.ask(wanted);
  }

  /** Nothing more is asked or applied; whoever waits is told. */
  close(): void {
    this.#closed = true;
    this.#ticker.close();
    this.#members.close();
    this.#follower?.close();
    this.#appender.close();
  }

  /** Time and witness of a batch that is made now; a clock that is off moves nothing. */
  #now(): Pick<Batch, 'stamp' | 'witness'> {
    const { seq, digest } = this.#inner.read.position;
    const stamp = this.#clockProblem() ? 0 : this.#time.now();
    return { stamp, witness: { seq, digest } };
  }

  /** What it tells of itself: of the order, how much it needs no more. */
  card(): Card {
    const { node, version = '' } = this.#options;
    const { url, peer } = this;
    const { seq, event_seq, digest, order } = this.#inner.read.stored;
    const position = { version: order!.version, revision: order!.revision };
    const times = { began: this.#began, wall: this.#wall() };
    const { incarnation } = this;
    const place = { position, seq, event_seq, digest };
    return { node, incarnation, ...times, ...place, url, peer, version };
  }

  async #prepare(batch: OrderedBatch): Promise<() => void> {
    if (batch.unreadable !== undefined) {
      const why = `${batch.unreadable}; every node skips it`;
      this.#warn(`batch ${batch.position.version} of the order is unreadable: ${why}`);
    }
    const own = this.#appender.requestsOf(batch);
    const requests = own
      ? own.map((verified, index) => ({ verified, input: batch.inputs[index]! }))
      : await readRequests(batch, this.#inner, {
          verifyAll: this.#options.verifyAll === true,
          skip: this.#warn,
        });
    // A batch is applied whole: what would refuse a request is waited for.
    while (!this.#closed && this.#inner.unable()) await sleep(bounds.roomMs);
    return () => this.#apply(batch, requests, own !== undefined);
  }

  /** In one turn: whatever reads the network sees all of a batch, or nothing. */
  #apply(batch: OrderedBatch, requests: readonly ReadRequest[], isOwn: boolean): void {
    if (this.#closed) return;
    const { log } = this.#mark;
    const time = Math.max(this.#mark.time, batch.stamp);
    this.#mark = { log, ...batch.position, time };
    this.#clock.time = time;
    const verified = requests.map((one) => one.verified);
    const applied = this.#inner.applyOrdered(verified, this.#mark);
    this.#time.came(time);
    this.#contact.came();
    const told = isOwn ? this.#appender.came(batch.k, applied) : [];
    const isNews = batch.position.version > this.#begin && batch.unreadable === undefined;
    if (!isOwn && isNews) this.#check(batch);
    for (const [index, { input, verified: request }] of requests.entries()) {
      if (told[index]) continue;
      const { spender } = input;
      this.spendings.came({ verified: request, spender }, applied[index]!, time);
    }
    this.#ticker.set();
    const bytes = batch.inputs.reduce((sum, input) => sum + countBytes(input), 0);
    this.#trimmer.came(batch.position, bytes);
  }

  /** Digests are chains: the same one at an entry means the same all the way. */
  #check(batch: OrderedBatch): void {
    const { node, position, witness } = batch;
    const { seq, digest } = witness;
    const { read, durable } = this.#inner;
    // Where all are idle it stood where this node does: that spares a look into the store.
    if (read.position.seq === seq && read.position.digest === digest) return;
    const compare = async () => {
      const own = read.log.entry(seq)?.digest ?? 'none';
      if (own === digest || this.#closed) return;
      const parts = `at entry ${seq} node ${node} has the digest ${digest}, this one ${own}`;
      if (!(await this.#options.order.isAppended(batch))) {
        const by = `batch ${position.version} says that it is of node ${node}, and is not`;
        return this.#warn(`${by}: another program writes to etcd; it says that ${parts}`);
      }
      const advice = '`folkmoot replay` tells which folder is damaged: begin that node anew';
      this.#fail(new Error(`nodes have parted: ${parts}; ${advice}`));
    };
    // What it refers to is applied here; it is read where it is stored.
    durable.then(compare).catch(() => {});
  }

  /** What was applied when the order was asked for its end: more may have come meanwhile. */
  #compare(head: number, applied: number): void {
    if (head < applied) return this.#fail(this.#isAhead(head));
    if (this.#contact.compared(head, this.#mark.version)) this.#follower?.restart();
  }

  #assertNotAhead(head: number): void {
    if (head < this.#mark.version) throw this.#isAhead(head);
  }

  #isAhead(head: number): StoreError {
    return new StoreError('ORDER_BEHIND', { head, applied: this.#mark.version });
  }

  #clockProblem(): Refusal | null {
    const ahead = this.#offsets.ahead();
    const off = Math.abs(ahead);
    if (off < bounds.clockWarnMs) return null;
    const text = `this node's clock is ${off} ms ${ahead > 0 ? 'ahead of' : 'behind'} the others'`;
    if (performance.now() - this.#warnedAt > bounds.clockWindowMs) {
      this.#warnedAt = performance.now();
      this.#warn(`${text}; at ${bounds.clockMostMs} ms it takes no writes`);
    }
    return off < bounds.clockMostMs ? null : refuse('CLOCK', `${text}; ask another node`);
  }

  #fail(error: Error): void {
    if (this.#closed) return;
    this.close();
    this.#options.onFatal(error);
  }
}

/** A request of a batch, and what the batch says of it. */
interface ReadRequest {
  input: Input;
  verified: Verified;
}

/**
 * They are taken as verified, since the node that let them in has done that; or verified again. A
 * request that no node lets in is skipped: all nodes have the same bytes, and so all skip it.
 *
 * @param skip reports one.
 * @throws {OrderError} `FOREIGN` for a signature that does not hold, which other nodes have not
 *   verified.
 */
async function readRequests(
  { node, position, inputs }: OrderedBatch,
  network: Pick<Network, 'genesis' | 'verification'>,
  { verifyAll, skip }: { verifyAll: boolean; skip: (why: string) => void },
): Promise<ReadRequest[]> {
  const { genesis, verification } = network;
  const read = inputs.map(async (input, index): Promise<ReadRequest | null> => {
    const told = ({ reason, message }: Refusal) =>
      `request ${index} of batch ${position.version}, by node ${node}: ${reason}, ${message}`;
    const { request, failedTransaction } = input;
    const admitted = admit(request, genesis.network_id);
    if ('refusal' in admitted) {
      skip(`${told(admitted.refusal)}; every node skips it`);
      return null;
    }
    if (!verifyAll) {
      return { input, verified: verification.elsewhere(admitted, failedTransaction) };
    }
    const verified = await verification.all(admitted);
    if (!('refusal' in verified)) return { input, verified };
    const expected = 'expected: the same version, and signatures that hold';
    throw new OrderError('FOREIGN', `${told(verified.refusal)}; ${expected}`);
  });
  return (await Promise.all(read)).filter((one) => one !== null);
}

/*
 * What agents spend at other nodes of what each may do in a time: told to whoever counts it here.
 * It decides at the door what is asked of the order, and never what is applied.
 */

/** When it was done, by the network's time. */
type Dated = Omit<Spent, 'ageMs'> & { at: number };

class RemoteUsage {
  readonly #now: () => number;
  readonly #listeners = new Set<(spent: Spent) => void>();
  /** Until somebody listens: the latest of what is read when a node begins. */
  #unheard: Dated[] | null = [];

  /** `now`: the network's time, milliseconds since 1970. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** The first listener is told what came before it. */
  listen(listener: (spent: Spent) => void): void {
    this.#listeners.add(listener);
    for (const dated of this.#unheard ?? []) this.#tell(dated);
    this.#unheard = null;
  }

  /** A request of a batch was applied at `at`; who let it in counts it as well. */
  came({ verified, spender }: AppendRequest, { outcome }: Applied, at: number): void {
    const { request, command, signature } = verified;
    const { kind, public_key: publicKey } = command;
    const bytes = request.body.length + (request.file?.length ?? 0);
    const dated = { kind, publicKey, signature, bytes, spender, outcome, at };
    if (!this.#unheard) return this.#tell(dated);
    this.#unheard.push(dated);
    const { unheardSpendings } = bounds;
    if (this.#unheard.length > 2 * unheardSpendings) this.#unheard.splice(0, unheardSpendings);
  }

  #tell({ at, ...spent }: Dated): void {
    const ageMs = Math.max(0, this.#now() - at);
    for (const listener of this.#listeners) listener({ ...spent, ageMs });
  }
}
