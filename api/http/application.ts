/** The application: what a transport asks of a server, and what its requests share. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { History, KeyPair, ServedNetwork } from '../../engine/internal.js';
import { firstOfEach } from '../checks/damaged-archive.js';
import { socketPath, watchLimits } from '../contract/channels.js';
import type { ClusterShown } from '../contract/cluster.js';
import type { Control } from '../contract/control.js';
import { type Figures, figuresOf, type Profile } from '../contract/limit-table.js';
import type { ProofShown } from '../contract/proof.js';
import type { KnownRun } from '../contract/run.js';
import type { ScenarioShown } from '../contract/shown.js';
import { blockShareOf } from '../limits/block-share.js';
import { ChargedSignatures } from '../limits/charged-signatures.js';
import { ownConnectionLimit } from '../limits/connection-limit.js';
import { EarlyProposals } from '../limits/early-proposals.js';
import { Limits } from '../limits/limits.js';
import { SignatureAttempts } from '../limits/signature-attempts.js';
import { countSpent } from '../limits/spent-elsewhere.js';
import { Connections } from '../socket/connections.js';
import { Watchers } from '../socket/watch/watchers.js';
import { type ExchangeLimits, exchangeLimits } from '../transport/exchange-limits.js';
import type { Application, FrontsFigures } from '../transport/transport.js';
import { ViewLog } from '../view/log/index.js';
import type { Services } from './handler.js';
import { Incoming, type Serving } from './incoming.js';
import { Metrics } from './metrics.js';
import type { Exchange } from './observe.js';
import { Past } from './past.js';
import { EntryChecks } from './request/entry-checks.js';
import { HeadChecks } from './request/head-checks.js';
import { LargeBodies } from './request/large-bodies.js';

export interface ApplicationOptions {
  network: ServedNetwork;
  profile: Profile;
  /** In place of the profile's own. */
  figures?: Partial<Figures>;
  version: string;
  /** Whether the page is served. */
  ui: boolean;
  /** Whether others may look on without a key. */
  watch: boolean;
  /** The clock of the world that is shown. */
  control: Control;
  /** Whoever has it may control the world. */
  token: string;
  /** Of a log that is recomputed while it is shown. */
  proof?: () => ProofShown;
  /** The nodes of a network that several keep. */
  cluster?: () => Promise<ClusterShown>;
  /** Signs every answer; nothing by default. */
  responseKeys?: KeyPair;
  /** Proxies whose X-Forwarded-For is believed; none by default. */
  trustedProxies?: readonly string[];
  /** Origins of browsers that are let in; none by default. */
  cors?: readonly string[];
  /** Names it is served under, beside localhost, this machine's and all addresses. */
  hosts?: readonly string[];
  /** Other than those of exchange-limits.ts. */
  exchange?: Partial<ExchangeLimits>;
  /** Answers reads of earlier entries. */
  history?: History;
  /** What is known of the scenario of its agents. */
  scenario?: ScenarioShown;
  /** Of the processes that have the connections, where there are some. */
  fronts?: () => FrontsFigures;
  /** The run whose network it is. */
  run?: KnownRun;
  /** Wall time, which may be set: only freshness, and what is shown, follow it. */
  now: () => number;
  /** Milliseconds that pass whatever becomes of the wall clock: limits count by it. */
  steady: () => number;
  /** A fault inside one request, with its stack. */
  onFault: (error: unknown, requestId: string) => void;
  /** Each request and its answer. */
  onExchange?: (exchange: Exchange) => void;
}

export interface App extends Application {
  /** Requests are answered as before, but /readyz answers 503. */
  stopping(): void;
  /** Resolves once whoever watches was sent all that is committed, or after a while. */
  lastFrames(): Promise<void>;
  /** Ends all WebSocket connections. */
  closeConnections(): void;
  /** As {@link ViewLog.making}. */
  making(): Promise<void> | undefined;
  /** Ends what is being made for a page: before the network is closed. */
  closeView(): Promise<void>;
}

/** How long a server that closes lets those who watch wait for the end. */
const LAST_FRAMES_MS = 1_000;

export function createApplication(options: ApplicationOptions): App {
  const state = { ready: true };
  const services = servicesOf(options, state);
  const { connections } = services;
  const { network, trustedProxies = [] } = options;
  const headChecks = new HeadChecks(services, trustedProxies);
  const { figures } = services.limits;
  const connectionPolicy = { quota: figures?.connections ?? null, trustedProxies };
  const connectionLimit = ownConnectionLimit(connectionPolicy, options.steady);
  const serving: Serving = {
    services,
    headChecks,
    entryChecks: new EntryChecks(options.hosts ?? [], options.cors ?? []),
    exchangeLimits: { ...exchangeLimits, ...options.exchange },
    responseKeys: options.responseKeys ?? null,
    isNews: firstOfEach(),
    onFault: options.onFault,
    onExchange: options.onExchange ?? null,
  };
  return {
    limits: serving.exchangeLimits,
    socketPath,
    connectionPolicy,
    verifiesFor: network.verification.enabled ? network.genesis.network_id : null,
    accepts: (peer) => connectionLimit.accepts(peer),
    begin: (head, declared) => new Incoming(serving, head, declared),
    open: (socket) => connections.open(socket),
    stopping() {
      state.ready = false;
      services.early.close();
    },
    async lastFrames() {
      const late = sleep(LAST_FRAMES_MS, undefined, { ref: false });
      await Promise.race([connections.watchers?.catchUp(), late]);
    },
    closeConnections: () => connections.close(),
    making: () => services.view.making(),
    closeView() {
      services.past?.close();
      return services.view.close();
    },
  };
}

function servicesOf(options: ApplicationOptions, state: { ready: boolean }): Services {
  const { network, profile, version, ui, control, token, now, steady } = options;
  const limits = new Limits(profile, figuresOf(profile, options.figures), steady);
  const view = new ViewLog(network);
  const watchers = options.watch ? watchersOf(options, view) : null;
  const connections = new Connections({ network, watchers, now, steady });
  const charged = new ChargedSignatures(steady);
  const blocks = blockShareOf(limits.figures, steady);
  network.onSpent?.(countSpent({ limits, charged, blocks }));
  return {
    network,
    limits,
    attempts: new SignatureAttempts(limits, steady),
    charged,
    large: new LargeBodies(),
    blocks,
    early: new EarlyProposals(network),
    connections,
    view,
    past: options.history ? new Past(options.history) : null,
    metrics: new Metrics(network, connections, options.fronts ?? null),
    version,
    ui,
    control,
    token,
    scenario: options.scenario ?? null,
    run: options.run ?? null,
    proof: options.proof ?? null,
    cluster: options.cluster ?? null,
    now,
    ready: () => state.ready,
  };
}

function watchersOf({ network, control, profile, onFault }: ApplicationOptions, view: ViewLog) {
  const perAddress = profile === 'spec' ? watchLimits.perAddress : Number.POSITIVE_INFINITY;
  const fault = (error: unknown) => onFault(error, 'watch');
  return new Watchers({ network, view, control, perAddress, onFault: fault });
}
