/** The fast transport: uWebSockets.js. Its memory is gone when a callback returns: copy at once. */

import type {
  HttpRequest as UwsRequest,
  HttpResponse as UwsResponse,
  us_listen_socket,
  us_socket,
  WebSocket,
  WebSocketBehavior,
} from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import { BodyCollector, Head, safeValue } from './head.js';
import type {
  Application,
  Entry,
  HttpRequest,
  HttpResponse,
  Listening,
  Socket,
  SocketHandlers,
  Transport,
} from './transport.js';

type Uws = typeof import('uWebSockets.js');

/** The transport, or null where its binary does not load (musl, Node 24 and later). */
export async function uwsTransport(): Promise<Transport | null> {
  let uws: Uws;
  try {
    uws = await import('uWebSockets.js');
  } catch {
    return null;
  }
  return { name: 'uws', listen: (application, address) => listen(uws, application, address) };
}

async function listen(
  uws: Uws,
  application: Application,
  { host, port }: { host: string; port: number },
): Promise<Listening> {
  const flight = new Flight();
  const app = uws
    .App()
    .filter(guard(application))
    .ws<SocketData>(application.socketPath, sockets(application))
    .any('/*', (res, req) => new Exchange(application, flight, res).begin(req));
  const socket = await new Promise<us_listen_socket | false>((resolve) => {
    // The library takes host, port and options together; its types know only pairs of them.
    const listenOn = app.listen as unknown as ListenOn;
    listenOn.call(app, host, port, EXCLUSIVE_PORT, resolve);
  });
  if (!socket) throw new Error(`${host}:${port} cannot be listened on; is the port taken?`);
  return {
    port: uws.us_socket_local_port(socket as unknown as us_socket),
    async close() {
      uws.us_listen_socket_close(socket);
      await flight.landed();
      app.close();
    },
  };
}

/** Told of each connection that comes or, below zero, goes. */
const guard = (application: Application) => (res: UwsResponse, count: number) => {
  if (count === 1 && !application.accepts(addressOf(res))) res.close();
};

const addressOf = (res: UwsResponse): string =>
  Buffer.from(res.getRemoteAddressAsText()).toString('latin1');

/** LIBUS_LISTEN_EXCLUSIVE_PORT: by default a second server would share the port in silence. */
const EXCLUSIVE_PORT = 1;
type ListenOn = (
  host: string,
  port: number,
  options: number,
  listening: (socket: us_listen_socket | false) => void,
) => void;

interface SocketData {
  address: string;
  handlers: SocketHandlers | null;
}

/** Bytes of a message that are read at all; the application refuses smaller ones already. */
const MESSAGE_BYTES = 1024 * 1024;

function sockets(application: Application): WebSocketBehavior<SocketData> {
  return {
    compression: 0,
    maxPayloadLength: MESSAGE_BYTES,
    // The application beats itself, and decides who is slow: nothing is dropped here.
    idleTimeout: 0,
    sendPingsAutomatically: false,
    maxBackpressure: 0,
    upgrade(res, req, context) {
      const version = req.getHeader('sec-websocket-version');
      if (version !== '13') return void refuseUpgrade(res);
      const address = addressOf(res);
      res.upgrade<SocketData>(
        { address, handlers: null },
        req.getHeader('sec-websocket-key'),
        req.getHeader('sec-websocket-protocol'),
        req.getHeader('sec-websocket-extensions'),
        context,
      );
    },
    open(ws) {
      ws.getUserData().handlers = application.open(socketOf(ws));
    },
    message(ws, message, isBinary) {
      // Copied by the decoding: the memory is uWebSockets.js' own.
      ws.getUserData().handlers?.message(isBinary ? null : Buffer.from(message).toString());
    },
    pong: (ws) => ws.getUserData().handlers?.pong(),
    drain: (ws) => ws.getUserData().handlers?.drained(),
    close(ws, code) {
      const data = ws.getUserData();
      const { handlers } = data;
      data.handlers = null;
      handlers?.closed(code);
    },
  };
}

function refuseUpgrade(res: UwsResponse): void {
  res.cork(() => {
    res.writeStatus('426 Upgrade Required').writeHeader('Sec-WebSocket-Version', '13').end();
  });
}

