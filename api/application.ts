/** The application: from a request to its answer, whatever carried it. A throw here is a 500. */
import { randomUUID } from 'node:crypto';
import {
  limits as bounds,
  type CommandKind,
  type KeyPair,
  type Network,
  refuse,
} from '../engine/index.js';
import { sha256Hex } from '../engine/signing.js';
import { clientAddress } from './address.js';
import { blockShareOf } from './block-share.js';
import { socketPath } from './channels.js';
import { Connections } from './connections.js';
import { answerOf, failure, success } from './errors.js';
import { type Gate, pass, tooMany, withQuota } from './gate.js';
import { addressKey, Limits, type Profile } from './limits.js';
import { Metrics } from './metrics.js';
import { signedHeaders } from './response-signature.js';
import { type Match, match, type Route } from './routes.js';
import { signedRequest } from './signed-request.js';
import { specialRead } from './special-reads.js';
import type { Application, HttpRequest, HttpResponse } from './transport.js';

export interface ApplicationOptions {
  network: Network;
  profile: Profile;
  version: string;
  /** Signs every answer; nothing by default. */
  responseKeys?: KeyPair;
  /** Proxies whose X-Forwarded-For is believed; none by default. */
  trustedProxies?: readonly string[];
  /** Allowed origin of browsers; none by default. */
  cors?: string;
  now: () => number;
  /** A fault inside one request, with its stack. */
  onFault: (error: unknown, requestId: string) => void;
}

/** A request inside a JSON text takes more room than by itself. */
const DEBUG_BYTES = 2 * bounds.proposalBytes;
/** Room for the form around a meme's file. */
const FORM_BYTES = 64 * 1024;

export interface App extends Application {
  /** False while stopping: /readyz says 503. */
  ready: boolean;
  readonly connections: Connections;
  readonly metrics: Metrics;
}

export function createApplication(options: ApplicationOptions): App {
  const { network, profile, now, responseKeys } = options;
  const trusted = new Set(options.trustedProxies);
  const blocks = blockShareOf(profile, now);
  const gate: Gate = { network, limits: new Limits(profile, now), blocks, now };
  const cors = corsHeaders(options.cors);
  /** With the headers of every answer, which is this request's own. */
  const finished = (response: HttpResponse, requestId: string, request: HttpRequest) => {
    response.headers['X-Request-Id'] = requestId;
    if (cors) Object.assign(response.headers, cors);
    return responseKeys ? signed(responseKeys, now(), request, response) : response;
  };
  const connections = new Connections(network, now);
  const app: App = {
    ready: true,
    socketPath,
    open: (socket) => connections.open(socket),
    connections,
    metrics: new Metrics(network, connections),
    bodyLimit(method, path) {
      const route = match(method, path)?.route;
      if (!route) return 0;
      if ('write' in route) return writeLimit(route.write);
      return 'special' in route && route.special === 'debug_verify' ? DEBUG_BYTES : 0;
    },
    handle(received) {
      const requestId = randomUUID();
      const forwarded = received.headers.get('x-forwarded-for');
      const address = clientAddress(received.address, forwarded, trusted);
      const request = address === received.address ? received : { ...received, address };
      const finish = (response: HttpResponse) => {
        app.metrics.answered(request, response.status);
        return finished(response, requestId, request);
      };
      const fault = (error: unknown) => {
        options.onFault(error, requestId);
        return finish(failure(refuse('INTERNAL', FAULT), requestId));
      };
      try {
        const response = route(app, options, gate, request, requestId);
        return response instanceof Promise ? response.then(finish).catch(fault) : finish(response);
      } catch (error) {
        return fault(error);
      }
    },
  };
  return app;
}

const FAULT = 'a fault of the server, which was logged';

async function signed(
  keys: KeyPair,
  now: number,
  request: HttpRequest,
  response: HttpResponse,
): Promise<HttpResponse> {
  const chosen = match(request.method, request.path)?.route;
  const kind = chosen && 'write' in chosen ? chosen.write : null;
  const own = await signedHeaders(keys, now, kind, request, response);
  return { ...response, headers: { ...response.headers, ...own } };
}

function writeLimit(kind: CommandKind): number {
  if (kind === 'propose') return bounds.proposalBytes;
  return kind === 'meme' ? bounds.memeFileBytes + FORM_BYTES : bounds.bodyBytes;
}

/** Headers that a browser's program may read beside the simple ones. */
const EXPOSED =
  'Location, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id, ' +
  'X-Server-Public-Key, X-Server-Timestamp, X-Server-Signature';

function corsHeaders(origin: string | undefined): Record<string, string> | null {
  if (origin === undefined) return null;
  return {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Expose-Headers': EXPOSED,
    Vary: 'Origin',
  };
}

