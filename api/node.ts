/** The transport for every other Node: node:http and ws. Slower, and wherever Node runs. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket as NetSocket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { BodyCollector, Head, safeHeaders } from './head.js';
import type { Application, HttpRequest, Listening, Socket, Transport } from './transport.js';

/** Silence, and a whole request, may take this long. */
const REQUEST_MS = 30_000;
const HEADER_BYTES = 8 * 1024;

export const nodeTransport: Transport = { name: 'node', listen };

async function listen(
  application: Application,
  { host, port }: { host: string; port: number },
): Promise<Listening> {
  const server = createServer(
    { requestTimeout: REQUEST_MS, maxHeaderSize: HEADER_BYTES },
    (message, answer) => void exchange(application, message, answer),
  );
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MESSAGE_BYTES,
    clientTracking: true,
  });
  server.on('upgrade', (message, stream: NetSocket, head) => {
    const path = (message.url ?? '').split('?', 1)[0];
    if (path !== application.socketPath) {
      stream.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n');
      return;
    }
    sockets.handleUpgrade(message, stream, head, (ws) => attach(application, ws, stream));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return { port: (server.address() as AddressInfo).port, close: () => close(server, sockets) };
}

/** Bytes of a message that are read at all; the application refuses smaller ones already. */
const MESSAGE_BYTES = 1024 * 1024;

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

/** How long a peer may take to answer a close frame. */
const CLOSING_MS = 1_000;

function close(server: Server, sockets: WebSocketServer): Promise<void> {
  return new Promise((resolve) => {
    const end = setTimeout(() => {
      for (const ws of sockets.clients) ws.terminate();
    }, CLOSING_MS);
    server.close(() => {
      clearTimeout(end);
      resolve();
    });
    server.closeIdleConnections();
  });
}

async function exchange(
  application: Application,
  message: IncomingMessage,
  answer: ServerResponse,
): Promise<void> {
  const head = new Head();
  const raw = message.rawHeaders;
  for (let index = 0; index < raw.length; index += 2) head.add(raw[index]!, raw[index + 1]!);
  const method = head.ambiguous ? '' : (message.method ?? '').toUpperCase();
  const target = message.url ?? '';
  const path = target.split('?', 1)[0]!;
  const body = await read(message, head, application.bodyLimit(method, path));
  if (body === null) return;
  const address = message.socket.remoteAddress ?? '';
  const request = { method, target, path, headers: head.headers, address, body };
  const response = await application.handle(request);
  if (answer.destroyed) return;
  if (body === 'tooLarge') answer.setHeader('Connection', 'close');
  const length = Buffer.byteLength(response.body);
  const headers = [...safeHeaders(response), ['Content-Length', String(length)]];
  answer.writeHead(response.status, Object.fromEntries(headers));
  answer.end(method === 'HEAD' ? undefined : response.body);
}

/** The body, or null when the peer went away. */
async function read(
  message: IncomingMessage,
  head: Head,
  limit: number,
): Promise<HttpRequest['body'] | null> {
  if ((head.contentLength ?? 0) > limit) return 'tooLarge';
  const collector = new BodyCollector(limit);
  try {
    for await (const chunk of message) {
      collector.add(chunk as Uint8Array);
      if (collector.tooLarge) break;
    }
  } catch {
    return null;
  }
  return collector.take();
}
