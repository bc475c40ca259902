/** One request over node:http and its answer. */
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { BodyCollector, Head, safeHeaders } from './head.js';
import type { Flight, Underway } from './in-flight.js';
import type { Application, HttpRequest, HttpResponse } from './transport.js';

const nothing = new Uint8Array();

/** A request without its body. */
export function requestOf(message: IncomingMessage): { head: Head; request: HttpRequest } {
  const head = new Head();
  const raw = message.rawHeaders;
  for (let index = 0; index < raw.length; index += 2) head.add(raw[index]!, raw[index + 1]!);
  const target = message.url ?? '';
  const { headers, fault } = head;
  const request: HttpRequest = {
    method: message.method ?? '',
    target,
    path: target.split('?', 1)[0]!,
    headers,
    // Read now: a socket that is destroyed knows its peer no more.
    address: message.socket.remoteAddress ?? '',
    body: nothing,
    fault,
  };
  return { head, request };
}

/** Connections on which nothing is read any more: node:http goes on parsing what was sent. */
const closing = new WeakSet<Duplex>();

export class Exchange implements Underway {
  readonly #application: Application;
  readonly #flight: Flight;
  readonly #answer: ServerResponse;
  readonly #request: HttpRequest;
  #over = false;

  constructor(
    application: Application,
    flight: Flight,
    answer: ServerResponse,
    request: HttpRequest,
  ) {
    this.#application = application;
    this.#flight = flight;
    this.#answer = answer;
    this.#request = request;
  }

  /** `last` says whether the connection ends with this answer. */
  begin(message: IncomingMessage, head: Head, last: () => boolean): void {
    const { socket } = message;
    if (closing.has(socket)) return;
    const { fault } = this.#request;
    const entry =
      head.hasBody && !fault ? this.#application.enter(this.#request, head.contentLength) : null;
    this.#flight.begin(this);
    this.#answer.on('close', () => {
      this.#over = true;
      this.#flight.end(this);
      entry?.leave();
    });
    const give = (body: HttpRequest['body']) => {
      const close = fault !== null || body === 'unread';
      if (close) closing.add(socket);
      const request = { ...this.#request, body };
      void this.#give(entry ? { ...request, entry } : request, () => close || last());
    };
    if (!entry) return give(nothing);
    if (!entry.wanted) return give('unread');
    const collector = new BodyCollector(entry);
    message.on('data', (chunk: Uint8Array) => {
      if (collector.refused) return;
      collector.add(chunk);
      if (collector.refused) give('unread');
    });
    message.on('end', () => {
      if (!collector.refused) give(collector.take());
    });
    // What is wrong with a connection ends it: nobody is left to be told.
    message.on('error', () => {});
  }

  expire(): void {
    const answer = this.#answer;
    // What was answered and is not taken is not waited for either.
    if (answer.headersSent) return void answer.destroy();
    if (answer.socket) closing.add(answer.socket);
    answer.once('finish', () => answer.destroy());
    void this.#write(this.#application.late(this.#request), () => true);
  }

  #give(request: HttpRequest, last: () => boolean): Promise<void> {
    return this.#write(this.#application.handle(request), last);
  }

  async #write(response: HttpResponse | Promise<HttpResponse>, last: () => boolean) {
    // The application never rejects: what can throw here is a socket that is gone.
    try {
      write(this.#answer, await response, this.#request.method, () => this.#over, last);
    } catch {
      this.#answer.destroy();
    }
  }
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

/** How long a peer may take to read an answer after which its connection ends. */
const LINGER_MS = 2_000;

/** An answer on a connection that node:http has given away; it ends there. */
export async function writeRaw(
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
