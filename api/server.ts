/** A server: a network, an application over it, and whichever transport carries them. */
import { isIP } from 'node:net';
import type { KeyPair } from '../engine/crypto/keys.js';
import type { History } from '../engine/history/history.js';
import type { ServedNetwork } from '../engine/node/kept-network.js';
import { formatInstant } from '../engine/protocol/schema/primitives.js';
import type { Control } from './contract/control.js';
import type { Figures, Profile } from './contract/limit-table.js';
import type { KnownRun } from './contract/run.js';
import type { ClusterShown, ProofShown } from './contract/server.js';
import type { ScenarioShown } from './contract/views.js';
import { frontsTransport } from './fronts/fronts.js';
import { type App, createApplication } from './http/application.js';
import { newToken } from './http/control.js';
import type { Exchange } from './http/response.js';
import { type ChosenTransport, chooseTransport, formatUrl } from './transport/create-transport.js';
import type { ExchangeLimits, FrontsFigures, Listening } from './transport/transport.js';
import { uwsTransport } from './transport/uws-transport.js';

/** What a server serves, where, and with which limits. */
export interface ServerOptions {
  /** Stays the caller's: a server that closes does not close it. */
  network: ServedNetwork;
  /** Address to listen at; default 127.0.0.1. */
  host?: string;
  /** 0 picks a free one. */
  port?: number;
  /** Default: uWebSockets.js where it is installed and its binary loads, else node:http. */
  transport?: 'uws' | 'node';
  /**
   * How many processes of their own read and write connections; default 0: this one does. They need
   * uWebSockets.js, and Linux.
   */
  threads?: number;
  /** Default: `spec`. */
  limits?: Profile;
  /** In place of the profile's own. */
  figures?: Partial<Figures>;
  /** Origins of browsers that are let in, as browsers send them. */
  cors?: readonly string[];
  /** Names it is served under, beside localhost, this machine's and all addresses. */
  hosts?: readonly string[];
  /** Other than by default: how long a request and a stop may take. */
  exchange?: Partial<ExchangeLimits>;
  /** Signs every answer. */
  responseKeys?: KeyPair;
  /** Addresses of proxies whose X-Forwarded-For is believed. */
  trustedProxies?: readonly string[];
  /**
   * Answers reads with `at`, of the network as it was after an entry; without it they are refused.
   * Stays the caller's, as the network does.
   */
  history?: History;
  /** What is known of the scenario of its agents: served at `/api/v1/scenario`. */
  scenario?: ScenarioShown;
  /** The run whose network it is: who of it hears whom, and what votes rested on. */
  run?: KnownRun;
  /** What `/api/v1/meta` and the documents say that this program is. */
  version: string;
  /** Whether the page that shows the network is served, at `/ui/`; default true. */
  ui?: boolean;
  /** Whether others may look on over the WebSocket without a key; default true. */
  watch?: boolean;
  /** Wall time and, where it is given, also the time that limits count by. */
  now?: () => number;
  /** The clock of the world that is shown; default: a live network's, which nobody holds. */
  control?: Control;
  /** How far a log is that is recomputed while it is shown. */
  proof?: () => ProofShown;
  /** The nodes of a network that several keep together. */
  cluster?: () => Promise<ClusterShown>;
  /** Called with each fault of the server itself: a bug, whose request was answered with 500. */
  onFault?: (error: unknown, requestId: string) => void;
  /** Called when one of `threads` ended that was not asked to: it is started again. */
  onThreadEnded?: (error: Error) => void;
  /** Each request and its answer; costs nothing where it is not given. */
  onExchange?: (exchange: Exchange) => void;
}

/** A server that listens. */
export interface Server {
  /** As in `http://127.0.0.1:8080`. */
  url: string;
  /**
   * Where a browser sees the network; null without the page. Where the world may be controlled it
   * ends in `#token=` and the token for that, which is drawn anew for each server: it belongs to
   * whoever started it.
   */
  page: string | null;
  /** What carries it. */
  transport: 'uws' | 'node';
  /** Why the faster transport does not serve, where nobody chose; else undefined. */
  fallback?: string;
  /**
   * Resolves when what a page waits for is made of the log; undefined while nothing is. It is made
   * a bit each turn of the event loop: whoever has long turns, and may wait, does.
   *
   * @internal
   */
  making(): Promise<void> | undefined;
  /** Stops accepting, answers what is in flight, closes. The network stays the caller's. */
  close(): Promise<void>;
}

