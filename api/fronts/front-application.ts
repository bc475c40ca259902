/**
 * The application behind a front's transport. Forwards each request and WebSocket message to the
 * engine's process, which holds the network and all limits, and sends the response. Verifies
 * signatures before forwarding, with the same checks, to relieve the engine's process.
 */

import { verifyOne as verifyWithLibsodium } from '../../engine/crypto/inline.js';
import { carriage } from '../../engine/protocol/schema/entry.js';
import { SharedQuota } from '../../engine/store/scratch.js';
import { admitReceived, requestFromHttp } from '../checks/request-checks.js';
import { closeCodes, socketLimits, socketPath } from '../contract/channels.js';
import { limitTable, serverBounds } from '../contract/limit-table.js';
import { createMatcher, type Route, routes } from '../contract/routes.js';
import { ConnectionLimit, type ConnectionPolicy } from '../limits/connections.js';
import type {
  Application,
  Body,
  ExchangeLimits,
  HttpResponse,
  IncomingRequest,
  RequestHead,
  Socket,
  SocketHandlers,
} from '../transport/transport.js';
import {
  decodeHeaders,
  encodeHead,
  type FrontRecord,
  type Outgoing,
  type SharedBytes,
} from './codec.js';

/** Settings, sent in the first record that a front receives. */
export interface FrontSettings {
  host: string;
  port: number;
  limits: ExchangeLimits;
  connectionPolicy: ConnectionPolicy;
  /** Temporary folder in which all fronts jointly count connections. */
  folder: string;
  /** Network id for signature verification, or null to skip verification. */
  verifiesFor: string | null;
}

const MOST_IDS = 2 ** 32;

export class FrontApplication implements Application {
  readonly limits: ExchangeLimits;
  readonly socketPath = socketPath;
  readonly #out: Outgoing;
  readonly #requests = new Map<number, FrontRequest>();
  readonly #sockets: FrontSockets;
  readonly #preverified: PreverifiedSignatures;
  readonly connectionPolicy: ConnectionPolicy;
  readonly verifiesFor: string | null;
  readonly #connectionLimit: ConnectionLimit;
  #fresh: FrontRequest[] = [];
  #lastId = 0;

  constructor(out: Outgoing, settings: FrontSettings) {
    const { limits, connectionPolicy, folder, verifiesFor } = settings;
    this.#out = out;
    this.#preverified = new PreverifiedSignatures(verifiesFor);
    this.limits = limits;
    this.connectionPolicy = connectionPolicy;
    this.verifiesFor = verifiesFor;
    this.#connectionLimit = connectionLimit(connectionPolicy, folder);
    this.#sockets = new FrontSockets(out);
  }

  accepts(address: string): boolean {
    return this.#connectionLimit.accepts(address);
  }

  begin(head: RequestHead, declared: number | null): FrontRequest {
    const id = this.#newId();
    const side = { out: this.#out, ahead: this.#preverified, gone: () => this.#dropSocket(id) };
    const request = new FrontRequest(side, id, head, declared);
    this.#requests.set(id, request);
    if (declared !== 0) {
      if (this.#fresh.length === 0) setImmediate(() => this.#tellFresh());
      this.#fresh.push(request);
    }
    return request;
  }

  open(socket: Socket): SocketHandlers {
    const id = Number(socket.addressKey);
    this.#requests.get(id)?.opened();
    this.#requests.delete(id);
    return this.#sockets.open(id, socket);
  }

  /** Handles a record about a request or a WebSocket. */
  take(record: FrontRecord): void {
    const { kind, id, value: status, text, bytes } = record;
    if (kind === 'answer') {
      const request = this.#requests.get(id);
      this.#requests.delete(id);
      request?.answered({ status, headers: decodeHeaders(text), body: bytes });
    } else if (kind === 'upgraded') {
      const request = this.#requests.get(id);
      if (request) this.#sockets.expect(id);
      request?.upgraded();
    } else this.#sockets.take(record);
  }

  /** Sends data that arrived in this turn to the WebSockets. */
  flush(): void {
    this.#sockets.flush();
  }

  /** Forwards heads whose body has not arrived yet. */
  #tellFresh(): void {
    const fresh = this.#fresh;
    this.#fresh = [];
    for (const request of fresh) request.tell();
  }

  /** Forgets a request whose client disconnected. */
  #dropSocket(id: number): void {
    this.#requests.delete(id);
    this.#sockets.forget(id);
  }

