/**
 * A node in a network. Follows the order, applies each batch to its network in one event-loop turn,
 * and appends its clients' requests. Also passes on the agents' rate limit usage at other nodes.
 */

import { randomUUID } from 'node:crypto';
import { admitLogged } from '../../engine/admit/admit.js';
import type { Verified } from '../../engine/admit/verify.js';
import { assign, createActor, setup, waitFor } from '../../engine/core/bundled/xstate.js';
import type { Spent } from '../../engine/node/kept-network.js';
import type { Network } from '../../engine/node/network.js';
import type { Applied } from '../../engine/node/open-store.js';
import { assertInvariant } from '../../engine/protocol/invariants.js';
import { type Refusal, refuse } from '../../engine/protocol/schema/reason.js';
import { type HostClock, hostClock, sleep } from '../../engine/store/host-clock.js';
import { defineStoreErrors, type StoreError } from '../../engine/store/messages.js';
import type { OrderMark } from '../../engine/store/store.js';
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

/** Errors of a node's folder. */
export const nodeFolderError = defineStoreErrors({
  OTHER_NETWORK: {
    ORDER_BEHIND: `the order ends at batch {head}, but this node has applied batch {applied};
      find out why the order was cleared or restored; this node writes nothing`,
    MODULE_NOT_ALLOWED: `network {network} decides with a module, and this node does not allow
      modules; provide the text of the rule with --rule FILE`,
  },
});

export interface NodeOptions {
  order: Order;
  /** Unique name of this node. */
  node: string;
  /** Verifies even requests that other nodes have verified. */
  verifyAll?: boolean;
  /** Folkmoot version, for the card. */
  version?: string;
  /** Clock and timers of the node's machine. Default: this machine. */
  host?: HostClock;
  /** Draws a random id. Default: a UUID. */
  newId?: () => string;
  warn?: (message: string) => void;
  /** Called once when the node has failed. */
  onFatal: (error: Error) => void;
}

/** Clock for a network whose time is set by the order. */
interface OrderClock {
  time: number;
}

const states = setup({
  types: {
    context: {} as { head: number },
    events: {} as
      | { type: 'joined'; head: number }
      | { type: 'applied'; version: number }
      | { type: 'close' },
  },
});

/**
 * States of a node. A joining node takes its name. A node that catches up applies the batches that
 * the order contained at the start. A following node also checks the witnesses in later batches.
 */
const nodeMachine = states.createMachine({
  id: 'node',
  context: { head: 0 },
  initial: 'joining',
  states: {
    joining: {
      on: {
        joined: {
          target: 'catchingUp',
          actions: assign({ head: ({ event }) => event.head }),
        },
      },
    },
    catchingUp: {
      on: {
        applied: {
          target: 'following',
          guard: ({ context, event }) => event.version >= context.head,
        },
      },
    },
    following: {},
    closed: {},
  },
  on: { close: { target: '.closed' } },
});

type NodeState = 'joining' | 'catchingUp' | 'following' | 'closed';

export class ClusterNode {
  readonly incarnation: string;
  /** URL for clients, for the card; empty if unknown. */
  url = '';
  /** Rate limit usage at other nodes. */
  readonly spendings: RemoteUsage;
  /** URL for peers; empty if the node serves no snapshots. */
  peer = '';
  readonly #options: NodeOptions;
  readonly #inner: Network;
  readonly #clock: OrderClock;
  readonly #host: HostClock;
  readonly #warn: (message: string) => void;
  readonly #time: NodeTime;
  readonly #began: number;
  readonly #offsets: ClockOffsets;
  readonly #contact: FailureDetector;
  readonly #members: Members;
  readonly #appender: Appender;
  readonly #ticker: Ticker;
  readonly #trimmer: Trimmer;
  #follower: Follower | null = null;
  readonly #states = createActor(nodeMachine).start();
  #mark: OrderMark;
  #warnedAt = Number.NEGATIVE_INFINITY;

