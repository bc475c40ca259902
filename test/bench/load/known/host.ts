/**
 * Process of a known server: HTTP, the planned treatment of each request, and the record. The
 * argument is `Made` as JSON. Communicates with its parent through messages.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { pour, writeAnswer, writeHalf, writeLie } from './answers.js';
import { type Plan, planner, type Route } from './behaviour.js';
import { type Answer, type Fields, KnownNetwork } from './network.js';
import { type Made, nowMs, type Received, type Record, type Said } from './record.js';
import { KnownSockets } from './sockets.js';

const made = JSON.parse(process.argv[2]!) as Made;
const record: Record = {
  requests: [],
  delivered: {},
  misdelivered: 0,
  sockets: { opened: 0, authenticated: 0, closed: 0 },
  finalized: [],
  signatures: 0,
  keys: 0,
  lateMs: 0,
  repeated: [],
};
const delays = monitorEventLoopDelay({ resolution: 1 });
delays.enable();
const network = new KnownNetwork(made, record, (type, data) => sockets.tell(type, data));
const sockets = new KnownSockets(made, record, () => network);
const plan = planner(made.behaviours, (does, afterMs) =>
  setTimeout(wholeTreatments[does], afterMs),
);

const wholeTreatments = {
  closeSockets: () => sockets.closeAll(),
  newEpoch() {
    network.begin('epoch-2');
    sockets.closeAll();
  },
  /**
   * Ends the process as `kill -9` does. Sends the record first, because it cannot be requested
   * later.
   */
  die: () => say({ record }, () => process.kill(process.pid, 'SIGKILL')),
};

const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, received);
server.on('upgrade', (request, socket, head) => sockets.upgrade(request, socket, head));
server.listen(0, '127.0.0.1', 1_024, () => say({ port: (server.address() as AddressInfo).port }));
process.on('message', () => {
  record.lateMs = delays.max / 1e6;
  say({ record });
});
process.on('disconnect', () => process.exit());

function say(what: Said, then: () => void = () => {}): void {
  process.send!(what, then);
}

const routes: readonly [method: string, path: RegExp, route: Route][] = [
  ['GET', /^\/api\/v1\/network\/state$/, 'state'],
  ['GET', /^\/api\/v1\/network\/agents$/, 'agents'],
  ['GET', /^\/api\/v1\/social\/reputation\/([^/]+)$/, 'reputation'],
  ['GET', /^\/api\/v1\/meta$/, 'meta'],
  ['POST', /^\/api\/v1\/agents\/register$/, 'register'],
  ['PUT', /^\/api\/v1\/agents\/([^/]+)\/status$/, 'status'],
  ['POST', /^\/api\/v1\/consensus\/vote$/, 'vote'],
  ['POST', /^\/api\/v1\/blocks\/propose$/, 'propose'],
  ['POST', /^\/api\/v1\/social\/memes$/, 'meme'],
];

function received(request: IncomingMessage, response: ServerResponse): void {
  const atMs = nowMs();
  const path = request.url!.split('?')[0]!;
  for (const [method, pattern, route] of routes) {
    const match = pattern.exec(path);
    if (request.method !== method || !match) continue;
    if (route === 'meta' && made.shows !== 'everything') break;
    const planned = plan(route, atMs);
    const { treatment, dueMs: dueAtMs } = planned;
    const entry: Received = { route, atMs, treatment, dueAtMs, answeredAtMs: null, status: 0 };
    record.requests.push(entry);
    return take(request, response, match[1] ?? '', planned, entry);
  }
  request.resume();
  const unknown = { status: 404, code: 'INVALID_REQUEST', reason: 'UNKNOWN_ROUTE' };
  writeAnswer(response, unknown);
}

/** Reads the body, waits until the response is due, then acts as planned. */
function take(
  request: IncomingMessage,
  response: ServerResponse,
  id: string,
  planned: Plan,
  entry: Received,
): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('error', () => {});
  response.on('error', () => {});
  request.on('end', () => {
    const act = () => finish(request, response, id, Buffer.concat(chunks), planned, entry);
    // Rounded up, because a timer truncates fractions and would fire early.
    const waitMs = Math.ceil(planned.dueMs - nowMs());
    if (waitMs > 0) setTimeout(act, waitMs);
    else act();
  });
}

function finish(
  request: IncomingMessage,
  response: ServerResponse,
  id: string,
  raw: Buffer,
  planned: Plan,
  entry: Received,
): void {
  const { treatment, refusal, ordinal } = planned;
  const signed = signedOf(request, raw, entry.route);
  countSignatures(signed);
  if (treatment === 'keepSilent') return;
  // Recorded before writing, because a client that has read the response waited at least as long.
  entry.answeredAtMs = nowMs();
  if (treatment === 'drop') response.destroy();
  else if (treatment === 'lie') writeLie(response, ordinal);
  else if (treatment === 'pour') pour(response);
  else if (treatment === 'refuse') writeAnswer(response, refusal!);
  else {
    const answer = perform(signed, id);
    if (treatment === 'cut') writeHalf(response, answer);
    else writeAnswer(response, answer);
  }
  if (treatment !== 'drop') entry.status = response.statusCode;
}

/** A received request. */
interface Signed {
  route: Route;
  headers: { [name: string]: string };
  raw: Buffer;
  body: Fields;
}

const signatures = new Set<unknown>();
const keys = new Set<unknown>();

/** Counts distinct signatures and keys. Ed25519 repeats a signature only for a repeated message. */
function countSignatures({ route, headers, body }: Signed): void {
  const key = headers['x-agent-public-key'] ?? body.public_key;
  const inHeader = route === 'register' || route === 'status';
  const own = inHeader ? headers['x-agent-signature'] : body.signature;
  const transactions = (body.transactions ?? []) as Fields[];
  const all = [{ sender: key, signature: own }, ...(route === 'propose' ? transactions : [])];
  for (const { sender = key, signature } of all) {
    if (signature === undefined) continue;
    if (signatures.has(signature)) record.repeated.push(route);
    signatures.add(signature);
    keys.add(sender);
  }
  record.signatures = signatures.size;
  record.keys = keys.size;
}

function signedOf(request: IncomingMessage, raw: Buffer, route: Route): Signed {
  const headers = request.headers as { [name: string]: string };
  if (route === 'meme') {
    const [, signature] = /name="?signature"?\r\n\r\n(\w+)/.exec(String(raw)) ?? [];
    return { route, headers, raw, body: { signature } };
  }
  const body = raw.length === 0 ? {} : (JSON.parse(String(raw)) as Fields);
  return { route, headers, raw, body };
}

function perform({ route, headers, raw, body }: Signed, id: string): Answer {
  const key = String(headers['x-agent-public-key']).toLowerCase();
  if (route === 'meta') return network.meta();
  if (route === 'state') return network.state();
  if (route === 'agents') return network.agents();
  if (route === 'reputation') return network.reputation(id);
  if (route === 'register') return network.register(body);
  if (route === 'status') return network.status(key, id, body);
  if (route === 'propose') return network.propose(key, body);
  if (route === 'vote') return network.vote(key, body);
  return network.meme(key, raw);
}