  #newId(): number {
    do this.#lastId = (this.#lastId + 1) % MOST_IDS;
    while (this.#requests.has(this.#lastId) || this.#sockets.has(this.#lastId));
    return this.#lastId;
  }
}

/** Creates a limit that counts exactly across all fronts. */
function connectionLimit(policy: ConnectionPolicy, folder: string): ConnectionLimit {
  const { quota, trustedProxies } = policy;
  if (quota === null) return new ConnectionLimit(trustedProxies, () => true);
  const shared = new SharedQuota({
    folder,
    quota,
    windowMs: limitTable.connections.seconds * 1000,
  });
  return new ConnectionLimit(trustedProxies, (subject) => shared.take(subject, steadyMs()));
}

/** Milliseconds since boot, the same in every process. */
const steadyMs = () => Number(process.hrtime.bigint() / 1_000_000n);

/*
 * A request in a front. If a small body arrives with the head, one record carries both. Otherwise
 * the head is sent first, and the engine's process counts the body's bytes as they arrive.
 */

type Opened = { answer: HttpResponse } | { addressKey: string };

interface Side {
  out: Outgoing;
  ahead: PreverifiedSignatures;
  /** Called when the client disconnects before the response. */
  gone: () => void;
}

const match = createMatcher(routes);

class FrontRequest implements IncomingRequest {
  readonly #out: Outgoing;
  readonly #id: number;
  readonly #preverified: PreverifiedSignatures;
  readonly #head: RequestHead;
  /** Read immediately, because a closed connection has no peer address. */
  readonly #address: string;
  readonly #route: Route | null;
  readonly #declared: number | null;
  readonly #gone: () => void;
  /** True once the engine's process knows of the request. */
  #told = false;
  #taken = 0;
  #over = false;
  /** Response sent before the end of the body. The rest of the body is then not read. */
  #early: HttpResponse | null = null;
  #answered: ((response: HttpResponse) => void) | null = null;
  #opened: ((opened: Opened) => void) | null = null;
  #onUnwanted: () => void = () => {};
  readsBody: boolean;