  /** @param inner a network opened at its mark, with `clock`. */
  constructor(inner: Network, clock: OrderClock, options: NodeOptions) {
    const { order, node, host = hostClock, newId = randomUUID, warn = () => {} } = options;
    this.incarnation = newId();
    this.#options = options;
    this.#inner = inner;
    this.#clock = clock;
    this.#host = host;
    this.#contact = new FailureDetector(host);
    this.#warn = warn;
    this.#began = host.now();
    this.#mark = inner.read.position.order!;
    this.#time = new NodeTime(host, this.#mark.time);
    this.#offsets = new ClockOffsets(host);
    this.spendings = new RemoteUsage(() => this.#time.now());
    const failed = (error: Error) => this.#fail(error);
    this.#members = new Members({
      host,
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
      host,
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
      host,
      node,
      alive: () => this.#members.alive(),
      now: () => this.#time.now(),
      deadline: () => inner.nextDeadline(),
      // The clock may be right before the next batch, so the node looks again.
      tick: () => (this.#refuseClock() ? sleep(host, bounds.cardMs) : this.#appender.ask(null)),
    });
    this.#trimmer = new Trimmer({
      order,
      node,
      alive: () => this.#members.alive(),
      warn,
    });
  }

  /**
   * Takes the node name. Resolves once the batches that the order contained at the start are
   * applied.
   *
   * @throws {OrderError} if the order is unavailable.
   * @throws {StoreError} `OTHER_NETWORK` if the folder is ahead of the order.
   */
  async begin(): Promise<void> {
    const { order, node } = this.#options;
    const { version } = await order.head();
    this.#assertNotAhead(version);
    await order.join(node, this.incarnation);
    this.#states.send({ type: 'joined', head: version });
    this.#states.send({ type: 'applied', version: this.#mark.version });
    this.#follower = new Follower({
      host: this.#host,
      order,
      position: () => this.#mark,
      prepare: (batch) => this.#prepare(batch),
      warn: this.#warn,
      failed: (error) => this.#fail(error),
    });
    await this.#members.greet();
    await waitFor(this.#states, (now) => !now.matches('catchingUp'));
    this.#ticker.begin();
  }

  get pending(): number {
    return this.#appender.pending;
  }

  /** Returns the other nodes that announced a card recently. */
  alive(): string[] {
    return this.#members.alive();
  }

  /** Returns the milliseconds without contact with the order; 0 in normal operation. */
  cutOffMs(): number {
    return this.#contact.cutOffMs();
  }

  /** Returns the refusal that any request would get now, or null. */
  unable(): Refusal | null {
    const outcome = this.#inner.unable();
    if (outcome?.result === 'refused') return outcome.refusal;
    return this.#refuseClock() ?? this.#appender.unable();
  }

  /** Appends a request, or a barrier if `wanted` is null. */
  async ask(wanted: AppendRequest | null): Promise<AppendResult> {
    const refusal = wanted ? this.unable() : null;
    return refusal ? { refusal } : this.#appender.ask(wanted);
  }

  /** Stops all work and refuses the waiting requests. */
  close(): void {
    this.#states.send({ type: 'close' });
    this.#ticker.close();
    this.#members.close();
    this.#follower?.close();
    this.#appender.close();
  }

  /**
   * Returns the time and witness for a new batch. If this node's clock is wrong, the stamp is 0 and
   * does not advance time.
   */
  #now(): Pick<Batch, 'stamp' | 'witness'> {
    const { seq, digest } = this.#inner.read.position;
    const stamp = this.#refuseClock() ? 0 : this.#time.now();
    return { stamp, witness: { seq, digest } };
  }

  /** Returns this node's card. The other nodes keep the order from the card's position on. */
  card(): Card {
    const { node, version = '' } = this.#options;
    const { url, peer } = this;
    const { seq, event_seq, digest, order } = this.#inner.read.stored;
    const position = { version: order!.version, revision: order!.revision };
    const times = { began: this.#began, wall: this.#host.now() };
    const { incarnation } = this;
    const place = { position, seq, event_seq, digest };
    return { node, incarnation, ...times, ...place, url, peer, version };
  }

  async #prepare(batch: OrderedBatch): Promise<() => void> {
    if (batch.unreadable !== undefined) {
      const which = `batch ${batch.position.version} of the order`;
      this.#warn(`${which} is unreadable and skipped by all nodes: ${batch.unreadable}`);
    }
    const own = this.#appender.requestsOf(batch);
    const requests = own
      ? own.map((verified, index) => ({ verified, input: batch.inputs[index]! }))
      : await readRequests(batch, this.#inner, {
          verifyAll: this.#options.verifyAll === true,
          skip: this.#warn,
        });
    // A batch must be applied as a whole, so the node waits until no request would be refused.
    while (!this.#is('closed') && this.#inner.unable()) await sleep(this.#host, bounds.roomMs);
    return () => this.#apply(batch, requests, own !== undefined);
  }

  /** Applies a batch in one event-loop turn, so that readers see the whole batch or nothing. */
  #apply(batch: OrderedBatch, requests: readonly ReadRequest[], isOwn: boolean): void {
    if (this.#is('closed')) return;
    const { log, version, revision } = this.#mark;
    const { position } = batch;
    assertInvariant(position.version === version + 1, 'ORDER_POSITION', position.version, version);
    assertInvariant(position.revision > revision, 'ORDER_REVISION', position.revision, revision);
    const time = Math.max(this.#mark.time, batch.stamp);
    this.#mark = { log, ...position, time };
    this.#clock.time = time;
    const verified = requests.map((one) => one.verified);
    const applied = this.#inner.applyOrdered(verified, this.#mark);
    this.#time.came(time);
    this.#contact.came();
    const answered = isOwn ? this.#appender.came(batch.k, applied) : [];
    const isNews = this.#is('following') && batch.unreadable === undefined;
    if (!isOwn && isNews) this.#check(batch);
    this.#states.send({ type: 'applied', version: position.version });
    for (const [index, { input, verified: request }] of requests.entries()) {
      if (answered[index]) continue;
      const { spender } = input;
      this.spendings.came({ verified: request, spender }, applied[index]!, time);
    }
    this.#ticker.set();
    const bytes = batch.inputs.reduce((sum, input) => sum + countBytes(input), 0);
    this.#trimmer.came(batch.position, bytes);
  }

  /**
   * Compares a different node's witness with this node's log. Equal digests at an entry mean equal
   * logs up to that entry.
   */
  #check(batch: OrderedBatch): void {
    const { node, position, witness } = batch;
    const { seq, digest } = witness;
    const { read, durable } = this.#inner;
    // On an idle network, the witness is the current position, so comparing with that position
    // avoids a store read.
    if (read.position.seq === seq && read.position.digest === digest) return;
    const compare = async () => {
      const own = read.log.entry(seq)?.digest ?? 'none';
      if (own === digest || this.#is('closed')) return;
      const parts = `entry ${seq} has digest ${digest} at node ${node}, ${own} at this node`;
      if (!(await this.#options.order.isAppended(batch))) {
        const by = `forged batch ${position.version} in the name of node ${node}`;
        return this.#warn(`${by}, written to etcd by another program; it claims: ${parts}`);
      }
      const advice = 'find the damaged folder with `folkmoot replay` and replace it';
      this.#fail(new Error(`nodes have diverged: ${parts}; ${advice}`));
    };
    // The entry is applied, but may not yet be readable from the store.
    durable.then(compare).catch(() => {});
  }

  /**
   * @param applied last batch applied before the order was queried. Further batches may have
   *   arrived since.
   */
  #compare(head: number, applied: number): void {
    if (head < applied) return this.#fail(this.#isAhead(head));
    if (this.#contact.compared(head, this.#mark.version)) this.#follower?.restart();
  }

  #assertNotAhead(head: number): void {
    if (head < this.#mark.version) throw this.#isAhead(head);
  }

  #isAhead(head: number): StoreError {
    return nodeFolderError('ORDER_BEHIND', { head, applied: this.#mark.version });
  }

  #refuseClock(): Refusal | null {
    const ahead = this.#offsets.ahead();
    const off = Math.abs(ahead);
    if (off < bounds.clockWarnMs) return null;
    const side = ahead > 0 ? 'ahead of' : 'behind';
    if (this.#host.monotonic() - this.#warnedAt > bounds.clockWindowMs) {
      this.#warnedAt = this.#host.monotonic();
      const text = `this node's clock is ${off} ms ${side} the clocks of the other nodes`;
      this.#warn(`${text}; at ${bounds.clockMostMs} ms or more, it refuses writes`);
    }
    return off < bounds.clockMostMs ? null : refuse('NODE_CLOCK', { offset: off, side });
  }

  #is(state: NodeState): boolean {
    return this.#states.getSnapshot().value === state;
  }

  #fail(error: Error): void {
    if (this.#is('closed')) return;
    this.close();
    this.#options.onFatal(error);
  }
}

