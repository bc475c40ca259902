/**
 * The interface of a transport: it carries requests to an application and answers back, over one
 * listening port. Neither side knows the other's library; both transports pass the same conformance
 * tests. Also the limits of an exchange and the errors of listening.
 */

import { createServer } from 'node:net';
import type { Refusal } from '../../engine/protocol/schema/reason.js';
import type { ConnectionPolicy } from '../limits/connections.js';

/** A request before its body is read. Names of headers are lower case. */
export interface RequestHead {
  /** As sent: the case of a method matters. */
  method: string;
  /** Path and query as sent. */
  target: string;
  path: string;
  headers: ReadonlyMap<string, string>;
  /** Of the peer, as text. Asked for in the turn of its head, or not at all: it may be gone. */
  readonly address: string;
  /** What is wrong with it. The connection is closed, and nothing after it is read. */
  fault: Refusal | null;
}

/** `unread` where the application did not take it, or not all of it: then it knows why. */
export type Body = Uint8Array | 'unread';

/** One request, from its head to its answer. */
export interface IncomingRequest {
  /** Whether its body is to be read. If not, the connection is closed with the answer. */
  readonly readsBody: boolean;
  /** Takes note of bytes that arrived; false when no more are to be read. */
  take(bytes: number): boolean;
  /**
   * At once where nothing has to be waited for. Neither throws nor rejects; releases it. `held`
   * where a process of this server has verified that the request's own signature holds.
   */
  answer(body: Body, held?: boolean): HttpResponse | Promise<HttpResponse>;
  /** The answer where no WebSocket is opened for it; else whom the connection is counted for. */
  upgrade(): UpgradeResult | Promise<UpgradeResult>;
  /** The answer when its time is up; the connection is closed. */
  timeOut(): HttpResponse | Promise<HttpResponse>;
  /** Calls back where no more of its body is wanted after all; never where `take` says so. */
  unwanted?(listener: () => void): void;
  /** It is over, answered or gone: what it held is free. Nothing happens twice. */
  release(): void;
}

/** No WebSocket but an answer; or for whom one is opened. */
export type UpgradeResult =
  | { answer: HttpResponse | Promise<HttpResponse> }
  | { addressKey: string };

export interface HttpResponse {
  status: number;
  headers: Record<string, string>;
  body: string | Uint8Array;
}

/** What a socket is sent together with others of its application, by topics. */
interface Together {
  join(topic: string): void;
  /** What was published before still comes. */
  leave(topic: string): void;
  /** Text, encoded, to all who joined. In order with what each is sent; no buffer is looked at. */
  publish(topic: string, text: Uint8Array): void;
}

/** A WebSocket connection, as the application sees it. */
export interface Socket {
  /** Of the client, as the application counts it. */
  readonly addressKey: string;
  /** Null where each is sent to by itself. */
  readonly together: Together | null;
  /** Text, encoded. False when its buffer was full and it was dropped. */
  send(text: Uint8Array | string): boolean;
  /** A binary message; false as with `send`. */
  sendBytes(bytes: Uint8Array): boolean;
  /** Bytes given to `send` that have not left yet. */
  bufferedBytes(): number;
  /** Sends within `work` leave together. */
  cork(work: () => void): void;
  ping(): void;
  close(code: number, reason: string): void;
}

/** What the application does with a connection. */
export interface SocketHandlers {
  /** Null for a binary message. */
  message(text: string | null): void;
  pong(): void;
  /** It takes more again. */
  drained(): void;
  /** Something that was published had no room, and was dropped. */
  missed(): void;
  /** A ping, which the transport has answered. */
  pinged(): void;
  /** The connection is gone, whoever ended it. */
  closed(code: number): void;
}

export interface Application {
  readonly limits: ExchangeLimits;
  /** Where WebSockets are opened. */
  readonly socketPath: string;
  /** By what it decides that, for who has to decide it elsewhere. */
  readonly connectionPolicy: ConnectionPolicy;
  /** The id of the network whose signatures it verifies, likewise; null where it verifies none. */
  readonly verifiesFor: string | null;
  /** Whether a new connection of this peer is taken; if not, it is closed at once. */
  accepts(address: string): boolean;
  /** Takes a request's head; `declared` is its body's length, 0 without one, null if unknown. */
  begin(head: RequestHead, declared: number | null): IncomingRequest;
  open(socket: Socket): SocketHandlers;
}

export interface Listening {
  port: number;
  /** Stops accepting, lets what is in flight be answered, for a while, then closes all. */
  close(): Promise<void>;
}

export interface Address {
  host: string;
  port: number;
  /** Whether others of this program listen there as well, and have connections in turn. */
  shared?: boolean;
}

export interface Transport {
  readonly name: 'uws' | 'node';
  /** @throws when the port cannot be had. */
  listen(application: Application, address: Address): Promise<Listening>;
}

/** What an operator watches where other processes have the connections. */
export interface FrontsFigures {
  running: number;
  /** How often one was started again. */
  restarts: number;
  /** Of all that there were. */
  cpuSeconds: number;
  /** Of those that run. */
  residentBytes: number;
}

/** How long one request may take, in milliseconds. */
export interface ExchangeLimits {
  /** From a request's head to the last byte of its answer. */
  requestMs: number;
  /** From a connection's first byte to the end of a head. */
  headMs: number;
  /** How long a stop waits for what is in flight. */
  stopMs: number;
}

export const exchangeLimits: Readonly<ExchangeLimits> = {
  requestMs: 30_000,
  headMs: 10_000,
  stopMs: 10_000,
};

const causes: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there already; stop it, or take another --port',
  EADDRNOTAVAIL: 'this machine has no such address; expected one of its own, or 0.0.0.0 or ::',
  EACCES: 'this user may not listen there; ports below 1024 need a right of their own',
  ENOTFOUND: 'no address is known under this name',
  EAI_AGAIN: 'the name cannot be looked up now',
  EAFNOSUPPORT: 'this machine does not speak that kind of address',
};

export interface Where {
  host: string;
  port: number;
}

export class ListenProblem extends Error {
  override name = 'ListenProblem';
  constructor({ host, port }: Where, cause: unknown) {
    const code = (cause as NodeJS.ErrnoException | null)?.code;
    const why = code === undefined ? 'the reason is not known' : (causes[code] ?? code);
    const shown = host.includes(':') ? `[${host}]` : host;
    super(`${shown}:${port} cannot be listened on: ${why}`, { cause });
  }
}

/** Asks the platform why: uWebSockets.js only says that it did not work. */
export function listenProblem(where: Where): Promise<ListenProblem> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error) => resolve(new ListenProblem(where, error)));
    probe.listen({ ...where, exclusive: true }, () => {
      probe.close(() => resolve(new ListenProblem(where, null)));
    });
  });
}
