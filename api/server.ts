/** A server: a network, its application, and a transport. */
import { isIP } from 'node:net';
import type { KeyPair } from '../engine/crypto/keys.js';
import type { History } from '../engine/history/history.js';
import type { ServedNetwork } from '../engine/node/kept-network.js';
import { formatInstant } from '../engine/protocol/schema/primitives.js';
import { prepareRule } from '../engine/rules/sandbox.js';
import type { Control } from './contract/control.js';
import type { Figures, Profile } from './contract/limit-table.js';
import type { KnownRun } from './contract/run.js';
import type { ClusterView } from './contract/server.js';
import type { ScenarioView } from './contract/views.js';
import { type App, createApplication } from './http/application.js';
import { newToken } from './http/control.js';
import type { Exchange } from './http/response.js';
import { ServerTracing } from './tracing.js';
import type { ExchangeLimits, Listening } from './transport/transport.js';
import { chooseTransport, formatUrl } from './transport/uws-transport.js';

/** Options for {@link startServer}. */
export interface ServerOptions {
  /** Owned by the caller, who closes it after the server. */
  network: ServedNetwork;
  /** Address to listen on. Default: 127.0.0.1. */
  host?: string;
  /** 0, the default, picks a free port. */
  port?: number;
  /** Default: uWebSockets.js if available, else node:http. */
  transport?: 'uws' | 'node';
  /** Default: `spec`. */
  limits?: Profile;
  /** Overrides some of the profile's limits. */
  figures?: Partial<Figures>;
  /** Allowed browser origins, in the form that browsers send. */
  cors?: readonly string[];
  /** Allowed host names, in addition to localhost, the host name and all IP addresses. */
  hosts?: readonly string[];
  /** Overrides request and shutdown timeouts. */
  exchange?: Partial<ExchangeLimits>;
  /** Keys that sign every response. */
  responseKeys?: KeyPair;
  /** Proxies whose X-Forwarded-For is trusted. */
  trustedProxies?: readonly string[];
  /** Serves reads with `at`, which are refused without a history. Owned by the caller. */
  history?: History;
  /** The agents' scenario, served at `/api/v1/scenario`. */
  scenario?: ScenarioView;
  /** The network's simulation run: social graph and decision records. */
  run?: KnownRun;
  /** Program version, shown in `/api/v1/meta` and the documents. */
  version: string;
  /** Serves the web page at `/ui/`. Default: true. */
  ui?: boolean;
  /** Allows watching over the WebSocket without a key. Default: true. */
  watch?: boolean;
  /** Clock in milliseconds. If given, replaces the monotonic clock used by the limits too. */
  now?: () => number;
  /** Control of the world's clock. Default: a live network, which cannot be controlled. */
  control?: Control;
  /** Token that control commands need. Default: random. */
  controlToken?: string;
  /** Returns the cluster status, on a cluster node. */
  cluster?: () => Promise<ClusterView>;
  /** Called with each exception raised inside a request. The request is answered with 500. */
  onFault?: (error: unknown, requestId: string) => void;
  /**
   * Records OpenTelemetry spans of requests, with the SDK that the program registers. Requires the
   * package `@opentelemetry/api`. Default: false.
   */
  traces?: boolean;
  /** Called after each request. If absent, no record is built. */
  onExchange?: (exchange: Exchange) => void;
}

/** A listening server. */
export interface Server {
  /** Base URL, such as `http://127.0.0.1:8080`. */
  url: string;
  /**
   * URL of the web page; null if the server has no page. If the world can be controlled, the URL
   * ends in `#token=` and the control token, which is secret and drawn per server.
   */
  page: string | null;
  transport: 'uws' | 'node';
  /** Reason for using node:http, if the caller did not choose a transport. */
  fallback?: string;
  /**
   * Resolves when the current indexing of the log ends; undefined when idle. Indexing runs in
   * slices, so a caller with long event-loop turns should wait for it to end.
   *
   * @internal
   */
  making(): Promise<void> | undefined;
  /**
   * Applies other rate limits to the requests counted so far.
   *
   * @throws {RangeError} if the old or the new profile is `off`.
   */
  changeLimits(profile: Profile, figures?: Partial<Figures>): void;
  /** Replaces `onExchange`; null for none. */
  observe(onExchange: ServerOptions['onExchange'] | null): void;
  /** Stops accepting, answers requests in flight, then closes. Does not close the network. */
  close(): Promise<void>;
}

/**
 * Serves a network over HTTP and WebSocket. Resolves once the server is listening.
 *
 * @throws {Error} if the port or the requested transport is unavailable, or `hosts` or `cors`
 *   contains an invalid value.
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
  const { transport, fallback } = await chooseTransport(options.transport);
  await prepareRule(network.genesis);
  const control = options.control ?? uncontrolled(options.now ?? Date.now);
  const token = options.controlToken ?? newToken();
  const { network_id } = network.genesis;
  const tracing = options.traces ? await ServerTracing.load(version, network_id) : null;
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
    ...(options.cluster ? { cluster: options.cluster } : {}),
    ...(tracing ? { tracing } : {}),
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
    changeLimits: (profile, figures) => app.changeLimits(profile, figures),
    observe: (onExchange) => app.observe(onExchange ?? null),
    async close() {
      app.stopping();
      // Must run before the transport closes, which drops open connections without a message.
      await app.lastFrames();
      const closed = listening.close();
      app.closeConnections();
      await closed;
      await app.closeView();
    },
  };
}

/** Control for a live network in real time. */
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
