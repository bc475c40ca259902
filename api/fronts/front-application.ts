/**
 * The application that a front's transport calls. It decides nothing: it passes each request and
 * each WebSocket message to the engine's process, which has the network and every limit, and sends
 * the answer. It verifies signatures ahead, by the same checks and the same rule, so that the
 * engine's process need not.
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

/** What a front is told first. */
export interface FrontSettings {
  host: string;
  port: number;
  limits: ExchangeLimits;
  connectionPolicy: ConnectionPolicy;
  /** Where all fronts together count by it; gone when they are. */
  folder: string;
  /** The id of the network whose signatures are verified; null where none are. */
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

  /** A record of the engine's process that is about a request or a WebSocket. */
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

  /** All that came in this turn was taken. */
  flush(): void {
    this.#sockets.flush();
  }

  /** Those whose body is not there yet; the others are told, and answered perhaps. */
  #tellFresh(): void {
    const fresh = this.#fresh;
    this.#fresh = [];
    for (const request of fresh) request.tell();
  }

  /** Its client has gone before it was answered, or before its WebSocket was open. */
  #dropSocket(id: number): void {
    this.#requests.delete(id);
    this.#sockets.forget(id);
  }

  /** A number that no request and no WebSocket has. */
  #newId(): number {
    do this.#lastId = (this.#lastId + 1) % MOST_IDS;
    while (this.#requests.has(this.#lastId) || this.#sockets.has(this.#lastId));
    return this.#lastId;
  }
}

/** Exact over all fronts. */
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

/** Since the machine started: the same in every process. */
const steadyMs = () => Number(process.hrtime.bigint() / 1_000_000n);

/*
 * One request in a front, passed on to the engine's process. A small body that arrived with its
 * head goes with it in one record. Otherwise the head goes first, and the engine's process counts
 * the bytes of the body as they arrive.
 */

type Opened = { answer: HttpResponse } | { addressKey: string };

/** What it has of its front. */
interface Side {
  out: Outgoing;
  ahead: PreverifiedSignatures;
  /** Its client has gone before it was answered. */
  gone: () => void;
}

const match = createMatcher(routes);

class FrontRequest implements IncomingRequest {
  readonly #out: Outgoing;
  readonly #id: number;
  readonly #preverified: PreverifiedSignatures;
  readonly #head: RequestHead;
  /** Asked for at once: a peer that has gone has none. */
  readonly #address: string;
  readonly #route: Route | null;
  readonly #declared: number | null;
  readonly #gone: () => void;
  /** Whether the engine's process knows of it. */
  #told = false;
  #taken = 0;
  #over = false;
  /** Given before it was asked for: then no more of the body is wanted. */
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
    // A small body is always read; a body that is too large for its path never is.
    const most = Math.max(serverBounds.body.small, this.#route?.bodyBytes ?? 0);
    this.readsBody = declared !== null && declared <= most;
  }

  /** The turn of its head is over: from now on it counts over there. */
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
    // One that sends more than it declared is cut by the transport.
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

  /** The engine's process answers. */
  answered(response: HttpResponse): void {
    this.#over = true;
    if (this.#route) this.#preverified.answered(this.#route, this.#head, response.status);
    this.#opened?.({ answer: response });
    if (this.#answered) return this.#answered(response);
    this.#early = response;
    this.#onUnwanted();
  }

  /** Allows a WebSocket; until it is open, `release` reports the end of the request. */
  upgraded(): void {
    this.#opened?.({ addressKey: String(this.#id) });
  }

  /** The WebSocket is open, and tells its end itself. */
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

/** The front reports the bytes that it sent in steps of this size. */
const STEP_BYTES = 16 * 1024;

const { slow } = closeCodes;

interface Open {
  id: number;
  /** Null while it is being opened. */
  socket: Socket | null;
  /** What came for it in this turn, or before it was open. */
  waiting: ((socket: Socket) => void)[];
  /** Bytes given to it, and those of them that were told to have left. */
  given: number;
  told: number;
}

class FrontSockets {
  readonly #out: Outgoing;
  readonly #open = new Map<number, Open>();
  /** Those that something came for in this turn. */
  #touched = new Set<Open>();
  /** What several are sent, by number: it came once. */
  readonly #shared: Uint8Array[] = [];

  constructor(out: Outgoing) {
    this.#out = out;
  }

  has(id: number): boolean {
    return this.#open.has(id);
  }

  /** It will be opened, unless its client has gone. */
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
    // By number where it came before, beginning with 1.
    const message = value > 0 && kind !== 'close' ? this.#shared[value - 1]! : bytes;
    open.waiting.push((socket) => {
      if (kind === 'ping') return socket.ping();
      if (kind === 'close') return socket.close(value, text);
      open.given += message.length;
      if (kind === 'text') socket.send(message);
      else socket.sendBytes(message);
    });
  }

  /** What came in this turn leaves. */
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
  /** Bytes on their way to the client, for all that is known. */
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
  /** What is sent in one turn leaves together anyway. */
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

  /** The front says how much has left. */
  left(bytes: number): void {
    this.#buffered -= bytes;
    if (!this.#closed) this.handlers?.drained();
  }

  /** The connection is gone. */
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
 * Signatures that a front verifies ahead, so that the engine's process need not: by the same checks
 * of a request and the same rule. What is not good is not even said; the engine's process finds out
 * what is wrong with it, in the order of checks, as if nothing had been tried here.
 *
 * No key is registered here, and no quota counted. So it is tried only where the last request with
 * a key was accepted: a client that fails, or has no quota left, costs this process nothing more.
 */

/** Keys that are remembered; beyond that, the engine's process verifies. */
const MOST_KEYS = 65_536;

export class PreverifiedSignatures {
  readonly #networkId: string | null;
  /** Hex, lower case, of which the last request was accepted. */
  readonly #keys = new Set<string>();

  /** Null where signatures are not verified. */
  constructor(networkId: string | null) {
    this.#networkId = networkId;
  }

  /** Whether the request's own signature holds, as far as that is tried: false says nothing. */
  holds({ command }: Route, { target, headers, fault }: RequestHead, body: Uint8Array): boolean {
    const key = keyOf(headers);
    if (command === null || this.#networkId === null || !this.#keys.has(key)) return false;
    // A form is read by the engine's process; and what is large is admitted once.
    const large = body.length > serverBounds.body.small;
    if (fault || large || carriage[command].signed === 'form') return false;
    const request = requestFromHttp(command, { target, headers, body });
    const { admission } = admitReceived(request, this.#networkId);
    const held = !('refusal' in admission) && verifyWithLibsodium!(admission.ownJob());
    if (!held) this.#keys.delete(key);
    return held;
  }

  /** What a request was answered. */
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
