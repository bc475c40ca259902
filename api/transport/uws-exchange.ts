/** One request over uWebSockets.js and its answer. `res` is not touched once the peer has gone. */
import type { HttpRequest as UwsRequest, HttpResponse as UwsResponse } from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import { BodyCollector, Head, safeValue } from './head.js';
import type { Expiring, InFlight } from './in-flight.js';
import type {
  Application,
  Body,
  HttpResponse,
  IncomingRequest,
  Opened,
  RequestHead,
} from './transport.js';

const nothing = new Uint8Array();

const statusLine = (status: number) => `${status} ${STATUS_CODES[status] ?? ''}`;

export const addressOf = (res: UwsResponse): string =>
  Buffer.from(res.getRemoteAddressAsText()).toString('latin1');

/** A head, copied out of the library's memory. */
export class UwsHead extends Head implements RequestHead {
  readonly method: string;
  readonly target: string;
  readonly path: string;
  readonly #res: UwsResponse;
  #address: string | null = null;

  constructor(res: UwsResponse, req: UwsRequest) {
    super();
    // Read first: the library turns the method into lower case when it is asked for otherwise.
    this.method = req.getCaseSensitiveMethod();
    req.forEach((name, value) => {
      this.add(name, value);
    });
    this.path = req.getUrl();
    const query = req.getQuery();
    this.target = query === undefined ? this.path : `${this.path}?${query}`;
    this.#res = res;
  }

  /** It costs as much as all the rest of a head, and where nothing is limited nobody asks. */
  get address(): string {
    this.#address ??= addressOf(this.#res);
    return this.#address;
  }
}

/** Takes a request. One that is neither answered nor watched would end the process. */
export function serve(
  application: Application,
  inFlight: InFlight,
  res: UwsResponse,
  req: UwsRequest,
): void {
  let exchange: Exchange | null = null;
  try {
    const head = new UwsHead(res, req);
    const request = application.begin(head, head.fault ? 0 : head.declaredBytes);
    exchange = new Exchange(inFlight, res, head, request);
    exchange.begin();
  } catch (error) {
    if (exchange) exchange.watch();
    else res.onAborted(() => {});
    throw error;
  }
}

/** The value of the first holds all others: one call of the library, not one for each. */
function writeHeaders(res: UwsResponse, headers: HttpResponse['headers']): void {
  let first = '';
  let lines = '';
  for (const name in headers) {
    const value = safeValue(headers[name]!);
    if (first !== '') lines += `\r\n${name}: ${value}`;
    else [first, lines] = [name, value];
  }
  if (first !== '') res.writeHeader(first, lines);
}

type Answer = HttpResponse | Promise<HttpResponse>;

/** Waits for the end of an exchange that is over. */
const nobody = () => {};

export class Exchange implements Expiring {
  readonly #inFlight: InFlight;
  readonly #res: UwsResponse;
  readonly #head: UwsHead;
  readonly #request: IncomingRequest;
  #over = false;
  /** Whether there is a watch, or no need for one any more. */
  #watched = false;
  /** In the turn of its request the library holds back what is written, without a cork. */
  #inTurn = false;

  constructor(inFlight: InFlight, res: UwsResponse, head: UwsHead, request: IncomingRequest) {
    this.#inFlight = inFlight;
    this.#res = res;
    this.#head = head;
    this.#request = request;
  }

  begin(): void {
    this.#inTurn = true;
    try {
      this.#begin();
    } finally {
      this.#inTurn = false;
    }
  }

  #begin(): void {
    if (this.#head.fault) return this.#last(nothing);
    if (!this.#head.hasBody) return this.#answer(nothing);
    if (!this.#request.wanted) return this.#last('unread');
    const collector = new BodyCollector(this.#request);
    let done = false;
    this.watch();
    this.#request.unwanted?.(() => {
      if (done || this.#over) return;
      done = true;
      this.#last('unread');
    });
    this.#res.onData((chunk, isLast) => {
      if (done || this.#over) return;
      // Copied, into memory that small bodies share.
      collector.add(Buffer.from(new Uint8Array(chunk)));
      done = isLast || collector.refused;
      if (collector.refused) this.#last('unread');
      else if (done) this.#answer(collector.take());
    });
  }

  /** Gives an answer and ends the connection. */
  refuse(answer: () => Answer): void {
    this.watch();
    // Later, because the library forgets that it shall close where the bytes of this turn hold
    // another request. So they meet one that is unanswered, and end the connection themselves.
    setImmediate(() => {
      if (!this.#over) this.#give(answer(), true);
    });
  }

  /** What became of a handshake that had to be waited for. */
  open(opened: Opened, open: (opened: { addressKey: string }) => void): void {
    if ('answer' in opened) return this.refuse(() => opened.answer);
    if (this.#over) return;
    this.#over = true;
    this.#inFlight.end(this);
    // Not in a cork: the library goes on with the connection after it as with a request's, and may
    // end it.
    open(opened);
  }

  expire(): void {
    this.#give(this.#request.late(), true);
  }

  /** To learn when the peer goes: where the answer is not written in the turn of its request. */
  watch(): void {
    if (this.#watched) return;
    this.#watched = true;
    this.#inFlight.begin(this);
    this.#res.onAborted(() => this.#end());
  }

  #answer(body: Body): void {
    this.#give(this.#request.answer(body), false);
  }

  #last(body: Body): void {
    this.refuse(() => this.#request.answer(body));
  }

  #give(response: Answer, close: boolean): void {
    // An answer without a body is none to the library, which asks for one or for a watch.
    if (this.#head.method === 'HEAD' || response instanceof Promise) this.watch();
    // Nor does it count every answer that is written in its turn as one, and a request without
    // answer and watch ends the process (a peer that sends requests at once and goes showed it).
    if (!this.#watched) this.#res.onAborted(nobody);
    if (!(response instanceof Promise)) return this.#write(response, close);
    void response.then((answer) => this.#write(answer, close));
  }

  #write(response: HttpResponse, close: boolean): void {
    if (this.#over) return;
    this.#end();
    if (this.#inTurn) this.#put(response, close);
    else this.#res.cork(() => this.#put(response, close));
    this.#watched = true;
  }

  #put({ status, headers, body }: HttpResponse, close: boolean): void {
    const res = this.#res;
    // 200 is what it writes by itself.
    if (status !== 200) res.writeStatus(statusLine(status));
    writeHeaders(res, headers);
    if (this.#head.method !== 'HEAD') res.end(body, close);
    else res.endWithoutBody(Buffer.byteLength(body), close);
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    // What is answered in its turn was never in flight.
    if (this.#watched) this.#inFlight.end(this);
    this.#request.release();
  }
}
