/** Types for route handlers, the services that handlers share, and reads at earlier entries. */

import type { History, Moment } from '../../engine/history/history.js';
import type { ServedNetwork } from '../../engine/node/kept-network.js';
import { type Refusal, refuse } from '../../engine/protocol/schema/reason.js';
import type { Control } from '../contract/control.js';
import type { Route } from '../contract/routes.js';
import type { KnownRun } from '../contract/run.js';
import type { ClusterView } from '../contract/server.js';
import type { ScenarioView } from '../contract/views.js';
import type { BlockShare, EarlyProposals } from '../limits/block-share.js';
import type { Limits } from '../limits/limits.js';
import type { ChargedSignatures, ProvenAddresses } from '../limits/signature-quota.js';
import type { Connections } from '../socket/connections.js';
import type { RequestTrace, ServerTracing } from '../tracing.js';
import type { Body, RequestHead } from '../transport/transport.js';
import type { ViewLog } from '../view/log/view-log.js';
import type { LargeBodies } from './bodies.js';
import type { RequestBudget } from './budget.js';
import type { Metrics } from './metrics.js';
import type { Answer } from './response.js';

export interface Services {
  readonly network: ServedNetwork;
  readonly limits: Limits;
  readonly proven: ProvenAddresses;
  readonly charged: ChargedSignatures;
  readonly large: LargeBodies;
  /** Shares the right to open blocks among producers; null if limits are off. */
  readonly blocks: BlockShare | null;
  /** Proposals that wait for their parent block to close. */
  readonly early: EarlyProposals;
  readonly connections: Connections;
  readonly metrics: Metrics;
  readonly version: string;
  readonly ui: boolean;
  readonly control: Control;
  readonly token: string;
  /** Traces of requests; null if they are off. */
  readonly tracing: ServerTracing | null;
  /** Index and snapshots for view reads. */
  readonly view: ViewLog;
  /** Reads at earlier entries; null if unsupported. */
  readonly past: HistoryReads | null;
  /** The agents' scenario; null if unknown. */
  readonly scenario: ScenarioView | null;
  /** The simulation run; null if unknown. */
  readonly run: KnownRun | null;
  /** Cluster status; null outside a cluster. */
  readonly cluster: (() => Promise<ClusterView>) | null;
  /** Wall clock. Freshness is checked here, never in the engine. */
  now(): number;
  /** False while the server stops. */
  ready(): boolean;
}

export interface Call {
  readonly services: Services;
  readonly route: Route;
  readonly head: RequestHead;
  /** Path parameters, decoded, in order. */
  readonly params: readonly string[];
  readonly body: Body;
  readonly budget: RequestBudget;
  /** The request's span; null if it is not recorded. */
  readonly trace: RequestTrace | null;
}

/** Handles a request, synchronously if possible. */
export type Handler = (call: Call) => Answer | Promise<Answer>;

export interface HandledRoute extends Route {
  readonly handle: Handler;
  readonly parameterNames: readonly string[];
}

/** Limits on waiting history reads, in total and from one address. */
const MOST_WAITING = 16;
const MOST_OF_ADDRESS = 4;

export interface Progress {
  entry: number;
  to: number;
}

export class HistoryReads {
  readonly #closing = new AbortController();
  /** The most recent moment, cached because a client usually reads several things at one entry. */
  #last: { entry: number; moment: Promise<Moment> } | null = null;
  /** Addresses whose reads wait, one for each read. */
  readonly #waiting: string[] = [];
  /** Progress of the current read; null when idle. */
  progress: Progress | null = null;

  constructor(private readonly history: History) {}

  /**
   * Returns the network as of an entry, or a refusal if too many reads are queued, in total or from
   * the address. `address` is empty while limits are off.
   *
   * @throws {RangeError} if the log does not contain the entry.
   * @throws {StoreError} if the stored data contradicts the log.
   */
  async at(entry: number, address: string): Promise<Moment | Refusal> {
    if (this.#last?.entry === entry) return this.#last.moment;
    const own = address === '' ? 0 : this.#waiting.filter((one) => one === address).length;
    if (this.#waiting.length >= MOST_WAITING || own >= MOST_OF_ADDRESS) {
      const limit = own >= MOST_OF_ADDRESS ? MOST_OF_ADDRESS : MOST_WAITING;
      return refuse('HISTORY_BUSY', { limit });
    }
    const look = { entry, moment: this.#openMoment(entry, address) };
    this.#last = look;
    try {
      return await look.moment;
    } catch (error) {
      if (this.#last === look) this.#last = null;
      throw error;
    }
  }

  close(): void {
    this.#closing.abort(new Error('the server closes'));
  }

  async #openMoment(entry: number, address: string): Promise<Moment> {
    this.#waiting.push(address);
    try {
      return await this.history.at(entry, {
        signal: this.#closing.signal,
        onProgress: (seq, to) => {
          this.progress = { entry: seq, to };
        },
      });
    } finally {
      this.#waiting.splice(this.#waiting.indexOf(address), 1);
      if (this.#waiting.length === 0) this.progress = null;
    }
  }
}