function route(
  app: App,
  options: ApplicationOptions,
  gate: Gate,
  request: HttpRequest,
  requestId: string,
): HttpResponse | Promise<HttpResponse> {
  if (request.method === '') {
    const message = 'Content-Length or Host stands twice, with different values';
    return failure(refuse('SCHEMA', message), requestId);
  }
  const found = match(request.method, request.path);
  if (!found) {
    const message = `nothing answers at ${request.path.slice(0, 256)}`;
    return failure(refuse('UNKNOWN_ROUTE', message), requestId);
  }
  if (request.method === 'OPTIONS') return optionsAnswer(found, options.cors);
  if (!found.route) return wrongMethod(found, request, requestId);
  if (request.body === 'tooLarge') {
    const limit = app.bodyLimit(request.method, request.path);
    return failure(refuse('TOO_LARGE', `the body is larger than ${limit} bytes`), requestId);
  }
  const chosen = found.route;
  if ('write' in chosen) {
    return write(gate, chosen.write, request, request.body, requestId);
  }
  if ('special' in chosen) {
    if (chosen.special === 'live' || chosen.special === 'ready') {
      return health(app, chosen.special, requestId);
    }
    if (chosen.special === 'metrics') return metrics(app);
  }
  return read(app, options, gate, { ...found, route: chosen }, request, requestId);
}

/** What an operator asks, who is not limited. */
async function metrics(app: App): Promise<HttpResponse> {
  const headers = { 'Content-Type': app.metrics.type };
  return { status: 200, headers, body: await app.metrics.text() };
}

function optionsAnswer({ allowed }: Match, cors: string | undefined): HttpResponse {
  const allow = allowed.join(', ');
  const preflight =
    cors === undefined
      ? {}
      : {
          'Access-Control-Allow-Methods': allow,
          'Access-Control-Allow-Headers':
            'Content-Type, X-Agent-Public-Key, X-Agent-Signature, X-Timestamp',
          'Access-Control-Max-Age': '600',
        };
  return { status: 204, headers: { Allow: allow, ...preflight }, body: '' };
}

function wrongMethod({ allowed }: Match, request: HttpRequest, requestId: string): HttpResponse {
  const allow = allowed.join(', ');
  const message = `${request.method.slice(0, 32)} is not a method of this route: ${allow}`;
  const response = failure(refuse('METHOD', message), requestId);
  return { ...response, headers: { ...response.headers, Allow: allow } };
}

function health(app: App, what: 'live' | 'ready', requestId: string): HttpResponse {
  if (what === 'live' || app.ready) return success(200, { status: 'ok' });
  return failure(refuse('STOPPING', 'the server is stopping'), requestId);
}

async function write(
  gate: Gate,
  kind: CommandKind,
  request: HttpRequest,
  body: Uint8Array,
  requestId: string,
): Promise<HttpResponse> {
  const signed = await signedRequest(kind, { ...request, body });
  if ('refusal' in signed) return failure(signed.refusal, requestId);
  const { address, target } = request;
  return pass(gate, signed, { address, target, requestId, bodySha256: () => sha256Hex(body) });
}

type ReadMatch = Match & { route: Exclude<Route, { write: CommandKind }> };

function read(
  app: App,
  options: ApplicationOptions,
  gate: Gate,
  { route: chosen, params }: ReadMatch,
  request: HttpRequest,
  requestId: string,
): HttpResponse | Promise<HttpResponse> {
  const address = addressKey(request.address);
  const quota = gate.limits.look('read', address);
  if (quota?.remaining === 0) return withQuota(failure(tooMany(quota), requestId), quota);
  gate.limits.use('read', address);
  const left = gate.limits.look('read', address);
  if ('special' in chosen) {
    const [id = ''] = params;
    return specialRead(app.connections, options, chosen.special, request, id, requestId).then(
      (response) => withQuota(response, left),
    );
  }
  const query = queryOf(request.target);
  const result = chosen.read({ network: options.network, params, query });
  const response = 'refusal' in result ? failure(result.refusal, requestId) : shown(result.data);
  return withQuota(response, left);
}

/** Views that are asked for again are the same object: its text is made once. */
const texts = new WeakMap<object, string>();

function shown(data: unknown): HttpResponse {
  if (typeof data !== 'object' || data === null) return success(200, data);
  const known = texts.get(data);
  if (known !== undefined) return answerOf(200, known);
  const response = success(200, data);
  texts.set(data, String(response.body));
  return response;
}

const noQuery = new URLSearchParams();

function queryOf(target: string): URLSearchParams {
  const from = target.indexOf('?');
  return from < 0 ? noQuery : new URLSearchParams(target.slice(from + 1));
}
