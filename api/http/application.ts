/** The application: from a request to its answer, whatever carried it. A throw here is a 500. */
import { randomUUID } from 'node:crypto';
import {
  type CommandKind,
  type KeyPair,
  type Network,
  type Refusal,
  refuse,
} from '../../engine/internal.js';
import { sha256Hex } from '../../engine/protocol/signing.js';
import { damagedPast, firstOfEach } from '../checks/damaged-archive.js';
import { socketLimits, socketPath } from '../contract/channels.js';
import { type Figures, figuresOf, type Profile } from '../contract/limit-table.js';
import { type Match, match, type Route } from '../contract/routes.js';
import { blockShareOf } from '../limits/block-share.js';
import { Seen } from '../limits/charged-signatures.js';
import { Limits } from '../limits/limits.js';
import { Claims } from '../limits/signature-attempts.js';
import { Connections } from '../socket/connections.js';
import { type ExchangeLimits, exchangeLimits } from '../transport/exchange-limits.js';
import type { Application, HttpRequest, HttpResponse } from '../transport/transport.js';
import { type Gate, hostOf, pass, refuseByHead } from './gate.js';
import { Metrics } from './metrics.js';
import { specialRead } from './reads/special-reads.js';
import { Door } from './request/entry-checks.js';
import { Intake } from './request/head-checks.js';
import { LargeBodies } from './request/large-bodies.js';
import { unitsOf, type Visit } from './request/request-budget.js';
import { signedRequest } from './request/signed-request.js';
import { answerOf, failure, success } from './response/envelope.js';
import { beyond, tooMany, withQuota } from './response/quota-answers.js';
import { signedHeaders } from './response-signature.js';

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
}

export interface App extends Application {
  /** False while stopping: /readyz says 503. */
  ready: boolean;
  readonly connections: Connections;
  readonly metrics: Metrics;
}

export function createApplication(options: ApplicationOptions): App {
  const { network, profile, now, steady, responseKeys } = options;
  const limits = new Limits(profile, figuresOf(profile, options.figures), steady);
  const claims = new Claims(limits, steady);
  const blocks = blockShareOf(limits.figures, steady);
  const large = new LargeBodies();
  const gate: Gate = { network, limits, claims, seen: new Seen(steady), large, blocks, now };
  const intake = new Intake(gate, options.trustedProxies ?? []);
  const door = new Door(options.hosts ?? [], options.cors ?? []);
  /** With the headers of every answer, which is this request's own. */
  const finished = (response: HttpResponse, requestId: string, request: HttpRequest) => {
    response.headers['X-Request-Id'] = requestId;
    Object.assign(response.headers, door.origins.headers(request.headers));
    return responseKeys ? signed(responseKeys, now(), request, response) : response;
  };
  const connections = new Connections(network, now, steady);
  const isNews = firstOfEach();
  const app: App = {
    ready: true,
    limits: { ...exchangeLimits, ...options.exchange },
    socketPath,
    admitSocket(request) {
      const { whom, problem } = intake.enter(request, 0);
      const strangers = limits.profile === 'spec' ? connections.strangersOf(whom) : 0;
      const short = problem && 'quota' in problem ? tooMany(problem.quota) : null;
      const refusal = door.refuseSocket(request) ?? short ?? strangersBeyond(strangers);
      if (!refusal) return { whom };
      const requestId = randomUUID();
      const response = failure(refusal, requestId);
      if (refusal.reason === 'SOCKET_VERSION') response.headers['Sec-WebSocket-Version'] = '13';
      return { answer: finished(response, requestId, request) };
    },
    late(request) {
      const requestId = randomUUID();
      const most = `no answer within ${app.limits.requestMs} ms`;
      const message = `${most}; it may have been done: try again`;
      const response = failure(refuse('DEADLINE', message), requestId);
      app.metrics.answered(request, response.status);
      return finished(response, requestId, request);
    },
    open: (socket) => connections.open(socket),
    connections,
    metrics: new Metrics(network, connections),
    accepts: (peer) => intake.accepts(peer),
    enter(head, declared) {
      const visit = intake.enter(head, declared);
      const refusal = door.refuse(head);
      return refusal ? visit.refuse({ refusal }) : visit;
    },
    handle(request) {
      const requestId = randomUUID();
      // The transport asked for the entry of a request with a body: it is one of ours.
      const visit = (request.entry ?? intake.enter(request, 0)) as Visit;
      const finish = (response: HttpResponse) => {
        visit.settle(response.status);
        visit.leave();
        app.metrics.answered(request, response.status);
        return finished(response, requestId, request);
      };
      const fault = (error: unknown) => {
        const damage = damagedPast(error);
        if (!damage || isNews(error)) options.onFault(error, requestId);
        return finish(failure(damage ?? refuse('INTERNAL', FAULT), requestId));
      };
      try {
        const response = route(app, door, options, gate, request, visit, requestId);
        return response instanceof Promise ? response.then(finish).catch(fault) : finish(response);
      } catch (error) {
        return fault(error);
      }
    },
  };
  return app;
}

