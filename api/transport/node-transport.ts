/** The portable transport, node:http and ws. Slower, but works wherever Node runs. */
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { AddressInfo, Socket as NetSocket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { socketLimits } from '../contract/channels.js';
import { BodyReader, Expiring, Head, InFlight, safeHeaders } from './head.js';
import {
  type Application,
  type Body,
  createListenFailure,
  type HttpResponse,
  type IncomingRequest,
  type Listening,
  type RequestHead,
  type Socket,
  type Transport,
} from './transport.js';

const HEADER_BYTES = 8 * 1024;
/** Interval at which node:http checks for late heads. */
const CHECK_HEADS_MS = 2_000;
/** Time to wait for close frames during shutdown. */
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
    if (!hasKnownVersion(message)) return refuseBare(application, message.socket, 505);
    new Exchange(application, inFlight, answer).begin(message, () => state.closing);
  };
  server.on('request', exchange);
  // Answers requests with any Expect header.
  server.on('checkExpectation', exchange);
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: socketLimits.transportBytes,
    maxFragments: socketLimits.fragments,
    // Pongs are sent below, because the library would buffer an unlimited number of pongs.
    autoPong: false,
  });
  server.on('clientError', (error: NodeJS.ErrnoException, stream: NetSocket) => {
    if (error.code === 'ECONNRESET' || !stream.writable) stream.destroy();
    else refuseBare(application, stream, parserStatuses[error.code ?? ''] ?? 400);
  });
  server.on('upgrade', (message, stream: NetSocket, head) => {
    // Node removes its listeners from an upgraded socket, and an unhandled reset would end the
    // process.
    stream.on('error', () => stream.destroy());
    if (!hasKnownVersion(message)) return refuseBare(application, stream, 505);
    upgrade(application, sockets, message, stream, head);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(createListenFailure({ host, port }, error)));
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

/** Returns false for HTTP/0.9 and HTTP/2.0, which the parser passes on. */
const hasKnownVersion = ({ httpVersionMajor }: IncomingMessage) => httpVersionMajor === 1;

/** Statuses for errors of the parser, by code; 400 for all others. */
const parserStatuses: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Responds without a body to a request that the application does not see, and closes. */
function refuseBare(application: Application, stream: NetSocket, status: number): void {
  if (closing.has(stream)) return;
  closing.add(stream);
  application.answered?.(status);
  void writeRaw(stream, 'GET', { status, headers: {}, body: '' });
}

function serverFor(application: Application): Server {
  const { limits } = application;
  const server = createServer({
    maxHeaderSize: HEADER_BYTES,
    headersTimeout: limits.headMs,
    // Exceeds the application's timeout, since the application answers late requests.
    requestTimeout: limits.headMs + 2 * limits.requestMs,
    connectionsCheckingInterval: CHECK_HEADS_MS,
  });
  server.on('connection', (stream) => {
    if (!application.accepts(stream.remoteAddress ?? '')) stream.destroy();
  });
  return server;
}

/** Handles a request to switch protocols: a WebSocket handshake, or else an ordinary request. */
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
  if ('answer' in opened) return void writeRaw(stream, head.method, opened.answer);
  const begin = (ws: WebSocket) => attach(application, ws, stream, opened.addressKey);
  sockets.handleUpgrade(message, stream, rest, begin);
}

/** Recognizes handshakes as uWebSockets.js does. */
const isHandshake = ({ socketPath }: Application, { method, path, headers }: RequestHead) =>
  method === 'GET' &&
  path === socketPath &&
  headers.get('sec-websocket-key')?.length === KEY_LENGTH;
const KEY_LENGTH = 24;

/** Waits for requests in flight, up to the grace period, then closes all connections. */
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
  // A malformed frame closes the connection, and a `close` event follows.
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

const nothing = new Uint8Array();

