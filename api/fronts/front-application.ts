/**
 * The application behind a front's transport. It forwards each request and each WebSocket message
 * to the engine's process, which holds the network and all limits, and sends the response.
 */
import { type Admitted, toPrepared } from '../../engine/admit/admit.js';
import { verifyOne as verifyWithLibsodium } from '../../engine/crypto/keys.js';
import { carriage } from '../../engine/protocol/schema/entry.js';
import { admitReceived, requestFromHttp } from '../checks/request-checks.js';
import { serverBounds } from '../contract/limit-table.js';
import { createMatcher, type Route, routes } from '../contract/routes.js';
import type {
  Application,
  Body,
  ExchangeLimits,
  HttpResponse,
  IncomingRequest,
  Preparation,
  RequestHead,
  Socket,
  SocketHandlers,
  UpgradeResult,
} from '../transport/transport.js';
import { decodeHeaders, encodeHead, type FrontRecord, type Outgoing } from './records.js';

/** Settings, sent in the first record that a front receives. */
export interface FrontSettings {
  host: string;
  port: number;
  limits: ExchangeLimits;
  socketPath: string;
  preparation: Preparation | null;
}

const MOST_IDS = 2 ** 32;
/** Time for which a front closes new connections from an address that opened too many. */
const CROWDED_MS = 250;

export class FrontApplication implements Application {
  readonly limits: ExchangeLimits;
  readonly socketPath: string;
  readonly preparation = null;
  readonly #out: Outgoing;
  readonly #requests = new Map<number, FrontRequest>();
  readonly #sockets: FrontSockets;
  readonly #preparer: Preparer;
  /** Addresses that opened too many connections, with the end of their time. */
  readonly #crowded = new Map<string, number>();
  #fresh: FrontRequest[] = [];
  #lastId = 0;

  constructor(out: Outgoing, settings: FrontSettings) {
    this.#out = out;
    this.limits = settings.limits;
    this.socketPath = settings.socketPath;
    this.#preparer = new Preparer(settings.preparation);
    this.#sockets = new FrontSockets(out);
  }

  /**
   * Tells the engine's process of the connection, and accepts it. An address that opens too many
   * connections is refused after one round trip.
   */
  accepts(address: string): boolean {
    const until = this.#crowded.get(address);
    if (until !== undefined) {
      if (performance.now() < until) return false;
      this.#crowded.delete(address);
    }
    this.#out.send('connected', 0, { text: address });
    return true;
  }

  answered(status: number): void {
    this.#out.send('answered', 0, { value: status });
  }

  begin(head: RequestHead, declared: number | null): FrontRequest {
    const id = this.#newId();
    const preparer = this.#preparer;
    const side = { out: this.#out, preparer, gone: () => this.#forget(id) };
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

  /** Handles a record about a request, a WebSocket or an address. */
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
    } else if (kind === 'crowded') this.#crowd(text);
    else this.#sockets.take(record);
  }

  /** Sends data that arrived in this turn to the WebSockets. */
  flush(): void {
    this.#sockets.flush();
  }

  #crowd(address: string): void {
    const now = performance.now();
    for (const [one, until] of this.#crowded) if (until <= now) this.#crowded.delete(one);
    this.#crowded.set(address, now + CROWDED_MS);
  }

  /** Forwards heads whose body has not arrived yet. */
  #tellFresh(): void {
    const fresh = this.#fresh;
    this.#fresh = [];
    for (const request of fresh) request.tell();
  }

  /** Forgets a request whose client disconnected. */
  #forget(id: number): void {
    this.#requests.delete(id);
    this.#sockets.forget(id);
  }

  #newId(): number {
    do this.#lastId = (this.#lastId + 1) % MOST_IDS;
    while (this.#requests.has(this.#lastId) || this.#sockets.has(this.#lastId));
    return this.#lastId;
  }
}

/*
 * A request in a front. If a small body arrives with the head, one record carries both. Otherwise
 * the head is sent first, and the engine's process counts the body's bytes as they arrive.
 */

interface Side {
  out: Outgoing;
  preparer: Preparer;
  /** Called when the client disconnects before the response. */
  gone: () => void;
}

const match = createMatcher(routes);

class FrontRequest implements IncomingRequest {
  readonly #out: Outgoing;
  readonly #id: number;
  readonly #preparer: Preparer;
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
  /** Response sent before the end of the body. The rest of the body is then not kept. */
  #early: HttpResponse | null = null;
  #answered: ((response: HttpResponse) => void) | null = null;
  #opened: ((opened: UpgradeResult) => void) | null = null;
  #onRefused: () => void = () => {};
  readonly readsBody: boolean;

