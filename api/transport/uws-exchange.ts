/** One request over uWebSockets.js and its answer. `res` is not touched once the peer has gone. */

import type { HttpRequest as UwsRequest, HttpResponse as UwsResponse } from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import { BodyCollector, Head, safeValue } from './head.js';
import type { Flight, Underway } from './in-flight.js';
import type { Application, Entry, HttpRequest, HttpResponse } from './transport.js';

const nothing = new Uint8Array();

const statusLine = (status: number) => `${status} ${STATUS_CODES[status] ?? ''}`;

export const addressOf = (res: UwsResponse): string =>
  Buffer.from(res.getRemoteAddressAsText()).toString('latin1');

/** A request without its body, copied out of the library's memory. */
export function requestOf(res: UwsResponse, req: UwsRequest): { head: Head; request: HttpRequest } {
  const head = new Head();
  // Read first: the library turns the method into lower case when it is asked for otherwise.
  const method = req.getCaseSensitiveMethod();
  req.forEach((name, value) => {
    head.add(name, value);
  });
  const path = req.getUrl();
  const query = req.getQuery();
  const target = query === undefined ? path : `${path}?${query}`;
  const { headers, fault } = head;
  const address = addressOf(res);
  return { head, request: { method, target, path, headers, address, body: nothing, fault } };
}

type Answer = HttpResponse | Promise<HttpResponse>;

export class Exchange implements Underway {
  readonly #application: Application;
  readonly #flight: Flight;
  readonly #res: UwsResponse;
  readonly #request: HttpRequest;
  #entry: Entry | null = null;
  #over = false;
  /** Whether there is a watch, or no need for one any more. */
  #watched = false;

  constructor(application: Application, flight: Flight, res: UwsResponse, request: HttpRequest) {
    this.#application = application;
    this.#flight = flight;
    this.#res = res;
    this.#request = request;
  }

  begin(head: Head): void {
    try {
      this.#read(head);
    } catch (error) {
      // A request that is neither answered nor watched would end the process.
      this.#watch();
      throw error;
    }
  }

  /** Gives an answer and ends the connection. */
  refuse(answer: () => Answer): void {
    this.#watch();
    // Later, because the library forgets that it shall close where the bytes of this turn hold
    // another request. So they meet one that is unanswered, and end the connection themselves.
    setImmediate(() => {
      if (!this.#over) this.#give(answer(), true);
    });
  }

  expire(): void {
    this.#give(this.#application.late(this.#request), true);
  }

  #read(head: Head): void {
    if (this.#request.fault) return this.#last(nothing);
    if (!head.hasBody) return this.#answer(nothing);
    const entry = this.#application.enter(this.#request, head.contentLength);
    this.#entry = entry;
    if (!entry.wanted) return this.#last('unread');
    const collector = new BodyCollector(entry);
    let done = false;
    this.#watch();
    this.#res.onData((chunk, isLast) => {
      if (done || this.#over) return;
      // Copied, into memory that small bodies share.
      collector.add(Buffer.from(new Uint8Array(chunk)));
      done = isLast || collector.refused;
      if (collector.refused) this.#last('unread');
      else if (done) this.#answer(collector.take());
    });
  }

  #answer(body: HttpRequest['body']): void {
    this.#give(this.#handled(body), false);
  }

  #last(body: HttpRequest['body']): void {
    this.refuse(() => this.#handled(body));
  }

  #handled(body: HttpRequest['body']): Answer {
    const request = { ...this.#request, body };
    return this.#application.handle(this.#entry ? { ...request, entry: this.#entry } : request);
  }

  #give(response: Answer, close: boolean): void {
    // An answer without a body is none to the library, which asks for one or for a watch.
    if (this.#request.method === 'HEAD' || response instanceof Promise) this.#watch();
    if (!(response instanceof Promise)) return this.#write(response, close);
    void response.then((answer) => this.#write(answer, close));
  }

  /** To be told when the peer goes: where the answer is not written in the turn of its request. */
  #watch(): void {
    if (this.#watched) return;
    this.#watched = true;
    this.#flight.begin(this);
    this.#res.onAborted(() => this.#end());
  }

  #write({ status, headers, body }: HttpResponse, close: boolean): void {
    if (this.#over) return;
    this.#end();
    const res = this.#res;
    res.cork(() => {
      // 200 is what it writes by itself.
      if (status !== 200) res.writeStatus(statusLine(status));
      for (const name in headers) res.writeHeader(name, safeValue(headers[name]!));
      if (this.#request.method !== 'HEAD') res.end(body, close);
      else res.endWithoutBody(Buffer.byteLength(body), close);
      this.#watched = true;
    });
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#flight.end(this);
    this.#entry?.leave();
  }
}