function headOf(message: IncomingMessage): { head: RequestHead; read: Head } {
  const read = new Head();
  const raw = message.rawHeaders;
  for (let index = 0; index < raw.length; index += 2) read.add(raw[index]!, raw[index + 1]!);
  const target = message.url ?? '';
  const { headers, fault } = read;
  const head: RequestHead = {
    method: message.method ?? '',
    target,
    path: target.split('?', 1)[0]!,
    headers,
    // Reads the address now, because a destroyed socket has no peer address.
    address: message.socket.remoteAddress ?? '',
    fault,
  };
  return { head, read };
}

/** Connections about to close. node:http continues to parse data that the client sent. */
const closing = new WeakSet<Duplex>();

class Exchange extends Expiring {
  readonly #application: Application;
  readonly #inFlight: InFlight;
  readonly #answer: ServerResponse;
  #request: IncomingRequest | null = null;
  #method = '';
  #over = false;

  constructor(application: Application, inFlight: InFlight, answer: ServerResponse) {
    super();
    this.#application = application;
    this.#inFlight = inFlight;
    this.#answer = answer;
  }

  /** `last` returns true if the connection closes after this response. */
  begin(message: IncomingMessage, last: () => boolean): void {
    const { socket } = message;
    if (closing.has(socket)) return;
    const { head, read } = headOf(message);
    const declared = head.fault ? 0 : read.declaredBytes;
    const request = this.#application.begin(head, declared);
    this.#request = request;
    this.#method = head.method;
    this.#inFlight.begin(this);
    let reader: BodyReader | null = null;
    this.#answer.on('close', () => {
      this.#over = true;
      reader?.stop();
      this.#inFlight.end(this);
      request.release();
    });
    const give = (body: Body) => {
      const close = head.fault !== null || body === 'unread';
      if (close) closing.add(socket);
      void this.#write(request.answer(body), () => close || last());
    };
    if (!read.hasBody || head.fault) return give(nothing);
    reader = new BodyReader(request, declared ?? 0, this.#inFlight, give);
    readBody(message, reader);
  }

  expire(): void {
    const answer = this.#answer;
    // The response was sent, but the client is not reading it.
    if (answer.headersSent) return void answer.destroy();
    if (answer.socket) closing.add(answer.socket);
    answer.once('finish', () => answer.destroy());
    if (this.#request) void this.#write(this.#request.timeOut(), () => true);
  }

  async #write(response: HttpResponse | Promise<HttpResponse>, last: () => boolean) {
    // The application never rejects, so an exception comes from a closed socket.
    try {
      write(this.#answer, await response, this.#method, () => this.#over, last);
    } catch {
      this.#answer.destroy();
    }
  }
}

function readBody(message: IncomingMessage, reader: BodyReader): void {
  const mark = () => {
    if (reader.refused) closing.add(message.socket);
  };
  mark();
  // Unread bytes stay in the kernel.
  if (reader.over) return;
  message.on('data', (chunk: Uint8Array) => {
    reader.add(chunk);
    mark();
  });
  message.on('end', () => reader.end());
  // A connection error ends the exchange, because no client is left to answer.
  message.on('error', () => {});
}

function write(
  answer: ServerResponse,
  response: HttpResponse,
  method: string,
  over: () => boolean,
  last: () => boolean,
): void {
  if (over() || answer.headersSent || answer.destroyed) return;
  if (last()) answer.setHeader('Connection', 'close');
  const length = Buffer.byteLength(response.body);
  const headers = [...safeHeaders(response), ['Content-Length', String(length)]];
  answer.writeHead(response.status, Object.fromEntries(headers));
  answer.end(method === 'HEAD' ? undefined : response.body);
}

/** Time for a client to read the last response before its connection closes. */
const LINGER_MS = 2_000;

/** Writes a response to a connection that node:http has released, then closes it. */
async function writeRaw(
  stream: Duplex,
  method: string,
  response: HttpResponse | Promise<HttpResponse>,
): Promise<void> {
  const answer = await response;
  const lines = [
    `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ''}`,
    ...safeHeaders(answer).map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${Buffer.byteLength(answer.body)}`,
    'Connection: close',
  ];
  stream.write(`${lines.join('\r\n')}\r\n\r\n`);
  stream.end(method === 'HEAD' ? undefined : answer.body);
  setTimeout(() => stream.destroy(), LINGER_MS).unref();
}
