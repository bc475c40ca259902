/** What a route's handler is: what it is given of a request, and what all handlers share. */
import type { ServedNetwork } from '../../engine/internal.js';
import type { ClusterShown } from '../contract/cluster.js';
import type { Control } from '../contract/control.js';
import type { ProofShown } from '../contract/proof.js';
import type { Route } from '../contract/routes.js';
import type { KnownRun } from '../contract/run.js';
import type { ScenarioShown } from '../contract/shown.js';
import type { BlockShare } from '../limits/block-share.js';
import type { ChargedSignatures } from '../limits/charged-signatures.js';
import type { EarlyProposals } from '../limits/early-proposals.js';
import type { Limits } from '../limits/limits.js';
import type { SignatureAttempts } from '../limits/signature-attempts.js';
import type { Connections } from '../socket/connections.js';
import type { Body, RequestHead } from '../transport/transport.js';
import type { ViewLog } from '../view/log/index.js';
import type { Metrics } from './metrics.js';
import type { Past } from './past.js';
import type { LargeBodies } from './request/large-bodies.js';
import type { RequestBudget } from './request/request-budget.js';
import type { Answer } from './response/envelope.js';

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
  readonly past: Past | null;
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
}
