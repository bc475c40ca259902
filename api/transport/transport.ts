/**
 * What a transport is: it carries requests to an application and answers back, over one listening
 * port. Neither side knows the other's library; both transports pass the same conformance tests.
 */

import type { Refusal } from '../../engine/internal.js';
import type { ExchangeLimits } from './exchange-limits.js';

/** A request with its body read. Names of headers are lower case. */
export interface HttpRequest {
  /** As sent: methods are told apart by their case. */
  method: string;
  /** Path and query as sent. */
  target: string;
  path: string;
  headers: ReadonlyMap<string, string>;
  /** Of the peer, as text. */
  address: string;
  /** `unread` where the application did not take it, or not all of it: then its entry knows why. */
  body: Uint8Array | 'unread';
  /** What the application said of its head, where it was asked. */
  entry?: Entry;
  /** What is wrong with its head. The connection is closed, and nothing after it is read. */
  fault: Refusal | null;
}

/** What a request may bring, decided by its head. */
export interface Entry {
  /** Whether its body is to be read. If not, the connection is closed with the answer. */
  readonly wanted: boolean;
  /** Takes note of bytes that arrived; false when no more are to be read. */
  take(bytes: number): boolean;
  /** The request is over, answered or gone: what it held is free. Nothing happens twice. */
  leave(): void;
}

export interface HttpResponse {
  status: number;
  headers: Record<string, string>;
  body: string | Uint8Array;
}

/** A WebSocket connection, as the application sees it. */
export interface Socket {
  /** Of the client, as the application counts it. */
  readonly whom: string;
  /** Text, encoded. False when the transport had no room and dropped it. */
  send(text: Uint8Array | string): boolean;
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
  /** There is room to send again. */
  drained(): void;
  /** A ping, which the transport has answered. */
  pinged(): void;
  /** The connection is gone, whoever ended it. */
  closed(code: number): void;
}

export interface Application {
  readonly limits: ExchangeLimits;
  /** Where WebSockets are opened. */
  readonly socketPath: string;
  /** The answer where no WebSocket is opened for this request; else whom one is counted for. */
  admitSocket(
    request: HttpRequest,
  ): { answer: HttpResponse | Promise<HttpResponse> } | { whom: string };
  open(socket: Socket): SocketHandlers;
  /** Whether a new connection of this peer is taken; if not, it is closed at once. */
  accepts(address: string): boolean;
  /** Asked about each request with a body before any of it is read; `declared` is its length. */
  enter(head: Omit<HttpRequest, 'body'>, declared: number | null): Entry;
  /** At once where nothing has to be waited for. Neither throws nor rejects; leaves the entry. */
  handle(request: HttpRequest): HttpResponse | Promise<HttpResponse>;
  /** The answer to a request whose time is up; its connection is closed. */
  late(request: HttpRequest): HttpResponse | Promise<HttpResponse>;
}

export interface Listening {
  port: number;
  /** Stops accepting, lets what is in flight be answered, for a while, then closes all. */
  close(): Promise<void>;
}

export interface Transport {
  readonly name: 'uws' | 'node';
  /** @throws when the port cannot be had. */
  listen(application: Application, address: { host: string; port: number }): Promise<Listening>;
}
