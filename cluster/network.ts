/**
 * A network with several nodes, as seen by a server, and its founding. The order of requests comes
 * from outside, and each node applies every request, so all nodes hold the same state. When a node
 * dies, no acknowledged entry is lost, because the order and the other nodes contain it.
 */

import { randomUUID } from 'node:crypto';
import type { Admitted } from '../engine/admit/admit.js';
import { completeGenesis, type GenesisOptions } from '../engine/admit/genesis.js';
import type { Verified } from '../engine/admit/verify.js';
import type { Outcome } from '../engine/core/state.js';
import type { ServedNetwork, Spent } from '../engine/node/kept-network.js';
import { Network } from '../engine/node/network.js';
import {
  type Applied,
  endProcess,
  formatParameter,
  type NetworkOptions,
} from '../engine/node/open-store.js';
import type { Refusal } from '../engine/protocol/schema/reason.js';
import { jcs } from '../engine/protocol/signing.js';
import { prepareRule } from '../engine/rules/sandbox.js';
import { hostClock } from '../engine/store/host-clock.js';
import { storeError } from '../engine/store/messages.js';
import type { OrderMark, StoreMeta } from '../engine/store/store.js';
import { type ClusterStatus, StatusReader } from './node/follower.js';
import { ClusterNode, type NodeOptions, nodeFolderError } from './node/node.js';
import { type Founding, OrderError } from './order/order.js';

export type ClusterOptions = Omit<NetworkOptions, 'clock' | 'order' | 'onFatal'> &
  Omit<NodeOptions, 'onFatal'> & {
    onFatal?: (error: Error) => void;
    /**
     * Replaces a closed folder's data with data recent enough to reach the retained part of the
     * order. Without this function, or in memory, a node that lags too far stops.
     */
    catchUp?: (behind: LaggingNode) => Promise<void>;
  };

/** A node that needs batches that the order has deleted. */
export interface LaggingNode {
  folder: string;
  /** End of the node's log. */
  position: StoreMeta & { order: OrderMark };
  founding: Founding;
}

export class ClusterNetwork implements ServedNetwork {
  /** The network's state at this node, for reading. Changes must go through the order. */
  readonly inner: Network;
  readonly genesis: Network['genesis'];
  readonly durableOnDisk: Network['durableOnDisk'];
  readonly folder: Network['folder'];
  readonly epoch: Network['epoch'];
  readonly verification: Network['verification'];
  readonly read: Network['read'];
  readonly onEvents: Network['onEvents'];
  readonly knows: Network['knows'];
  readonly votesUntilClose: Network['votesUntilClose'];
  readonly #node: ClusterNode;
  readonly #outlook: StatusReader;

