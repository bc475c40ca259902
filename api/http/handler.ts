/**
 * The type of a route's handler, what a handler is given of a request, and how the state at an
 * earlier entry is read.
 */

import type { History, Moment } from '../../engine/history/history.js';
import type { ServedNetwork } from '../../engine/node/kept-network.js';
import { type Refusal, refuse } from '../../engine/protocol/schema/reason.js';
import type { Control } from '../contract/control.js';
import type { Route } from '../contract/routes.js';
import type { KnownRun } from '../contract/run.js';
import type { ClusterShown, ProofShown } from '../contract/server.js';
import type { ScenarioShown } from '../contract/views.js';
import type { BlockShare, EarlyProposals } from '../limits/block-share.js';
import type { Limits } from '../limits/limits.js';
import type { ChargedSignatures, SignatureAttempts } from '../limits/signature-quota.js';
import type { Connections } from '../socket/connections.js';
import type { Body, RequestHead } from '../transport/transport.js';
import type { ViewLog } from '../view/log/view-log.js';
import type { LargeBodies, RequestBudget } from './head-checks.js';
import type { Metrics } from './metrics.js';
import type { Answer } from './response.js';

/** What the handlers of one server share. */
export interface Services {
  readonly network: ServedNetwork;
  readonly limits: Limits;
  readonly attempts: SignatureAttempts;
  readonly charged: ChargedSignatures;
  /** In which order large bodies are dealt with. */
  readonly large: LargeBodies;
  /** Who may open the next block; null where nothing is limited. */
  readonly blocks: BlockShare | null;
  /** Proposals that wait for the end of the block that they build on. */
  readonly early: EarlyProposals;
  readonly connections: Connections;
  readonly metrics: Metrics;
  readonly version: string;
  /** Whether the page is served. */
  readonly ui: boolean;
  readonly control: Control;
  /** Whoever has it may control the world. */
  readonly token: string;
  /** What a page is shown, at any entry. */
  readonly view: ViewLog;
  /** The network at earlier entries; null where it is shown as it is only. */
  readonly past: HistoryReads | null;
  /** Of the network's agents, where it is known. */
  readonly scenario: ScenarioShown | null;
  /** The run whose network it is, where it is known. */
  readonly run: KnownRun | null;
  /** Of a log that is recomputed while it is shown; null where none is. */
  readonly proof: (() => ProofShown) | null;
  /** Of a network that several nodes keep; null of others. */
  readonly cluster: (() => Promise<ClusterShown>) | null;
  /** The edge's clock: freshness is checked here, never in the engine. */
  now(): number;
  /** Whether the server takes requests: not while it stops. */
  ready(): boolean;
}

/** One request whose route is known. */
export interface Call {
  readonly services: Services;
  readonly route: Route;
  readonly head: RequestHead;
  /** Path parameters, decoded, in order. */
  readonly params: readonly string[];
  readonly body: Body;
  /** Whether a process of this server has verified that its own signature holds. */
  readonly held: boolean;
  readonly budget: RequestBudget;
}

/** Answers a request, at once where nothing has to be waited for. */
export type Handler = (call: Call) => Answer | Promise<Answer>;

/** A route with what answers it: all that one request needs to know of its path. */
export interface HandledRoute extends Route {
  readonly handle: Handler;
  /** The query parameters that it reads. */
  readonly parameterNames: readonly string[];
}

/** Looks that wait for others. */
const MOST_WAITING = 16;

/** How far something is that is made of the log. */
export interface Progress {
  entry: number;
  to: number;
}

export class HistoryReads {
  readonly #history: History;
  readonly #closing = new AbortController();
  /** Who asks about an entry asks several things about it. */
  #last: { entry: number; moment: Promise<Moment> } | null = null;
  #waiting = 0;
  /** How far it has come with what is asked for; null while it looks at nothing. */
  progress: Progress | null = null;

  constructor(history: History) {
    this.#history = history;
  }

  /**
   * The network as it was after an entry, or a refusal where too many ask already.
   *
   * @throws {RangeError} when the log has no such entry.
   * @throws {StoreError} when what is stored does not follow from the log.
   */
  async at(entry: number): Promise<Moment | Refusal> {
    if (this.#last?.entry === entry) return this.#last.moment;
    if (this.#waiting >= MOST_WAITING) {
      return refuse('HISTORY_BUSY', { limit: MOST_WAITING });
    }
    const look = { entry, moment: this.#openMoment(entry) };
    this.#last = look;
    try {
      return await look.moment;
    } catch (error) {
      if (this.#last === look) this.#last = null;
      throw error;
    }
  }

  /** Ends what is under way. */
  close(): void {
    this.#closing.abort(new Error('the server closes'));
  }

  async #openMoment(entry: number): Promise<Moment> {
    this.#waiting += 1;
    try {
      return await this.#history.at(entry, {
        signal: this.#closing.signal,
        onProgress: (seq, to) => {
          this.progress = { entry: seq, to };
        },
      });
    } finally {
      this.#waiting -= 1;
      if (this.#waiting === 0) this.progress = null;
    }
  }
}
