/**
 * The application that a front's transport asks: it knows nothing itself. Each request is told to
 * the engine's process, which has the network and every limit, and what comes back is sent.
 */
import { SharedQuota } from '../../engine/internal.js';
import { socketPath } from '../contract/channels.js';
import { limitTable } from '../contract/limit-table.js';
import { ConnectionLimit, type ConnectionPolicy } from '../limits/connection-limit.js';
import type { ExchangeLimits } from '../transport/exchange-limits.js';
import type { Application, RequestHead, Socket, SocketHandlers } from '../transport/transport.js';
import { FrontRequest } from './front-request.js';
import { FrontSockets } from './front-sockets.js';
import type { Outgoing, Record } from './records.js';
import { SignaturesAhead } from './signatures-ahead.js';
import { headersFrom } from './texts.js';

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
  readonly #ahead: SignaturesAhead;
  readonly connectionPolicy: ConnectionPolicy;
  readonly verifiesFor: string | null;
  readonly #connectionLimit: ConnectionLimit;
  #fresh: FrontRequest[] = [];
  #lastId = 0;

  constructor(out: Outgoing, settings: FrontSettings) {
    const { limits, connectionPolicy, folder, verifiesFor } = settings;
    this.#out = out;
    this.#ahead = new SignaturesAhead(verifiesFor);
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
    const side = { out: this.#out, ahead: this.#ahead, gone: () => this.#gone(id) };
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
  take(record: Record): void {
    const { kind, id, value: status, text, bytes } = record;
    if (kind === 'answer') {
      const request = this.#requests.get(id);
      this.#requests.delete(id);
      request?.answered({ status, headers: headersFrom(text), body: bytes });
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
  #gone(id: number): void {
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