  constructor({ out, ahead, gone }: Side, id: number, head: RequestHead, declared: number | null) {
    this.#out = out;
    this.#preverified = ahead;
    this.#gone = gone;
    this.#id = id;
    this.#head = head;
    this.#address = head.address;
    this.#route = match(head.method, head.path)?.route ?? null;
    this.#declared = declared;
    // Small bodies are always read. Bodies beyond the route's limit are never read.
    const most = Math.max(serverBounds.body.small, this.#route?.bodyBytes ?? 0);
    this.readsBody = declared !== null && declared <= most;
  }

  /** Sends the head after its turn. From then on, the engine's process counts the bytes. */
  tell(): void {
    if (this.#told || this.#over) return;
    this.#told = true;
    const value = this.#declared ?? -1;
    this.#out.send('begin', this.#id, { value, text: this.#headText() });
    if (this.#taken > 0) this.#out.send('took', this.#id, { value: this.#taken });
  }

  take(bytes: number): boolean {
    this.#taken += bytes;
    if (this.#told) this.#out.send('took', this.#id, { value: bytes });
    // The transport ends a request that exceeds its declared length.
    return this.#early === null;
  }

  unwanted(listener: () => void): void {
    this.#onUnwanted = listener;
  }

  answer(body: Body): HttpResponse | Promise<HttpResponse> {
    if (this.#early) return this.#early;
    if (body === 'unread') {
      this.tell();
      this.#out.send('unread', this.#id);
    } else if (this.#told) this.#out.send('body', this.#id, { bytes: body });
    else {
      this.#told = true;
      const value = this.#declared ?? -1;
      const held = this.#route !== null && this.#preverified.holds(this.#route, this.#head, body);
      const kind = held ? 'held' : 'whole';
      this.#out.send(kind, this.#id, { value, text: this.#headText(), bytes: body });
    }
    return this.#response();
  }

  timeOut(): Promise<HttpResponse> {
    this.tell();
    this.#out.send('late', this.#id);
    return this.#response();
  }

  upgrade(): Promise<Opened> {
    this.#told = true;
    this.#out.send('upgrade', this.#id, { text: this.#headText() });
    return new Promise((resolve) => {
      this.#opened = resolve;
    });
  }

  release(): void {
    if (this.#over) return;
    this.#over = true;
    this.#gone();
    if (this.#told) this.#out.send('release', this.#id);
  }

  answered(response: HttpResponse): void {
    this.#over = true;
    if (this.#route) this.#preverified.answered(this.#route, this.#head, response.status);
    this.#opened?.({ answer: response });
    if (this.#answered) return this.#answered(response);
    this.#early = response;
    this.#onUnwanted();
  }

  /** Allows the WebSocket. Until the WebSocket is open, `release` reports its end. */
  upgraded(): void {
    this.#opened?.({ addressKey: String(this.#id) });
  }

  /** Ends the request, because the WebSocket is open and reports its own end. */
  opened(): void {
    this.#over = true;
  }

  #headText(): string {
    return encodeHead(this.#head, this.#address);
  }

  #response(): Promise<HttpResponse> {
    return new Promise((resolve) => {
      this.#answered = resolve;
    });
  }
}

/** Fronts report sent bytes in steps of this size. */
const STEP_BYTES = 16 * 1024;

const { slow } = closeCodes;

interface Open {
  id: number;
  /** Null while opening. */
  socket: Socket | null;
  /** Work queued in this turn, or before the socket opened. */
  waiting: ((socket: Socket) => void)[];
  /** Bytes given to the socket, and bytes reported as sent. */
  given: number;
  told: number;
}

class FrontSockets {
  readonly #out: Outgoing;
  readonly #open = new Map<number, Open>();
  /** Sockets with work queued in this turn. */
  #touched = new Set<Open>();
  /** Shared payloads, by number. */
  readonly #shared: Uint8Array[] = [];

  constructor(out: Outgoing) {
    this.#out = out;
  }

  has(id: number): boolean {
    return this.#open.has(id);
  }

  /** Registers a socket that is about to open. */
  expect(id: number): void {
    this.#open.set(id, { id, socket: null, waiting: [], given: 0, told: 0 });
  }

  forget(id: number): void {
    this.#open.delete(id);
  }

  open(id: number, socket: Socket): SocketHandlers {
    const open = this.#open.get(id)!;
    open.socket = socket;
    this.#give(open, socket);
    const out = this.#out;
    return {
      message(text) {
        if (text === null) out.send('binary', id);
        else out.send('message', id, { text });
      },
      pong: () => out.send('ponged', id),
      pinged: () => out.send('pinged', id),
      drained: () => this.#tellLeft(open, socket),
      missed: () => socket.close(slow.code, slow.meaning),
      closed: (code) => {
        this.#open.delete(id);
        out.send('closed', id, { value: code });
      },
    };
  }

  take({ kind, id, value, text, bytes }: FrontRecord): void {
    if (kind === 'shared') {
      this.#shared[id] = bytes;
      return;
    }
    const open = this.#open.get(id);
    if (!open) return;
    this.#touched.add(open);
    // A number refers to a shared payload, from 1.
    const message = value > 0 && kind !== 'close' ? this.#shared[value - 1]! : bytes;
    open.waiting.push((socket) => {
      if (kind === 'ping') return socket.ping();
      if (kind === 'close') return socket.close(value, text);
      open.given += message.length;
      if (kind === 'text') socket.send(message);
      else socket.sendBytes(message);
    });
  }

  flush(): void {
    for (const open of this.#touched) if (open.socket) this.#give(open, open.socket);
    this.#touched.clear();
  }

  #give(open: Open, socket: Socket): void {
    if (open.waiting.length === 0) return;
    const waiting = open.waiting.splice(0);
    socket.cork(() => {
      for (const work of waiting) work(socket);
    });
    this.#tellLeft(open, socket);
  }

  #tellLeft(open: Open, socket: Socket): void {
    const left = open.given - socket.bufferedBytes();
    if (left - open.told < STEP_BYTES) return;
    this.#out.send('left', open.id, { value: left - open.told });
    open.told = left;
  }
}

export class FrontSocket implements Socket {
  readonly addressKey: string;
  readonly together = null;
  readonly #id: number;
  readonly #out: Outgoing;
  readonly #shared: SharedBytes;
  /** Bytes not yet reported as sent. */
  #buffered = 0;
  #closed = false;
  handlers: SocketHandlers | null = null;

  constructor(id: number, addressKey: string, out: Outgoing, shared: SharedBytes) {
    this.#id = id;
    this.addressKey = addressKey;
    this.#out = out;
    this.#shared = shared;
  }

  send = (text: Uint8Array | string): boolean => this.#send('text', text);
  sendBytes = (bytes: Uint8Array): boolean => this.#send('bytes', bytes);
  bufferedBytes = (): number => (this.#closed ? 0 : this.#buffered);
  /** Runs the work directly, because records from one turn are sent together anyway. */
  cork = (work: () => void): void => {
    if (!this.#closed) work();
  };
  ping = (): void => {
    if (!this.#closed) this.#out.send('ping', this.#id);
  };
  close = (code: number, reason: string): void => {
    if (this.#closed) return;
    this.#closed = true;
    this.#out.send('close', this.#id, { value: code, text: reason });
  };

  left(bytes: number): void {
    this.#buffered -= bytes;
    if (!this.#closed) this.handlers?.drained();
  }

  handleClose(code: number): void {
    this.#closed = true;
    const { handlers } = this;
    this.handlers = null;
    handlers?.closed(code);
  }

  #send(kind: 'text' | 'bytes', bytes: Uint8Array | string): boolean {
    if (this.#closed) return true;
    if (this.#buffered > socketLimits.backlogBytes) return false;
    const value = typeof bytes === 'string' ? 0 : this.#shared.numberOf(bytes);
    this.#buffered += typeof bytes === 'string' ? Buffer.byteLength(bytes) : bytes.length;
    this.#out.send(kind, this.#id, value > 0 ? { value } : { bytes });
    return true;
  }
}

/*
 * A front verifies signatures to relieve the engine's process, with the same checks and rule. A
 * front reports only success. On failure, the engine's process checks the request from the start,
 * so that refusals do not depend on fronts.
 *
 * A front knows neither registrations nor quotas. A front verifies only keys whose last request was
 * accepted, so a client that fails or exceeds its quota costs a front nothing more.
 */

/** Number of keys remembered. For other keys, the engine's process verifies. */
const MOST_KEYS = 65_536;

export class PreverifiedSignatures {
  readonly #networkId: string | null;
  /** Keys (lower-case hex) whose last request was accepted. */
  readonly #keys = new Set<string>();

  /** @param networkId null to verify no signatures */
  constructor(networkId: string | null) {
    this.#networkId = networkId;
  }

  /** Returns true if the signature is valid, or false if it is invalid or was not verified. */
  holds({ command }: Route, { target, headers, fault }: RequestHead, body: Uint8Array): boolean {
    const key = keyOf(headers);
    if (command === null || this.#networkId === null || !this.#keys.has(key)) return false;
    // The engine's process parses forms, and admits large bodies only once.
    const large = body.length > serverBounds.body.small;
    if (fault || large || carriage[command].signed === 'form') return false;
    const request = requestFromHttp(command, { target, headers, body });
    const { admission } = admitReceived(request, this.#networkId);
    const held = !('refusal' in admission) && verifyWithLibsodium!(admission.ownJob());
    if (!held) this.#keys.delete(key);
    return held;
  }

  /** Remembers or forgets the key, depending on the response status. */
  answered({ command }: Route, { headers }: RequestHead, status: number): void {
    if (command === null || this.#networkId === null || verifyWithLibsodium === null) return;
    const key = keyOf(headers);
    if (status === 401 || status === 429) this.#keys.delete(key);
    if (status >= 300 || key === '') return;
    this.#keys.add(key);
    if (this.#keys.size <= MOST_KEYS) return;
    const [oldest] = this.#keys;
    this.#keys.delete(oldest!);
  }
}

const keyOf = (headers: RequestHead['headers']) =>
  (headers.get('x-agent-public-key') ?? '').toLowerCase();
