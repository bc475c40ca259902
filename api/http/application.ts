/** The application: what a transport asks of a server, and what its requests share. */
import type { KeyPair, Network } from '../../engine/internal.js';
import { firstOfEach } from '../checks/damaged-archive.js';
import { socketPath } from '../contract/channels.js';
import { type Figures, figuresOf, type Profile } from '../contract/limit-table.js';
import { blockShareOf } from '../limits/block-share.js';
import { ChargedSignatures } from '../limits/charged-signatures.js';
import { Limits } from '../limits/limits.js';
import { SignatureAttempts } from '../limits/signature-attempts.js';
import { Connections } from '../socket/connections.js';
import { type ExchangeLimits, exchangeLimits } from '../transport/exchange-limits.js';
import type { Application } from '../transport/transport.js';
import type { Services } from './handler.js';
import { Incoming, type Serving } from './incoming.js';
import { Metrics } from './metrics.js';
import type { Exchange } from './observe.js';
import { EntryChecks } from './request/entry-checks.js';
import { HeadChecks } from './request/head-checks.js';
import { LargeBodies } from './request/large-bodies.js';

export interface ApplicationOptions {
  network: Network;
  profile: Profile;
  /** In place of the profile's own. */
  figures?: Partial<Figures>;
  version: string;
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
  /** Ends all WebSocket connections. */
  closeConnections(): void;
}

export function createApplication(options: ApplicationOptions): App {
  const state = { ready: true };
  const services = servicesOf(options, state);
  const { connections } = services;
  const headChecks = new HeadChecks(services, options.trustedProxies ?? []);
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
    accepts: (peer) => headChecks.accepts(peer),
    begin: (head, declared) => new Incoming(serving, head, declared),
    open: (socket) => connections.open(socket),
    stopping() {
      state.ready = false;
    },
    closeConnections: () => connections.close(),
  };
}

function servicesOf(options: ApplicationOptions, state: { ready: boolean }): Services {
  const { network, profile, version, now, steady } = options;
  const limits = new Limits(profile, figuresOf(profile, options.figures), steady);
  const connections = new Connections(network, now, steady);
  return {
    network,
    limits,
    attempts: new SignatureAttempts(limits, steady),
    charged: new ChargedSignatures(steady),
    large: new LargeBodies(),
    blocks: blockShareOf(limits.figures, steady),
    connections,
    metrics: new Metrics(network, connections),
    version,
    now,
    ready: () => state.ready,
  };
}