/** Calls on a closed socket throw in uWebSockets.js: they are nothing here. */
function socketOf(ws: WebSocket<SocketData>): Socket {
  const data = ws.getUserData();
  let ended = false;
  const alive = () => !ended && data.handlers !== null;
  return {
    address: data.address,
    send(text) {
      if (!ended) ws.send(text, false);
    },
    bufferedBytes: () => (alive() ? ws.getBufferedAmount() : 0),
    cork(work) {
      if (alive()) ws.cork(work);
    },
    ping() {
      if (alive()) ws.ping();
    },
    close(code, reason) {
      if (ended) return;
      ended = true;
      ws.end(code, reason);
    },
  };
}

/** Counts what is in flight, so that a stop can wait for it. */
class Flight {
  #count = 0;
  #landed: (() => void) | null = null;

  begin(): void {
    this.#count += 1;
  }

  end(): void {
    this.#count -= 1;
    if (this.#count === 0) this.#landed?.();
  }

  landed(): Promise<void> {
    if (this.#count === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#landed = resolve;
    });
  }
}

const nothing = new Uint8Array();

const statusLine = (status: number) => `${status} ${STATUS_CODES[status] ?? ''}`;

/** One request and its answer. `res` must not be touched once the peer has gone. */
class Exchange {
  readonly #application: Application;
  readonly #flight: Flight;
  readonly #res: UwsResponse;
  #over = false;
  #entry: Entry | null = null;
  /** Whether there is a watch, or no need for one any more. */
  #watched = false;

  constructor(application: Application, flight: Flight, res: UwsResponse) {
    this.#application = application;
    this.#flight = flight;
    this.#res = res;
  }

  begin(req: UwsRequest): void {
    this.#flight.begin();
    try {
      this.#take(req);
    } catch (error) {
      // A request that is neither answered nor watched would end the process.
      this.#watch();
      throw error;
    }
  }

  #take(req: UwsRequest): void {
    const head = new Head();
    req.forEach((name, value) => {
      head.add(name, value);
    });
    const path = req.getUrl();
    const query = req.getQuery();
    const method = req.getCaseSensitiveMethod().toUpperCase();
    const address = addressOf(this.#res);
    const target = query === undefined ? path : `${path}?${query}`;
    this.#read(head, { method, target, path, headers: head.headers, address, body: nothing });
  }

  #read(head: Head, request: HttpRequest): void {
    if (head.ambiguous) return this.#answer({ ...request, method: '' }, true);
    if (!head.hasBody) return this.#answer(request);
    const entry = this.#application.enter(request, head.contentLength);
    this.#entry = entry;
    if (!entry.wanted) return this.#answer({ ...request, entry, body: 'unread' }, true);
    const collector = new BodyCollector(entry);
    let done = false;
    this.#watch();
    this.#res.onData((chunk, isLast) => {
      if (done || this.#over) return;
      // Copied, into memory that small bodies share.
      collector.add(Buffer.from(new Uint8Array(chunk)));
      done = isLast || collector.refused;
      if (done) this.#answer({ ...request, entry, body: collector.take() }, collector.refused);
    });
  }

  #answer(request: HttpRequest, close = false): void {
    const response = this.#application.handle(request);
    const headOnly = request.method === 'HEAD';
    // An answer without a body is none to the library, which asks for one or for a watch.
    if (headOnly || response instanceof Promise) this.#watch();
    if (!(response instanceof Promise)) return this.#write(response, headOnly, close);
    void response.then((answer) => this.#write(answer, headOnly, close));
  }

  /** To be told when the peer goes: where the answer is not written in the turn of its request. */
  #watch(): void {
    if (this.#watched) return;
    this.#watched = true;
    this.#res.onAborted(() => this.#end());
  }

  #write({ status, headers, body }: HttpResponse, headOnly: boolean, close: boolean): void {
    if (this.#over) return;
    this.#end();
    const res = this.#res;
    res.cork(() => {
      // 200 is what it writes by itself.
      if (status !== 200) res.writeStatus(statusLine(status));
      for (const name in headers) res.writeHeader(name, safeValue(headers[name]!));
      if (headOnly) res.endWithoutBody(Buffer.byteLength(body), close);
      else res.end(body, close);
      this.#watched = true;
    });
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#entry?.leave();
    this.#flight.end();
  }
}