/** Whoever opens connections without saying who it is has so many of them. */
function strangersBeyond(open: number): Refusal | null {
  const most = socketLimits.strangersPerAddress;
  if (open < most) return null;
  const message = `${most} connections of an address may wait for their auth`;
  return refuse('QUOTA_USED', message, { details: { limit: 'strangers', quota: most } });
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

function route(
  app: App,
  door: Door,
  options: ApplicationOptions,
  gate: Gate,
  request: HttpRequest,
  visit: Visit,
  requestId: string,
): HttpResponse | Promise<HttpResponse> {
  const { found, problem } = visit;
  const turnedAway = door.refuse(request);
  if (turnedAway) {
    // Nobody's secrets were tried: a foreign page must not use up what an address has.
    visit.vouched();
    return failure(turnedAway, requestId);
  }
  if (problem && 'quota' in problem) return beyond(problem.quota, requestId);
  if (!found) {
    const message = `nothing answers at ${request.path.slice(0, 256)}`;
    return failure(refuse('UNKNOWN_ROUTE', message), requestId);
  }
  if (request.method === 'OPTIONS') return optionsAnswer(found, door, request);
  if (!found.route) return wrongMethod(found, request, requestId);
  const chosen = found.route;
  if (problem && 'write' in chosen) {
    return refuseByHead(gate, chosen.write, request, visit, problem.refusal, requestId);
  }
  if (problem) return failure(problem.refusal, requestId);
  if ('write' in chosen) return write(gate, chosen.write, request, visit, requestId);
  if ('special' in chosen) {
    if (chosen.special === 'live' || chosen.special === 'ready') {
      return health(app, chosen.special, requestId);
    }
    if (chosen.special === 'metrics') return metrics(app);
  }
  return read(app, options, gate, { ...found, route: chosen }, request, visit, requestId);
}

/** What an operator asks, who is not limited. */
async function metrics(app: App): Promise<HttpResponse> {
  const headers = { 'Content-Type': app.metrics.type };
  return { status: 200, headers, body: await app.metrics.text() };
}

function optionsAnswer({ allowed }: Match, door: Door, request: HttpRequest): HttpResponse {
  const allow = allowed.join(', ');
  const preflight = door.origins.preflight(request.headers, allow);
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
  visit: Visit,
  requestId: string,
): Promise<HttpResponse> {
  const body = request.body as Uint8Array;
  const { target } = request;
  const turn = gate.large.turn(body.length);
  if (turn) await turn;
  const signed = await signedRequest(kind, { ...request, body });
  if ('refusal' in signed) return failure(signed.refusal, requestId);
  const bodySha256 = () => sha256Hex(body);
  return pass(gate, signed, { visit, target, requestId, bodySha256, host: hostOf(request) });
}

type ReadMatch = Match & { route: Exclude<Route, { write: CommandKind }> };

function read(
  app: App,
  options: ApplicationOptions,
  gate: Gate,
  { route: chosen, params }: ReadMatch,
  request: HttpRequest,
  visit: Visit,
  requestId: string,
): HttpResponse | Promise<HttpResponse> {
  const cost = readCost(request.body);
  const quota = gate.limits.look('read', visit.whom, cost);
  if (quota && quota.remaining < cost) return beyond(quota, requestId);
  gate.limits.use('read', visit.whom, cost);
  const left = gate.limits.look('read', visit.whom);
  if ('special' in chosen) {
    const [id = ''] = params;
    const { special } = chosen;
    const answer = () =>
      specialRead(app.connections, options, special, request, id, requestId).then((response) =>
        withQuota(response, left),
      );
    return gate.large.turn(request.body.length)?.then(answer) ?? answer();
  }
  const query = queryOf(request.target);
  const result = chosen.read({ network: options.network, params, query });
  const response = 'refusal' in result ? failure(result.refusal, requestId) : shown(result.data);
  return withQuota(response, left);
}

/** One, and more for what has a large body: `debug/verify`. */
const readCost = (body: HttpRequest['body']): number =>
  body === 'unread' || body.length === 0 ? 1 : unitsOf(body.length);

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