  constructor(
    { out, preparer, gone }: Side,
    id: number,
    head: RequestHead,
    declared: number | null,
  ) {
    this.#out = out;
    this.#preparer = preparer;
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
    this.#out.send('begin', this.#id, { value: this.#declared ?? -1, text: this.#headText() });
    if (this.#taken > 0) this.#out.send('took', this.#id, { value: this.#taken });
  }

  take(bytes: number): boolean {
    this.#taken += bytes;
    if (this.#told) this.#out.send('took', this.#id, { value: bytes });
    // The transport ends a request that exceeds its declared length.
    return this.#early === null;
  }

  whenRefused(listener: () => void): void {
    this.#onRefused = listener;
  }

  answer(body: Body): HttpResponse | Promise<HttpResponse> {
    if (this.#early) return this.#early;
    if (body === 'unread') {
      this.tell();
      this.#out.send('unread', this.#id);
    } else if (this.#told) this.#out.send('body', this.#id, { bytes: body });
    else this.#tellWhole(body);
    return new Promise((resolve) => {
      this.#answered = resolve;
    });
  }

  timeOut(): HttpResponse | Promise<HttpResponse> {
    if (this.#early) return this.#early;
    this.tell();
    this.#out.send('late', this.#id);
    return new Promise((resolve) => {
      this.#answered = resolve;
    });
  }

  upgrade(): Promise<UpgradeResult> {
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
    if (this.#route) this.#preparer.conclude(this.#route, this.#head, response.status);
    this.#opened?.({ answer: response });
    if (this.#answered) return this.#answered(response);
    this.#early = response;
    this.#onRefused();
  }

  /** Allows the WebSocket. Until the WebSocket is open, `release` reports its end. */
  upgraded(): void {
    this.#opened?.({ addressKey: String(this.#id) });
  }

  /** Ends the request, because the WebSocket is open and reports its own end. */
  opened(): void {
    this.#over = true;
  }

  #tellWhole(bytes: Uint8Array): void {
    this.#told = true;
    const text = this.#headText();
    const ready = this.#route && this.#preparer.prepare(this.#route, this.#head, bytes);
    if (ready) {
      const more = JSON.stringify(toPrepared(ready));
      this.#out.send('prepared', this.#id, { value: bytes.length, text, bytes, more });
    } else this.#out.send('whole', this.#id, { value: this.#declared ?? -1, text, bytes });
  }

  #headText(): string {
    return encodeHead(this.#head, this.#address);
  }
}

/** Fronts report sent bytes in steps of this size. */
const STEP_BYTES = 16 * 1024;
/** Published bytes after which a front looks for sockets that buffer much. */
const PUBLISHED_BYTES = 64 * 1024;

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

/** The WebSockets of a front. */
class FrontSockets {
  readonly #open = new Map<number, Open>();
  /** Sockets with work queued in this turn. */
  readonly #touched = new Set<Open>();
  /** Shared payloads, by number. */
  readonly #shared: Uint8Array[] = [];
  #published = 0;

  constructor(private readonly out: Outgoing) {}

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
    const out = this.out;
    return {
      message(text) {
        if (text === null) out.send('binary', id);
        else out.send('message', id, { bytes: text });
      },
      pong: () => out.send('ponged', id),
      pinged: () => out.send('pinged', id),
      drained: () => this.#tellLeft(open, socket),
      missed: () => out.send('missed', id),
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
    if (kind === 'publish') return this.#publish(text, bytes);
    const open = this.#open.get(id);
    if (!open) return;
    this.#touched.add(open);
    // A number refers to a shared payload, from 1.
    const message = value > 0 && kind !== 'close' ? this.#shared[value - 1]! : bytes;
    open.waiting.push((socket) => {
      if (kind === 'ping') return socket.ping();
      if (kind === 'join') return socket.together?.join(text);
      if (kind === 'leave') return socket.together?.leave(text);
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

  /** Publishes after everything that arrived before, so that each socket keeps the order. */
  #publish(topic: string, text: Uint8Array): void {
    this.flush();
    for (const { socket } of this.#open.values()) {
      if (!socket?.together) continue;
      socket.together.publish(topic, text);
      break;
    }
    this.#published += text.length;
    if (this.#published < PUBLISHED_BYTES) return;
    this.#published = 0;
    for (const open of this.#open.values()) if (open.socket) this.#tellLeft(open, open.socket);
  }

  #give(open: Open, socket: Socket): void {
    if (open.waiting.length === 0) return;
    const waiting = open.waiting.splice(0);
    socket.cork(() => {
      for (const work of waiting) work(socket);
    });
    this.#tellLeft(open, socket);
  }

  /** Reports sent bytes. Published bytes are buffered too, so the number can be negative. */
  #tellLeft(open: Open, socket: Socket): void {
    const left = open.given - socket.bufferedBytes();
    if (Math.abs(left - open.told) < STEP_BYTES) return;
    this.out.send('left', open.id, { value: left - open.told });
    open.told = left;
  }
}

/*
 * A front admits requests and verifies their signatures by the same checks and the same rule as the
 * engine's process. It reports only success. Otherwise, the engine's process checks the request
 * from the start, so that refusals do not depend on fronts.
 *
 * A front knows neither registrations nor quotas. It prepares only requests of keys whose last
 * request was accepted, so a client that fails or exceeds its quota costs a front nothing more.
 */

/** Number of keys remembered. For other keys, the engine's process verifies. */
const MOST_KEYS = 65_536;

export class Preparer {
  readonly #preparation: Preparation | null;
  /** Keys (lower-case hex) whose last request was accepted. */
  readonly #keys = new Set<string>();

  /** @param preparation null to prepare no requests */
  constructor(preparation: Preparation | null) {
    this.#preparation = verifyWithLibsodium === null ? null : preparation;
  }

  /** Returns the admitted request if its signature is valid; otherwise null. */
  prepare(
    { command }: Route,
    { target, headers, fault }: RequestHead,
    body: Uint8Array,
  ): Admitted | null {
    const key = keyOf(headers);
    if (command === null || this.#preparation === null || !this.#keys.has(key)) return null;
    // The engine's process parses forms. Its pool verifies the transactions of a proposal.
    const large = body.length > serverBounds.body.small;
    if (fault || large || command === 'propose' || carriage[command].signed === 'form') return null;
    const { networkId, unread } = this.#preparation;
    const request = requestFromHttp(command, { target, headers, body });
    const { admission, unknown } = admitReceived(request, networkId, unread);
    if ('refusal' in admission || !verifyWithLibsodium!(admission.ownJob())) {
      this.#keys.delete(key);
      return null;
    }
    // The engine's process reports unknown names.
    return unknown.length === 0 ? admission : null;
  }

  /** Remembers or forgets the key, depending on the response status. */
  conclude({ command }: Route, { headers }: RequestHead, status: number): void {
    if (command === null || this.#preparation === null) return;
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
