/**
 * The fast transport, uWebSockets.js. The library's memory is invalid after a callback returns, so
 * everything is copied immediately.
 */
import type {
  HttpRequest,
  HttpResponse,
  TemplatedApp,
  HttpRequest as UwsRequest,
  HttpResponse as UwsResponse,
  us_listen_socket,
  us_socket,
  us_socket_context_t,
  WebSocket,
  WebSocketBehavior,
} from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { socketLimits } from '../contract/channels.js';
import { BodyReader, Expiring, Head, InFlight, safeValue } from './head.js';
import { nodeTransport } from './node-transport.js';
import {
  type Address,
  type Application,
  type Body,
  type HttpResponse as ExchangeResponse,
  findListenProblem,
  type IncomingRequest,
  type Listening,
  type RequestHead,
  type Socket,
  type SocketHandlers,
  type Transport,
} from './transport.js';

type Uws = typeof import('uWebSockets.js');

/** Returns the transport, or the reason why uWebSockets.js is unavailable and what to do. */
async function uwsTransport(): Promise<Transport | { missing: string }> {
  let uws: Uws;
  try {
    const module: Uws & { default?: Uws } = await import('uWebSockets.js');
    // Some releases are CommonJS, of which an import shows only the default.
    uws = typeof module.App === 'function' ? module : (module.default ?? module);
  } catch (error) {
    return { missing: describeLoadProblem(error as Error) };
  }
  return { name: 'uws', listen: (application, address) => listen(uws, application, address) };
}

/** Platform and Node version of the process that loads the library. */
export type Platform = Pick<NodeJS.Process, 'platform' | 'arch' | 'version'>;

/** Returns why the library does not load, and what to do. */
export function describeLoadProblem(
  { code, message }: Error & { code?: string },
  { platform, arch, version }: Platform = process,
): string {
  const release = Number(/^v(\d+)/.exec(version)?.[1]) < 22 ? 'uws-pack' : 'upstream';
  const install = `npm install uWebSockets.js@${releases[release]}`;
  if (code === 'ERR_MODULE_NOT_FOUND') return `uWebSockets.js is not installed; ${install}`;
  const problem = `uWebSockets.js does not load on ${platform} ${arch} with Node ${version}`;
  const glibc = /GLIBC_(\d+\.\d+)/.exec(message)?.[1];
  return glibc
    ? `${problem}: it needs glibc ${glibc}; use a newer distribution, or Node's server`
    : `${problem}: no binary; ${install}`;
}

/** Releases with binaries for Node 22 and earlier, and for Node 22 and later. */
const releases = {
  'uws-pack': 'npm:uws-pack@20.0.8',
  upstream: 'uNetworking/uWebSockets.js#v20.67.0',
};

async function listen(
  uws: Uws,
  application: Application,
  { host, port }: Address,
): Promise<Listening> {
  const inFlight = new InFlight(application.limits);
  const app = uws.App();
  app
    .filter((res, change) => connectionChanged(application, res, Number(change)))
    .ws(application.socketPath, sockets(app, application, inFlight))
    .any('/*', (res, req) => serve(application, inFlight, res, req));
  const socket = await new Promise<us_listen_socket | false>((resolve) => {
    // The library takes host, port and options together, which its types do not cover.
    const listenOn = app.listen as unknown as ListenOn;
    listenOn.call(app, host, port, EXCLUSIVE_PORT, resolve);
  });
  if (!socket) throw await findListenProblem({ host, port });
  return {
    port: uws.us_socket_local_port(socket as unknown as us_socket),
    async close() {
      uws.us_listen_socket_close(socket);
      await inFlight.drained();
      // The last responses are sent at the end of this turn.
      await nextTurn();
      app.close();
    },
  };
}

/** Handles a new or ended connection. An ended connection has no peer address. */
function connectionChanged(application: Application, res: HttpResponse, change: number): void {
  if (change > 0 && !application.accepts(addressOf(res))) res.close();
}

/** LIBUS_LISTEN_EXCLUSIVE_PORT. Without it, a second server would silently share the port. */
const EXCLUSIVE_PORT = 1;
type ListenOn = (
  host: string,
  port: number,
  options: number,
  listening: (socket: us_listen_socket | false) => void,
) => void;

const nothing = new Uint8Array();

