/** One request over node:http and its answer. */
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { BodyCollector, Head, safeHeaders } from './head.js';
import type { Expiring, InFlight } from './in-flight.js';
import type { Application, Body, HttpResponse, IncomingRequest, RequestHead } from './transport.js';

export const nothing = new Uint8Array();

export function headOf(message: IncomingMessage): { head: RequestHead; read: Head } {
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
    // Read now: a socket that is destroyed knows its peer no more.
    address: message.socket.remoteAddress ?? '',
    fault,
  };
  return { head, read };
}

/** Connections on which nothing is read any more: node:http goes on parsing what was sent. */
const closing = new WeakSet<Duplex>();

export class Exchange implements Expiring {
  readonly #application: Application;
  readonly #inFlight: InFlight;
  readonly #answer: ServerResponse;
  #request: IncomingRequest | null = null;
  #method = '';
  #over = false;

  constructor(application: Application, inFlight: InFlight, answer: ServerResponse) {
    this.#application = application;
    this.#inFlight = inFlight;
    this.#answer = answer;
  }

  /** `last` says whether the connection ends with this answer. */
  begin(message: IncomingMessage, last: () => boolean): void {
    const { socket } = message;
    if (closing.has(socket)) return;
    const { head, read } = headOf(message);
    const declared = head.fault ? 0 : read.declaredBytes;
    const request = this.#application.begin(head, declared);
    this.#request = request;
    this.#method = head.method;
    this.#inFlight.begin(this);
    this.#answer.on('close', () => {
      this.#over = true;
      this.#inFlight.end(this);
      request.release();
    });
    const give = (body: Body) => {
      const close = head.fault !== null || body === 'unread';
      if (close) closing.add(socket);
      void this.#write(request.answer(body), () => close || last());
    };
    if (read.hasBody && !head.fault) collect(message, request, give);
    else give(nothing);
  }

  expire(): void {
    const answer = this.#answer;
    // What was answered and is not taken is not waited for either.
    if (answer.headersSent) return void answer.destroy();
    if (answer.socket) closing.add(answer.socket);
    answer.once('finish', () => answer.destroy());
    if (this.#request) void this.#write(this.#request.late(), () => true);
  }

  async #write(response: HttpResponse | Promise<HttpResponse>, last: () => boolean) {
    // The application never rejects: what can throw here is a socket that is gone.
    try {
      write(this.#answer, await response, this.#method, () => this.#over, last);
    } catch {
      this.#answer.destroy();
    }
  }
}

/** Gives a body once all of it is there, or as soon as no more of it is taken. */
function collect(
  message: IncomingMessage,
  request: IncomingRequest,
  give: (body: Body) => void,
): void {
  if (!request.wanted) return give('unread');
  const collector = new BodyCollector(request);
  message.on('data', (chunk: Uint8Array) => {
    if (collector.refused) return;
    collector.add(chunk);
    if (collector.refused) give('unread');
  });
  message.on('end', () => {
    if (!collector.refused) give(collector.take());
  });
  // What is wrong with a connection ends it: nobody is left to be answered.
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
