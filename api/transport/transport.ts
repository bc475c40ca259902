/**
 * The interface between transports and the application. A transport listens on a port, passes
 * requests to the application, and writes its responses. Both transports pass the same conformance
 * tests. This module also defines the limits for an exchange, and listening errors.
 */

import { createServer } from 'node:net';
import { defineFailures, type Failure, type MessageTable } from '../../engine/protocol/messages.js';
import type { Refusal } from '../../engine/protocol/schema/reason.js';

/** Request head. Header names are lower case. */
export interface RequestHead {
  /** Method as sent. Methods are case-sensitive. */
  method: string;
  target: string;
  path: string;
  headers: ReadonlyMap<string, string>;
  /** Peer address. Read it in the turn of the head: the connection may be gone afterwards. */
  readonly address: string;
  /** Refusal for an ambiguous head. The connection is closed; nothing after the head is read. */
  fault: Refusal | null;
}

/** `unread` if the application refused the body. */
export type Body = Uint8Array | 'unread';

export interface IncomingRequest {
  /** False if the body is refused. The connection then closes after the response. */
  readonly readsBody: boolean;
  /** Counts received bytes. Returns false if no further bytes may be kept. */
  take(bytes: number): boolean;
  /** Responds, synchronously if possible. Never throws or rejects. Releases the request. */
  answer(body: Body): HttpResponse | Promise<HttpResponse>;
  /** Returns a response, or the address key of the WebSocket to open. */
  upgrade(): UpgradeResult;
  /** Responds after a timeout. The connection is closed. */
  timeOut(): HttpResponse | Promise<HttpResponse>;
  /** Releases the request's resources. Idempotent. */
  release(): void;
}

/** A response, or the address key of the WebSocket to open. */
type UpgradeResult = { answer: HttpResponse | Promise<HttpResponse> } | { addressKey: string };

export interface HttpResponse {
  status: number;
  headers: Record<string, string>;
  body: string | Uint8Array;
}

/** Publishing by topic to all of an application's sockets. */
interface Together {
  join(topic: string): void;
  /** Leaves a topic. Messages published earlier still arrive. */
  leave(topic: string): void;
  /** Sends encoded text to all members, in order with other messages, without checking buffers. */
  publish(topic: string, text: Uint8Array): void;
}

export interface Socket {
  /** Limit key for the client's address. */
  readonly addressKey: string;
  /** Null if the transport cannot publish. */
  readonly together: Together | null;
  /** Sends encoded text. Returns false if the buffer was full and the message was dropped. */
  send(text: Uint8Array | string): boolean;
  /** Sends a binary message. Returns false under the same condition as `send`. */
  sendBytes(bytes: Uint8Array): boolean;
  /** Bytes queued but not yet sent. */
  bufferedBytes(): number;
  /** Batches the messages sent within `work`. */
  cork(work: () => void): void;
  ping(): void;
  close(code: number, reason: string): void;
}

export interface SocketHandlers {
  /** Handles a message; null for a binary message. */
  message(text: string | null): void;
  pong(): void;
  drained(): void;
  /** Called after a published message was dropped because the buffer was full. */
  missed(): void;
  /** Called after a ping, which the transport has already answered. */
  pinged(): void;
  /** Called after either side has closed the connection. */
  closed(code: number): void;
}

export interface Application {
  readonly limits: ExchangeLimits;
  readonly socketPath: string;
  /** Returns false if a new connection must be closed. */
  accepts(address: string): boolean;
  /** Begins a request. `declared` is the body length: 0 without a body, null if malformed. */
  begin(head: RequestHead, declared: number | null): IncomingRequest;
  open(socket: Socket): SocketHandlers;
  /** Called with the status of a response that the transport gave on its own. */
  answered?(status: number): void;
}

export interface Listening {
  port: number;
  /** Stops accepting, waits for requests in flight up to the grace period, then closes all. */
  close(): Promise<void>;
}

export interface Address {
  host: string;
  port: number;
}

export interface Transport {
  readonly name: 'uws' | 'node';
  /** @throws {Failure} if the port is unavailable. */
  listen(application: Application, address: Address): Promise<Listening>;
}

/** Limits for an exchange: times in milliseconds, and sizes in bytes. */
export interface ExchangeLimits {
  /** Time from the head to the last byte of the response. */
  requestMs: number;
  /** Time from a connection's first byte to the end of a head. */
  headMs: number;
  /** Time that shutdown waits for requests in flight. */
  stopMs: number;
  /** Time for which the rest of a refused body is read before the response. */
  discardMs: number;
  /** Declared size up to which a refused body is read. */
  discardBytes: number;
  /** The same, of all bodies that a server refuses within one second. */
  discardBytesPerSecond: number;
}

export const exchangeLimits: Readonly<ExchangeLimits> = {
  requestMs: 30_000,
  headMs: 10_000,
  stopMs: 10_000,
  discardMs: 5_000,
  discardBytes: 8 * 1024 * 1024,
  discardBytesPerSecond: 64 * 1024 * 1024,
};

const listenMessages = {
  EADDRINUSE:
    'cannot listen on {address}: port in use; stop the other program, or choose another --port',
  EADDRNOTAVAIL: `cannot listen on {address}: no such address on this machine;
    use a local address, 0.0.0.0 or ::`,
  EACCES: `cannot listen on {address}: permission denied;
    use a port from 1024 on, or grant the permission`,
  ENOTFOUND: 'cannot listen on {address}: unknown host name',
  EAI_AGAIN: 'cannot listen on {address}: name lookup failed; try again',
  EAFNOSUPPORT: 'cannot listen on {address}: address family not supported; use an IPv4 address',
  UNKNOWN: 'cannot listen on {address}: {cause}',
} as const satisfies MessageTable;

const listenFailure = defineFailures('server', listenMessages);

const isListenCode = (code: string): code is keyof typeof listenMessages =>
  Object.hasOwn(listenMessages, code);

/** Creates the error for a port that is unavailable. `problem` is a system error code. */
export function createListenFailure({ host, port }: Address, cause: unknown): Failure {
  const given = (cause as NodeJS.ErrnoException | null)?.code ?? 'unknown error';
  const problem = isListenCode(given) ? given : 'UNKNOWN';
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return listenFailure(problem, { address, cause: given }, { cause });
}

/** Finds the reason by listening with node:net, because uWebSockets.js reports none. */
export function findListenProblem(where: Address): Promise<Failure> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error) => resolve(createListenFailure(where, error)));
    probe.listen({ ...where, exclusive: true }, () => {
      probe.close(() => resolve(createListenFailure(where, null)));
    });
  });
}