const statusLines = new Map<number, string>();

function statusLine(status: number): string {
  const known = statusLines.get(status);
  if (known !== undefined) return known;
  const line = `${status} ${STATUS_CODES[status] ?? ''}`;
  statusLines.set(status, line);
  return line;
}

const addressOf = (res: UwsResponse): string =>
  Buffer.from(res.getRemoteAddressAsText()).toString('latin1');

/** A head, copied from the library's memory. */
class UwsHead extends Head implements RequestHead {
  readonly method: string;
  readonly target: string;
  readonly path: string;
  readonly #res: UwsResponse;
  #address: string | null = null;

  constructor(res: UwsResponse, req: UwsRequest) {
    super();
    // Read first, because other accessors convert the method to lower case.
    this.method = req.getCaseSensitiveMethod();
    req.forEach((name, value) => {
      this.add(name, value);
    });
    this.path = req.getUrl();
    const query = req.getQuery();
    this.target = query === undefined ? this.path : `${this.path}?${query}`;
    this.#res = res;
  }

  /** Read lazily: it costs as much as the rest of a head, and only limits need the address. */
  get address(): string {
    this.#address ??= addressOf(this.#res);
    return this.#address;
  }
}

/** Handles a request. An unanswered, unwatched request would end the process. */
function serve(
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

/** Writes all headers in one library call: the first value contains the remaining lines. */
function writeHeaders(res: UwsResponse, headers: ExchangeResponse['headers']): void {
  let first = '';
  let lines = '';
  for (const name in headers) {
    const value = safeValue(headers[name]!);
    if (first !== '') lines += `\r\n${name}: ${value}`;
    else [first, lines] = [name, value];
  }
  if (first !== '') res.writeHeader(first, lines);
}

type Answer = ExchangeResponse | Promise<ExchangeResponse>;

/** Abort handler for a finished exchange. */
const ignoreAbort = () => {};

class Exchange extends Expiring {
  readonly #inFlight: InFlight;
  readonly #res: UwsResponse;
  readonly #head: UwsHead;
  readonly #request: IncomingRequest;
  #reader: BodyReader | null = null;
  #over = false;
  /** True if the exchange is watched or answered. */
  #watched = false;
  /** True in the request's turn, in which the library batches writes without a cork. */
  #inTurn = false;

  constructor(inFlight: InFlight, res: UwsResponse, head: UwsHead, request: IncomingRequest) {
    super();
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
    this.watch();
    const reader = new BodyReader(
      this.#request,
      this.#head.declaredBytes ?? 0,
      this.#inFlight,
      (body) => (body === 'unread' ? this.#last(body) : this.#answer(body)),
    );
    this.#reader = reader;
    this.#res.onData((chunk, isLast) => {
      // Copied into pooled memory.
      if (!reader.refused) reader.add(Buffer.from(new Uint8Array(chunk)));
      if (isLast) reader.end();
    });
  }

  /** Responds and closes the connection. */
  refuse(answer: () => Answer): void {
    this.watch();
    // Deferred, because the library forgets to close the connection if this turn's bytes contain a
    // second request. With a deferred response, the second request meets an unanswered request and
    // closes the connection.
    setImmediate(() => {
      if (!this.#over) this.#give(answer(), true);
    });
  }

  expire(): void {
    this.#give(this.#request.timeOut(), true);
  }

  /** Watches for a client disconnect. Needed if the response is asynchronous. */
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
    // The library requires a body or a watch, and a HEAD response has no body.
    if (this.#head.method === 'HEAD' || response instanceof Promise) this.watch();
    // The library does not count every synchronous response as an answer. An unanswered and
    // unwatched request ends the process, for example if a client pipelines requests and
    // disconnects.
    if (!this.#watched) this.#res.onAborted(ignoreAbort);
    if (!(response instanceof Promise)) return this.#write(response, close);
    void response.then((answer) => this.#write(answer, close));
  }

  #write(response: ExchangeResponse, close: boolean): void {
    if (this.#over) return;
    this.#end();
    if (this.#inTurn) this.#put(response, close);
    else this.#res.cork(() => this.#put(response, close));
    this.#watched = true;
  }

  #put({ status, headers, body }: ExchangeResponse, close: boolean): void {
    const res = this.#res;
    // The library writes 200 by default.
    if (status !== 200) res.writeStatus(statusLine(status));
    writeHeaders(res, headers);
    if (this.#head.method !== 'HEAD') res.end(body, close);
    else res.endWithoutBody(Buffer.byteLength(body), close);
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#reader?.stop();
    // A synchronous response was never in flight.
    if (this.#watched) this.#inFlight.end(this);
    this.#request.release();
  }
}

interface SocketData {
  addressKey: string;
  handlers: SocketHandlers | null;
}

/** Result that `send` returns for a dropped message. */
const DROPPED = 2;

function sockets(
  app: Pick<TemplatedApp, 'publish'>,
  application: Application,
  inFlight: InFlight,
): WebSocketBehavior<SocketData> {
  return {
    compression: 0,
    maxPayloadLength: socketLimits.transportBytes,
    // The application sends heartbeats. This timeout covers a closed peer that does not react.
    idleTimeout: socketLimits.silenceSeconds,
    sendPingsAutomatically: false,
    // Applies to pongs too. The application stops sending well below this limit.
    maxBackpressure: socketLimits.backlogBytes,
    upgrade: (res, req, context) => upgrade(application, inFlight, res, req, context),
    open(ws) {
      ws.getUserData().handlers = application.open(socketOf(app, ws));
    },
    message(ws, message, isBinary) {
      // Decoding copies the library's memory.
      ws.getUserData().handlers?.message(isBinary ? null : Buffer.from(message).toString());
    },
    ping: (ws) => ws.getUserData().handlers?.pinged(),
    pong: (ws) => ws.getUserData().handlers?.pong(),
    drain: (ws) => ws.getUserData().handlers?.drained(),
    // Deferred, because the library is iterating over the topic's members.
    dropped: (ws) => void setImmediate((data) => data.handlers?.missed(), ws.getUserData()),
    close(ws, code) {
      const data = ws.getUserData();
      const { handlers } = data;
      data.handlers = null;
      handlers?.closed(code);
    },
  };
}

function upgrade(
  application: Application,
  inFlight: InFlight,
  res: HttpResponse,
  req: HttpRequest,
  context: us_socket_context_t,
): void {
  try {
    const head = new UwsHead(res, req);
    const request = application.begin(head, 0);
    const opened = request.upgrade();
    if ('answer' in opened) {
      new Exchange(inFlight, res, head, request).refuse(() => opened.answer);
      return;
    }
    const header = (name: string) => head.headers.get(`sec-websocket-${name}`) ?? '';
    const data = { addressKey: opened.addressKey, handlers: null };
    const asked = [header('key'), header('protocol'), header('extensions')] as const;
    res.upgrade<SocketData>(data, ...asked, context);
  } catch (error) {
    // An unanswered, unwatched handshake would end the process.
    res.onAborted(() => {});
    res.close();
    throw error;
  }
}

/** Wraps a socket. Calls on a closed socket throw in uWebSockets.js, but do nothing here. */
function socketOf(app: Pick<TemplatedApp, 'publish'>, ws: WebSocket<SocketData>): Socket {
  const data = ws.getUserData();
  let ended = false;
  const alive = () => !ended && data.handlers !== null;
  return {
    addressKey: data.addressKey,
    together: {
      join: (topic) => void ws.subscribe(topic),
      leave(topic) {
        if (alive()) ws.unsubscribe(topic);
      },
      publish: (topic, text) => void app.publish(topic, text, false),
    },
    send: (text) => ended || ws.send(text, false) !== DROPPED,
    sendBytes: (bytes) => ended || ws.send(bytes, true) !== DROPPED,
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

export interface ChosenTransport {
  transport: Transport;
  /** Reason for using node:http, if the caller did not choose a transport. */
  fallback?: string;
}

/** @throws {Error} if the requested transport is unavailable. */
export async function chooseTransport(
  wanted: 'uws' | 'node' | undefined,
): Promise<ChosenTransport> {
  if (wanted === 'node') return { transport: nodeTransport };
  const uws = await uwsTransport();
  if (!('missing' in uws)) return { transport: uws };
  if (wanted === 'uws') throw new Error(uws.missing);
  return { transport: nodeTransport, fallback: uws.missing };
}

/** Formats a URL such as `http://127.0.0.1:8080`. */
export const formatUrl = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
