/**
 * The application that a transport calls. Handles an HTTP request from head to response, and
 * decides if a WebSocket may open.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { KeyPair } from '../../engine/crypto/keys.js';
import type { History } from '../../engine/history/history.js';
import type { ServedNetwork } from '../../engine/node/kept-network.js';
import { type Refusal, refuse } from '../../engine/protocol/schema/reason.js';
import { firstOfEach, refuseDamagedArchive } from '../../engine/store/segment.js';
import { type UnknownName, unknownParameters } from '../checks/unknown-members.js';
import { socketLimits, socketPath, watchLimits } from '../contract/channels.js';
import type { Control } from '../contract/control.js';
import { type Figures, type Profile, resolveLimits } from '../contract/limit-table.js';
import type { Match } from '../contract/routes.js';
import type { KnownRun } from '../contract/run.js';
import type { ClusterView } from '../contract/server.js';
import type { ScenarioView } from '../contract/views.js';
import { createBlockShare, EarlyProposals } from '../limits/block-share.js';
import { countRemoteUsage, refuseQuota } from '../limits/cost.js';
import { Limits } from '../limits/limits.js';
import { ChargedSignatures, ProvenAddresses } from '../limits/signature-quota.js';
import { Connections } from '../socket/connections.js';
import { Watchers } from '../socket/watch.js';
import type { RequestTrace, ServerTracing } from '../tracing.js';
import {
  type Application,
  type Body,
  type ExchangeLimits,
  exchangeLimits,
  type HttpResponse,
  type IncomingRequest,
  type RequestHead,
} from '../transport/transport.js';
import { ViewLog } from '../view/log/view-log.js';
import { LargeBodies } from './bodies.js';
import type { Problem, RequestBudget } from './budget.js';
import { EntryChecks } from './entry-checks.js';
import { type HandledRoute, HistoryReads, type Services } from './handler.js';
import { HeadChecks } from './head-checks.js';
import { Metrics } from './metrics.js';
import {
  type Answer,
  addUnknownNames,
  type Exchange,
  quotaExceeded,
  type RefusalResponse,
  render,
  requestId,
  toExchange,
} from './response.js';
import { methodNotAllowed, optionsAnswer, routeNotFound, signResponse } from './route-responses.js';
import { match } from './routes.js';
import { refuseByHead } from './write-handler.js';

interface ApplicationOptions {
  network: ServedNetwork;
  profile: Profile;
  /** Overrides some of the profile's limits. */
  figures?: Partial<Figures>;
  version: string;
  ui: boolean;
  /** True if clients without a key may watch. */
  watch: boolean;
  control: Control;
  token: string;
  /** Traces of requests. Default: none. */
  tracing?: ServerTracing;
  /** Returns the cluster status, on a cluster node. */
  cluster?: () => Promise<ClusterView>;
  /** Keys that sign every response. Default: responses are unsigned. */
  responseKeys?: KeyPair;
  /** Proxies whose X-Forwarded-For is trusted. Default: none. */
  trustedProxies?: readonly string[];
  /** Allowed browser origins. Default: none. */
  cors?: readonly string[];
  /** Allowed host names, in addition to localhost, the host name and all IP addresses. */
  hosts?: readonly string[];
  /** Overrides some limits in transport.ts. */
  exchange?: Partial<ExchangeLimits>;
  /** Serves reads at earlier entries. */
  history?: History;
  /** The agents' scenario, if known. */
  scenario?: ScenarioView;
  run?: KnownRun;
  /** Wall clock in milliseconds, for freshness checks and display. */
  now: () => number;
  /** Monotonic clock in milliseconds, for limits. */
  steady: () => number;
  /** Called with an exception raised inside a request. */
  onFault: (error: unknown, requestId: string) => void;
  /** Called after each request. */
  onExchange?: (exchange: Exchange) => void;
}

export interface App extends Application {
  /** Marks the server as stopping. /readyz then answers 503; everything else works. */
  stopping(): void;
  /** Resolves once all watchers have received the committed entries, or after a timeout. */
  lastFrames(): Promise<void>;
  /** Closes all WebSocket connections. */
  closeConnections(): void;
  making(): Promise<void> | undefined;
  /** Applies other limits. Neither the old nor the new profile may be `off`. */
  changeLimits(profile: Profile, own?: Partial<Figures>): void;
  /** Calls this function after each request from now on; null for none. */
  observe(onExchange: ((exchange: Exchange) => void) | null): void;
  /** Stops indexing and history reads. Call before closing the network. */
  closeView(): Promise<void>;
}