  private constructor(inner: Network, node: ClusterNode, options: ClusterOptions) {
    const { order, host = hostClock } = options;
    this.inner = inner;
    this.genesis = inner.genesis;
    this.durableOnDisk = inner.durableOnDisk;
    this.folder = inner.folder;
    this.epoch = inner.epoch;
    this.verification = inner.verification;
    this.read = inner.read;
    this.onEvents = inner.onEvents;
    this.knows = inner.knows;
    this.votesUntilClose = inner.votesUntilClose;
    this.#node = node;
    this.#outlook = new StatusReader({
      host,
      order,
      card: () => node.card(),
      alive: () => node.alive(),
      cutOffMs: () => node.cutOffMs(),
    });
  }

  /**
   * Opens this node, and founds the network if none exists. Resolves once the batches that the
   * order contained at the start are applied. The caller owns the order and the verifier.
   *
   * @throws {OrderError} if the order is unavailable.
   * @throws {StoreError} if the folder belongs to a different order, is ahead of the order, or
   *   cannot be opened.
   * @throws {TypeError} if a parameter is out of bounds.
   */
  static async open(options: ClusterOptions): Promise<ClusterNetwork> {
    const founding = await foundedWith(options);
    for (;;) {
      const opened = await ClusterNetwork.#begin(options, founding);
      if (opened instanceof ClusterNetwork) return opened;
      await options.catchUp!(opened);
    }
  }

  static async #begin(
    options: ClusterOptions,
    founding: Founding,
  ): Promise<ClusterNetwork | LaggingNode> {
    const { host = hostClock, onFatal = endProcess, catchUp } = options;
    const { log, epoch, at, genesis } = founding;
    const clock = { time: at };
    const inner = await Network.open({
      ...options,
      genesis,
      order: { log, epoch },
      clock: { now: () => clock.time, outside: () => host.now() },
      onFatal,
    });
    clock.time = inner.read.position.order!.time;
    let began = false;
    const missing: Error[] = [];
    const failed = (error: Error) => {
      const isTrimmed = error instanceof OrderError && error.code === 'TRIMMED';
      const canCatchUp = catchUp !== undefined && inner.folder !== null;
      if (isTrimmed && canCatchUp && !began) missing.push(error);
      else onFatal(error);
    };
    try {
      const node = new ClusterNode(inner, clock, { ...options, onFatal: failed });
      await node.begin().catch((error: unknown) => {
        node.close();
        throw error;
      });
      if (missing.length === 0) {
        began = true;
        return new ClusterNetwork(inner, node, options);
      }
    } catch (error) {
      await inner.close();
      throw error;
    }
    await inner.close();
    const { order, ...end } = inner.read.position;
    return { folder: inner.folder!, position: { ...end, order: order! }, founding };
  }

  get stats() {
    return this.inner.stats;
  }

  get durable() {
    return this.inner.durable;
  }

  /** Number of requests waiting for the order or the disk. */
  get backlog(): number {
    return this.inner.backlog + this.#node.pending;
  }

  /** Does nothing, because batches in the order fire the deadlines. */
  fireDeadlines(): readonly [] {
    return [];
  }

  cutOffMs = (): number => this.#node.cutOffMs();

  /** Prechecks a request. A refusal may be due to lag, so it is checked again behind a barrier. */
  precheck(admitted: Admitted): Outcome | null | Promise<Outcome | null> {
    const outcome = this.inner.precheck(admitted);
    return outcome?.result === 'refused' ? this.#precheckBehind(admitted) : outcome;
  }

  async #precheckBehind(admitted: Admitted): Promise<Outcome | null> {
    const refusal = await this.barrier();
    return refusal ? { result: 'refused', refusal } : this.inner.precheck(admitted);
  }

  /** Appends the request to the order. Resolves once the request is applied here. */
  async apply(verified: Verified, spender = ''): Promise<Applied> {
    const settled = await this.#node.ask({ verified, spender });
    if ('applied' in settled) return settled.applied!;
    const outcome: Outcome = { result: 'refused', refusal: settled.refusal };
    return { outcome, events: [], durable: Promise.resolve() };
  }

  onSpent(listener: (spent: Spent) => void): void {
    this.#node.spendings.listen(listener);
  }

  /** As {@link Network.submit}. */
  async submit(verified: Verified | { refusal: Refusal }): Promise<Outcome> {
    if ('refusal' in verified) return { result: 'refused', refusal: verified.refusal };
    const { outcome, durable } = await this.apply(verified);
    await durable;
    return outcome;
  }

  /**
   * Resolves once everything that any node has acknowledged so far is durable here, or with the
   * reason why this node cannot tell.
   */
  barrier = async (): Promise<Refusal | null> => {
    const settled = await this.#node.ask(null);
    if ('refusal' in settled) return settled.refusal;
    await this.inner.durable;
    return null;
  };

  status = (): Promise<ClusterStatus> => this.#outlook.read();

  /** Sets the URL for clients in this node's card. */
  listensAt(url: string): void {
    this.#node.url = url;
  }

  /** Sets the URL for peers in this node's card. */
  peersAt(url: string): void {
    this.#node.peer = url;
  }

  /** Refuses the waiting requests, commits the applied entries, and closes the store. */
  close(): Promise<void> {
    this.#node.close();
    return this.inner.close();
  }
}

/**
 * Returns the founding record. If none exists, writes one with the given parameters.
 *
 * @throws {StoreError} `OTHER_NETWORK` if the network was founded with different parameters.
 * @throws {TypeError} if a parameter is out of bounds.
 */
async function foundedWith(options: ClusterOptions): Promise<Founding> {
  const { order, host = hostClock, newId = randomUUID } = options;
  const asked: GenesisOptions = options.genesis;
  await prepareRule(asked);
  const genesis = completeGenesis(asked);
  const founding = await order.found({ log: newId(), epoch: newId(), at: host.now(), genesis });
  const begun = Object.entries(founding.genesis);
  for (const [name, value] of begun) {
    const wanted = asked[name as keyof GenesisOptions];
    if (wanted === undefined || jcs(wanted) === jcs(value)) continue;
    const mismatch = { name, found: formatParameter(value), wanted: formatParameter(wanted) };
    throw storeError('GENESIS_MISMATCH', mismatch);
  }
  if (founding.genesis.policy === 'module' && asked.policy !== 'module') {
    throw nodeFolderError('MODULE_NOT_ALLOWED', { network: genesis.network_id });
  }
  return founding;
}
