/** The transport for every other Node: node:http and ws. Slower, and wherever Node runs. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket as NetSocket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { BodyCollector, Head, safeHeaders } from './head.js';
import type {
  Application,
  Entry,
  HttpRequest,
  HttpResponse,
  Listening,
  Socket,
  Transport,
} from './transport.js';

/** Silence, and a whole request, may take this long. */
const REQUEST_MS = 30_000;
const HEADER_BYTES = 8 * 1024;
/** Bytes of a message that are read at all; the application refuses smaller ones already. */
const MESSAGE_BYTES = 1024 * 1024;
/** How long a stop waits for a close frame's answer, and for a request that is under way. */
const CLOSING_SOCKETS_MS = 1_000;
const CLOSING_MS = 10_000;

export const nodeTransport: Transport = { name: 'node', listen };

async function listen(
  application: Application,
  { host, port }: { host: string; port: number },
): Promise<Listening> {
  const state = { closing: false };
  const server = createServer(
    { requestTimeout: REQUEST_MS, maxHeaderSize: HEADER_BYTES },
    (message, answer) => {
      // The application never rejects: what can throw here is a socket that is gone.
      exchange(application, message, answer, state).catch(() => answer.destroy());
    },
  );
  server.on('connection', (stream) => {
    if (!application.accepts(stream.remoteAddress ?? '')) stream.destroy();
  });
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MESSAGE_BYTES });
  server.on('upgrade', (message, stream: NetSocket, head) => {
    // Node takes its own listeners off an upgraded socket: a reset would end the process.
    stream.on('error', () => stream.destroy());
    const path = (message.url ?? '').split('?', 1)[0];
    if (path !== application.socketPath) {
      stream.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    sockets.handleUpgrade(message, stream, head, (ws) => attach(application, ws, stream));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      state.closing = true;
      return close(server, sockets);
    },
  };
}

/** Answers what is in flight; connections end with their answer, or after a while. */
function close(server: Server, sockets: WebSocketServer): Promise<void> {
  return new Promise((resolve) => {
    const endSockets = setTimeout(() => {
      for (const ws of sockets.clients) ws.terminate();
    }, CLOSING_SOCKETS_MS);
    const end = setTimeout(() => server.closeAllConnections(), CLOSING_MS);
    server.close(() => {
      clearTimeout(endSockets);
      clearTimeout(end);
      resolve();
    });
    server.closeIdleConnections();
  });
}

function attach(application: Application, ws: WebSocket, stream: NetSocket): void {
  const handlers = application.open(socketOf(ws, stream));
  ws.on('message', (data: Buffer, isBinary: boolean) => {
    handlers.message(isBinary ? null : data.toString());
  });
  ws.on('pong', () => handlers.pong());
  stream.on('drain', () => handlers.drained());
  ws.on('close', (code) => handlers.closed(code));
  // What is wrong with a frame ends the connection; `close` follows.
  ws.on('error', () => {});
}

function socketOf(ws: WebSocket, stream: NetSocket): Socket {
  return {
    address: stream.remoteAddress ?? '',
    send: (text) => ws.send(text, { binary: false }),
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

async function exchange(
  application: Application,
  message: IncomingMessage,
  answer: ServerResponse,
  state: { closing: boolean },
): Promise<void> {
  // Read now: a socket that is destroyed knows its peer no more.
  const address = message.socket.remoteAddress ?? '';
  const head = new Head();
  const raw = message.rawHeaders;
  for (let index = 0; index < raw.length; index += 2) head.add(raw[index]!, raw[index + 1]!);
  const method = head.ambiguous ? '' : (message.method ?? '').toUpperCase();
  const target = message.url ?? '';
  const path = target.split('?', 1)[0]!;
  const asked = { method, target, path, headers: head.headers, address };
  if (!head.hasBody) {
    const response = await application.handle({ ...asked, body: nothing });
    return finish(answer, response, method, state.closing || head.ambiguous);
  }
  const entry = application.enter(asked, head.contentLength);
  const body = await read(message, entry);
  if (body === null) return entry.leave();
  const response = await application.handle({ ...asked, entry, body });
  finish(answer, response, method, state.closing || head.ambiguous || body === 'unread');
}

const nothing = new Uint8Array();

function finish(answer: ServerResponse, response: HttpResponse, method: string, last: boolean) {
  if (!answer.destroyed) write(answer, response, method, last);
}

function write(answer: ServerResponse, response: HttpResponse, method: string, last: boolean) {
  if (last) answer.setHeader('Connection', 'close');
  const length = Buffer.byteLength(response.body);
  const headers = [...safeHeaders(response), ['Content-Length', String(length)]];
  answer.writeHead(response.status, Object.fromEntries(headers));
  answer.end(method === 'HEAD' ? undefined : response.body);
}

/** The body, or null when the peer went away. What the application does not take is not read. */
function read(message: IncomingMessage, entry: Entry): Promise<HttpRequest['body'] | null> {
  if (!entry.wanted) return Promise.resolve('unread');
  const collector = new BodyCollector(entry);
  return new Promise((resolve) => {
    message.on('data', (chunk: Uint8Array) => {
      collector.add(chunk);
      if (collector.refused) resolve('unread');
    });
    message.on('end', () => resolve(collector.take()));
    message.on('error', () => resolve(null));
    message.on('close', () => resolve(null));
  });
}