/** Maximum time to wait for watchers when closing. */
const LAST_FRAMES_MS = 1_000;
/** Interval at which limits forget idle addresses and agents. */
const SWEEP_MS = 10_000;

export function createApplication(options: ApplicationOptions): App {
  const state = { ready: true };
  const services = servicesOf(options, state);
  const { connections } = services;
  const { trustedProxies = [] } = options;
  const headChecks = new HeadChecks(services, trustedProxies);
  // Without the timer, a table that no request uses would keep the traces of a flood.
  const sweeping = setInterval(() => services.limits.sweep(), SWEEP_MS);
  sweeping.unref();
  const serving: Serving = {
    services,
    headChecks,
    entryChecks: new EntryChecks(options.hosts ?? [], options.cors ?? []),
    exchangeLimits: { ...exchangeLimits, ...options.exchange },
    responseKeys: options.responseKeys ?? null,
    isFirstReport: firstOfEach(),
    onFault: options.onFault,
    onExchange: options.onExchange ?? null,
  };
  return {
    limits: serving.exchangeLimits,
    socketPath,
    accepts: (peer) => headChecks.accepts(peer),
    begin: (head, declared) => new Incoming(serving, head, declared),
    open: (socket) => connections.open(socket),
    answered: (status) => services.metrics.answered(null, status, null),
    stopping() {
      state.ready = false;
      services.early.close();
    },
    async lastFrames() {
      const late = sleep(LAST_FRAMES_MS, undefined, { ref: false });
      await Promise.race([connections.watchers?.catchUp(), late]);
    },
    closeConnections() {
      clearInterval(sweeping);
      connections.close();
    },
    making: () => services.view.making(),
    changeLimits(profile, own) {
      const figures = resolveLimits(profile, own);
      if (!figures) throw new RangeError('limits cannot be switched off while serving');
      services.limits.change(profile, figures);
      if (services.blocks) services.blocks.quota = figures.vote;
    },
    observe(onExchange) {
      serving.onExchange = onExchange;
    },
    closeView() {
      services.past?.close();
      return services.view.close();
    },
  };
}

function servicesOf(options: ApplicationOptions, state: { ready: boolean }): Services {
  const { network, profile, version, ui, control, token, now, steady } = options;
  const limits = new Limits(profile, resolveLimits(profile, options.figures), steady);
  const view = new ViewLog(network);
  const watchers = options.watch ? watchersOf(options, limits, view) : null;
  const limited = limits.figures !== null;
  const connections = new Connections({ network, watchers, limited, now, steady });
  const charged = new ChargedSignatures(steady());
  const blocks = createBlockShare(limits.figures, steady);
  network.onSpent?.(countRemoteUsage({ limits, charged, blocks }));
  return {
    network,
    limits,
    proven: new ProvenAddresses(),
    charged,
    large: new LargeBodies(),
    blocks,
    early: new EarlyProposals(network),
    connections,
    view,
    past: options.history ? new HistoryReads(options.history) : null,
    metrics: new Metrics(network, connections, limits),
    version,
    ui,
    control,
    token,
    tracing: options.tracing ?? null,
    scenario: options.scenario ?? null,
    run: options.run ?? null,
    cluster: options.cluster ?? null,
    now,
    ready: () => state.ready,
  };
}

function watchersOf(options: ApplicationOptions, limits: Limits, view: ViewLog) {
  const { network, control, onFault } = options;
  const perAddress = () =>
    limits.profile === 'spec' ? watchLimits.perAddress : Number.POSITIVE_INFINITY;
  const fault = (error: unknown) => onFault(error, 'watch');
  return new Watchers({ network, view, control, perAddress, onFault: fault });
}

