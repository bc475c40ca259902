/** The transport for every other Node: node:http and ws. Slower, and wherever Node runs. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket as NetSocket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { socketLimits } from '../contract/channels.js';
import { InFlight } from './in-flight.js';
import { ListenProblem } from './listen-problem.js';
import { Exchange, headOf, nothing, writeRaw } from './node-exchange.js';
import type {
  Application,
  Listening,
  Opened,
  RequestHead,
  Socket,
  Transport,
} from './transport.js';

const HEADER_BYTES = 8 * 1024;
/** How often node:http checks for heads that take too long. */
const CHECK_HEADS_MS = 2_000;
/** How long a stop waits for a close frame's answer. */
const CLOSING_SOCKETS_MS = 1_000;

export const nodeTransport: Transport = { name: 'node', listen };

async function listen(
  application: Application,
  { host, port }: { host: string; port: number },
): Promise<Listening> {
  const state = { closing: false };
  const inFlight = new InFlight(application.limits);
  const server = serverFor(application);
  const exchange = (message: IncomingMessage, answer: ServerResponse) => {
    new Exchange(application, inFlight, answer).begin(message, () => state.closing);
  };
  server.on('request', exchange);
  // Nothing is expected but bodies: whatever else a client expects, it gets its answer.
  server.on('checkExpectation', exchange);
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: socketLimits.transportBytes,
    maxFragments: socketLimits.fragments,
    // We answer pings ourselves: the library would buffer as many answers as there are pings.
    autoPong: false,
  });
  server.on('upgrade', (message, stream: NetSocket, head) => {
    // Node takes its own listeners off an upgraded socket: a reset would end the process.
    stream.on('error', () => stream.destroy());
    upgrade(application, sockets, message, stream, head);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(new ListenProblem({ host, port }, error)));
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      state.closing = true;
      return close(server, sockets, inFlight);
    },
  };
}

/** Waits for heads as long as the application does, and takes the connections that it takes. */
function serverFor(application: Application): Server {
  const { limits } = application;
  const server = createServer({
    maxHeaderSize: HEADER_BYTES,
    headersTimeout: limits.headMs,
    // Whoever is late is answered so by us, before that.
    requestTimeout: limits.headMs + 2 * limits.requestMs,
    connectionsCheckingInterval: CHECK_HEADS_MS,
  });
  server.on('connection', (stream) => {
    if (!application.accepts(stream.remoteAddress ?? '')) stream.destroy();
  });
  return server;
}

/** A request that asks for another protocol: a WebSocket, or else a request like any other. */
function upgrade(
  application: Application,
  sockets: WebSocketServer,
  message: IncomingMessage,
  stream: NetSocket,
  rest: Buffer,
): void {
  const { head } = headOf(message);
  const request = application.begin(head, 0);
  const opened = isHandshake(application, head)
    ? request.upgrade()
    : { answer: request.answer(nothing) };
  const open = (known: Opened): void => {
    if ('answer' in known) return void writeRaw(stream, head.method, known.answer);
    const begin = (ws: WebSocket) => attach(application, ws, stream, known.addressKey);
    sockets.handleUpgrade(message, stream, rest, begin);
  };
  if (opened instanceof Promise) void opened.then(open);
  else open(opened);
}

/** What uWebSockets.js takes for one: everything else is a request. */
const isHandshake = ({ socketPath }: Application, { method, path, headers }: RequestHead) =>
  method === 'GET' &&
  path === socketPath &&
  headers.get('sec-websocket-key')?.length === KEY_LENGTH;
const KEY_LENGTH = 24;

/** Answers what is in flight, for a while; then all connections end. */
async function close(server: Server, sockets: WebSocketServer, inFlight: InFlight): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  server.closeIdleConnections();
  await inFlight.drained();
  const end = setTimeout(() => {
    for (const ws of sockets.clients) ws.terminate();
    server.closeAllConnections();
  }, CLOSING_SOCKETS_MS);
  await closed;
  clearTimeout(end);
}

function attach(
  application: Application,
  ws: WebSocket,
  stream: NetSocket,
  addressKey: string,
): void {
  const handlers = application.open(socketOf(ws, stream, addressKey));
  ws.on('message', (data: Buffer, isBinary: boolean) => {
    handlers.message(isBinary ? null : data.toString());
  });
  ws.on('ping', (data: Buffer) => {
    if (ws.bufferedAmount <= socketLimits.backlogBytes) ws.pong(data);
    handlers.pinged();
  });
  ws.on('pong', () => handlers.pong());
  stream.on('drain', () => handlers.drained());
  ws.on('close', (code) => handlers.closed(code));
  // What is wrong with a frame ends the connection; `close` follows.
  ws.on('error', () => {});
}

function socketOf(ws: WebSocket, stream: NetSocket, addressKey: string): Socket {
  const send = (message: Uint8Array | string, binary: boolean) => {
    if (ws.bufferedAmount > socketLimits.backlogBytes) return false;
    ws.send(message, { binary });
    return true;
  };
  return {
    addressKey,
    together: null,
    send: (text) => send(text, false),
    sendBytes: (bytes) => send(bytes, true),
    bufferedBytes: () => ws.bufferedAmount,
    cork(work) {
      stream.cork();
      work();
      stream.uncork();
    },
    ping: () => ws.ping(),
    close: (code, reason) => ws.close(code, reason),
  };
}