/**
 * Serves a network over HTTP and WebSocket; it listens when this resolves.
 *
 * @throws {Error} when the port cannot be had, the transport that was asked for is missing, or
 * one of `hosts` or `cors` is none.
 *
 * @example
 * ```ts
 * import { createVerifier, Network } from 'folkmoot';
 * import { startServer } from 'folkmoot/api';
 *
 * const verifier = createVerifier('pool');
 * const genesis = { network_id: 'demo' };
 * const network = await Network.open({ memory: true, genesis, verifier });
 * const server = await startServer({ network, port: 0, version: '1.0.0' });
 * const answer = await fetch(`${server.url}/api/v1/network/state`);
 * console.log(answer.status); // 200
 * await server.close();
 * await network.close();
 * await verifier.close();
 * ```
 */
export async function startServer(options: ServerOptions): Promise<Server> {
  const {
    network,
    host = '127.0.0.1',
    port = 0,
    limits: profile = 'spec',
    version,
    ui = true,
    watch = true,
    cors = [],
    hosts = [],
    exchange = {},
  } = options;
  const { transport, fallback, fronts } = await carrierOf(options);
  const control = options.control ?? uncontrolled(options.now ?? Date.now);
  const token = newToken();
  const app: App = createApplication({
    network,
    profile,
    version,
    ui,
    watch,
    control,
    token,
    now: options.now ?? Date.now,
    steady: options.now ?? (() => Math.trunc(performance.now())),
    onFault: options.onFault ?? (() => {}),
    trustedProxies: options.trustedProxies ?? [],
    ...(options.figures ? { figures: options.figures } : {}),
    cors,
    hosts: isIP(host) === 0 ? [host, ...hosts] : hosts,
    exchange,
    ...(options.responseKeys ? { responseKeys: options.responseKeys } : {}),
    ...(options.history ? { history: options.history } : {}),
    ...(options.scenario ? { scenario: options.scenario } : {}),
    ...(options.run ? { run: options.run } : {}),
    ...(options.proof ? { proof: options.proof } : {}),
    ...(options.cluster ? { cluster: options.cluster } : {}),
    ...(fronts ? { fronts } : {}),
    ...(options.onExchange ? { onExchange: options.onExchange } : {}),
  });
  const listening: Listening = await transport.listen(app, { host, port });
  const url = formatUrl(host, listening.port);
  return {
    url,
    page: ui ? `${url}/ui/${control.can.length > 0 ? `#token=${token}` : ''}` : null,
    transport: transport.name,
    ...(fallback === undefined ? {} : { fallback }),
    making: () => app.making(),
    async close() {
      app.stopping();
      // Before the transport: it ends what is open, and says nothing.
      await app.lastFrames();
      const closed = listening.close();
      app.closeConnections();
      await closed;
      await app.closeView();
    },
  };
}

/** A live network whose time is that of the wall. */
const uncontrolled = (now: () => number): Control => ({
  kind: 'live',
  can: [],
  clock: () => ({
    holds: 'nothing',
    paused: false,
    speed: 1,
    until: null,
    at: formatInstant(now()),
  }),
  do: async () => null,
  onChange: () => () => {},
});

/** What carries it, and what is known of the processes that do, where there are some. */
interface Carrier extends ChosenTransport {
  fronts?: () => FrontsFigures;
}

async function carrierOf(options: ServerOptions): Promise<Carrier> {
  const { transport: wanted, threads = 0, onThreadEnded = () => {} } = options;
  return threads > 0 ? chooseFronts(wanted, threads, onThreadEnded) : chooseTransport(wanted);
}

/** Only Linux divides the connections of a port among those who listen there. */
async function chooseFronts(
  wanted: 'uws' | 'node' | undefined,
  count: number,
  onEnded: (error: Error) => void,
): Promise<Carrier> {
  const uws = await uwsTransport();
  const missing =
    (wanted === 'node' ? 'they do not go with the transport node' : null) ??
    (process.platform === 'linux' ? null : `this is ${process.platform}, and they need Linux`) ??
    ('missing' in uws ? uws.missing : null);
  if (missing !== null) throw new Error(`no threads beside the engine's: ${missing}`);
  const transport = frontsTransport({ count, onEnded });
  return { transport, fronts: transport.figures };
}