interface Serving {
  readonly services: Services;
  readonly entryChecks: EntryChecks;
  readonly headChecks: HeadChecks;
  readonly exchangeLimits: ExchangeLimits;
  /** Keys that sign every response; null if responses are unsigned. */
  readonly responseKeys: KeyPair | null;
  /** Returns false for an error that was already reported, such as a damaged segment. */
  isFirstReport(error: unknown): boolean;
  onFault(error: unknown, requestId: string): void;
  /** Called after each request. Null avoids the cost of building the record. */
  onExchange: ((exchange: Exchange) => void) | null;
}

class Incoming implements IncomingRequest {
  readonly #serving: Serving;
  readonly #head: RequestHead;
  readonly #id = requestId();
  readonly #match: Match<HandledRoute> | null;
  readonly #budget: RequestBudget;
  readonly #address: string;
  /** Time of the head, for traces; 0 without them. */
  readonly #begunMs: number;
  /** Time of the complete request, on the monotonic clock. */
  #started = 0;
  #trace: RequestTrace | null = null;
  /** Refusal because of the Host or Origin header. */
  readonly #unwelcome: Refusal | null;

  constructor(serving: Serving, head: RequestHead, declared: number | null) {
    this.#serving = serving;
    this.#head = head;
    this.#begunMs = serving.services.tracing ? performance.now() : 0;
    this.#match = match(head.method, head.path);
    this.#budget = serving.headChecks.budgetOf(head, declared, this.#route);
    this.#unwelcome = serving.entryChecks.refuse(head);
    // Reads the peer address now, because it is unavailable once the socket closes.
    this.#address = serving.onExchange ? head.address : '';
    if (this.#unwelcome) this.#budget.refuse({ refusal: this.#unwelcome });
  }

  get #route(): HandledRoute | null {
    return this.#match?.route ?? null;
  }

  get readsBody(): boolean {
    return this.#budget.wanted;
  }

  take(bytes: number): boolean {
    return this.#budget.take(bytes);
  }

  release(): void {
    this.#budget.release();
  }

  answer(body: Body): HttpResponse | Promise<HttpResponse> {
    const { tracing } = this.#serving.services;
    if (tracing) this.#trace = tracing.begin(this.#head, this.#route, this.#begunMs);
    this.#started = performance.now();
    if (body.length > 0) this.#budget.renew(this.#serving.services.now());
    try {
      const answer = this.#handle(body);
      if (answer instanceof Promise) return this.#finishLater(answer, body);
      return this.#finish(answer, body);
    } catch (error) {
      return this.#finish({ refusal: this.#fault(error) }, body);
    }
  }