/** A request in a batch, as an input and verified. */
interface ReadRequest {
  input: Input;
  verified: Verified;
}

/**
 * Reads the requests in a batch. The node that admitted a request has verified it, so signatures
 * are verified again only with `verifyAll`. An inadmissible request is skipped. All nodes receive
 * the same bytes, so all nodes skip that request.
 *
 * @param skip reports a skipped request.
 * @throws {OrderError} `FOREIGN` for an invalid signature, which other nodes have not verified.
 */
async function readRequests(
  { node, position, inputs }: OrderedBatch,
  network: Pick<Network, 'genesis' | 'verification'>,
  { verifyAll, skip }: { verifyAll: boolean; skip: (why: string) => void },
): Promise<ReadRequest[]> {
  const { genesis, verification } = network;
  const read = inputs.map(async (input, index): Promise<ReadRequest | null> => {
    const which = `request ${index} of batch ${position.version}, by node ${node}`;
    const { request, failedTransaction } = input;
    const admitted = admitLogged(request, genesis.network_id);
    if ('refusal' in admitted) {
      skip(`${which} is invalid and skipped by all nodes: ${format(admitted.refusal)}`);
      return null;
    }
    if (!verifyAll) {
      return { input, verified: verification.elsewhere(admitted, failedTransaction) };
    }
    const verified = await verification.all(admitted);
    if (!('refusal' in verified)) return { input, verified };
    const reason = format(verified.refusal);
    throw new OrderError('REQUEST_UNVERIFIED', { request: which, reason });
  });
  return (await Promise.all(read)).filter((one) => one !== null);
}

const format = ({ reason, message }: Refusal) => `${reason}, ${message}`;

/*
 * Rate limit usage at other nodes, passed on to this node's limits. Usage affects only which
 * requests this node admits, never how the order is applied.
 */

/** Usage with its network time. */
type Dated = Omit<Spent, 'ageMs'> & { at: number };

class RemoteUsage {
  readonly #now: () => number;
  readonly #listeners = new Set<(spent: Spent) => void>();
  /** Most recent usage before the first listener is added; null afterwards. */
  #unheard: Dated[] | null = [];

  /** @param now network time, milliseconds since 1970. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Adds a listener. The first listener also receives the buffered usage. */
  listen(listener: (spent: Spent) => void): void {
    this.#listeners.add(listener);
    for (const dated of this.#unheard ?? []) this.#tell(dated);
    this.#unheard = null;
  }

  /**
   * Records that a request was applied at `at`. The node that admitted the request counts it
   * separately.
   */
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