  timeOut(): HttpResponse | Promise<HttpResponse> {
    const { services, exchangeLimits } = this.#serving;
    const refusal = refuse('REQUEST_TIMEOUT', { limit: exchangeLimits.requestMs });
    const response = render({ refusal }, this.#id);
    services.metrics.answered(this.#route, response.status, null);
    return this.#sent(response, nothing);
  }

  upgrade(): { answer: HttpResponse | Promise<HttpResponse> } | { addressKey: string } {
    const { services, entryChecks, headChecks } = this.#serving;
    const addressKey = headChecks.keyOf(this.#head);
    const { problem } = this.#budget;
    const refused = socketRefusal({ head: this.#head, addressKey, problem }, services, entryChecks);
    if (!refused) return { addressKey };
    return { answer: this.#sent(render(refused, this.#id), nothing) };
  }

  /** Refuses because of a header, the quota or the head; otherwise calls the route's handler. */
  #handle(body: Body): Answer | Promise<Answer> {
    const { problem } = this.#budget;
    if (this.#unwelcome) {
      // No signature was attempted, so the address's quota must not be charged.
      this.#budget.markVerified();
      return { refusal: this.#unwelcome };
    }
    if (problem && 'quota' in problem) return quotaExceeded(problem.quota);
    if (!this.#match) return notFound(this.#head);
    const { route, params, allowed } = this.#match;
    const { services, entryChecks } = this.#serving;
    if (this.#head.method === 'OPTIONS') return optionsAnswer(this.#head, allowed, entryChecks);
    if (!route) return methodNotAllowed(this.#head, allowed);
    const head = this.#head;
    const budget = this.#budget;
    const trace = this.#trace;
    const call = { services, route, head, params, body, budget, trace };
    if (!problem) return route.handle(call);
    const { refusal } = problem;
    return route.command ? refuseByHead(call, route.command, refusal) : { refusal };
  }

  /** Turns an exception into a refusal. Logs the stack, except for damage already reported. */
  #fault(error: unknown): Refusal {
    const damage = refuseDamagedArchive(error);
    if (!damage || this.#serving.isFirstReport(error)) this.#serving.onFault(error, this.#id);
    return damage ?? refuse('SERVER_FAULT');
  }

  async #finishLater(answer: Promise<Answer>, body: Body): Promise<HttpResponse> {
    try {
      const sent = this.#finish(await answer, body);
      return sent instanceof Promise ? await sent : sent;
    } catch (error) {
      return this.#finish({ refusal: this.#fault(error) }, body);
    }
  }

  #finish(answer: Answer, body: Body): HttpResponse | Promise<HttpResponse> {
    const { services, onExchange } = this.#serving;
    const response = render(addUnknownNames(answer, this.#unknownParameters()), this.#id);
    this.#budget.conclude(response.status);
    this.#budget.release();
    services.metrics.answered(this.#route, response.status, performance.now() - this.#started);
    this.#trace?.end(response.status, this.#id, 'refusal' in answer ? answer.refusal : null);
    const sent = this.#sent(response, body);
    // A request that began before `observe` has no address.
    if (!onExchange || this.#address === '') return sent;
    const notify = () => {
      const refusal = 'refusal' in answer ? answer.refusal : null;
      const ms = performance.now() - this.#started;
      const { method, target } = this.#head;
      const asked = { method, target, address: this.#address };
      onExchange(toExchange(asked, response.status, this.#id, refusal, ms));
    };
    if (sent instanceof Promise) sent.then(notify, () => {});
    else notify();
    return sent;
  }

  /** Returns the query parameters that the route does not know. */
  #unknownParameters(): readonly UnknownName[] {
    const { target, path } = this.#head;
    const route = this.#route;
    if (target.length === path.length || !route?.path.startsWith('/api/')) return [];
    return unknownParameters(target, route.parameterNames);
  }

  /** Adds the headers that every response carries: CORS, staleness and the server's signature. */
  #sent(response: HttpResponse, body: Body): HttpResponse | Promise<HttpResponse> {
    const { entryChecks, responseKeys, services } = this.#serving;
    entryChecks.origins.addHeaders(response.headers, this.#head.headers);
    const cutOffMs = services.network.cutOffMs?.() ?? 0;
    if (cutOffMs > 0) response.headers['Folkmoot-Stale'] = `${Math.ceil(cutOffMs / 1_000)}`;
    if (!responseKeys) return response;
    const request = { kind: this.#route?.command ?? null, head: this.#head, body };
    return signResponse(responseKeys, services.now(), request, response);
  }
}

const nothing = new Uint8Array();

/** Refuses a path without a route, or a socket request that is not a WebSocket handshake. */
function notFound(head: RequestHead): Answer {
  if (head.path !== socketPath) return routeNotFound(head);
  return { refusal: refuse('SOCKET_EXPECTED', { path: socketPath }), headers: upgradeHeaders };
}

/** RFC 9110 requires both headers in a 426 response. */
const upgradeHeaders = { Upgrade: 'websocket', Connection: 'Upgrade' };

function socketRefusal(
  { head, addressKey, problem }: { head: RequestHead; addressKey: string; problem: Problem | null },
  { limits, connections }: Services,
  entryChecks: EntryChecks,
): RefusalResponse | null {
  const waiting = limits.profile === 'spec' ? connections.unauthenticated(addressKey) : 0;
  const refusal =
    entryChecks.refuseSocket(head) ??
    (problem && 'quota' in problem ? refuseQuota(problem.quota) : null) ??
    tooManyWaiting(waiting);
  if (refusal?.reason !== 'SOCKET_VERSION') return refusal && { refusal };
  return { refusal, headers: { 'Sec-WebSocket-Version': '13' } };
}

/** Limits the unauthenticated connections from one address. */
function tooManyWaiting(open: number): Refusal | null {
  const most = socketLimits.unauthenticatedPerAddress;
  if (open < most) return null;
  const details = { limit: 'strangers', quota: most };
  return refuse('CONNECTIONS_WAITING', { limit: most }, { details });
}
