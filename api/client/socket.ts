/** A WebSocket connection: authentication, subscription, events, and detecting its loss. */
import type { Signatory } from '../../engine/protocol/compose.js';
import type { Event } from '../../engine/protocol/schema/event.js';
import { authInput } from '../../engine/protocol/signing.js';
import type { ErrorBody } from './errors.js';
import type { Clock } from './http.js';

/** The parts of a WebSocket event that the client uses. */
export interface SocketEvent {
  type: string;
  data?: unknown;
  code?: number;
}

/** The parts of a WebSocket that the client uses. Browsers, Node and `ws` provide these parts. */
export interface SocketLike {
  addEventListener(
    type: 'open' | 'message' | 'close' | 'error',
    listener: (event: SocketEvent) => void,
  ): void;
  send(text: string): void;
  close(code?: number): void;
}

/** A WebSocket class, for `AgentClientOptions.WebSocket`. */
export type SocketConstructor = new (url: string) => SocketLike;

/** A position in a history: the history's `epoch`, and the last known event. */
export interface Position {
  epoch: string;
  seq: number;
}

export interface Subscribed {
  epoch: string;
  last_seq: number;
  /** True if the requested position does not exist because the history changed or shrank. */
  gap: boolean;
}

interface Conversation {
  Socket: SocketConstructor;
  url: string;
  /** True if there are other servers. The timeout is then {@link IMPATIENT_MS}. */
  impatient: boolean;
  by: Signatory;
  clock: Clock;
  topics: readonly string[];
  signal: AbortSignal;
  /** Returns the position to resume from, given the server's position. */
  since(server: Position): Position;
  /** Returning false from either callback ends the connection. */
  onSubscribed(data: Subscribed): boolean;
  onEvent(event: Event): boolean;
}

export interface Ended {
  /** 1000 if the client ended the connection, 1006 if it broke. */
  code: number;
  error: ErrorBody | null;
  /** True if the server refused the subscription, so a retry would fail too. */
  refused: boolean;
}

/** Timeout from opening to `auth_ok`, and from `auth_ok` to `subscribed`. */
const ANSWER_MS = 15_000;
/** Value of both timeouts if there are other servers. */
const IMPATIENT_MS = 5_000;
/** Number of silent heartbeat intervals after which a connection counts as broken. */
const SILENT_HEARTBEATS = 2.5;

interface AuthOk {
  epoch: string;
  last_seq: number;
  heartbeat_ms: number;
}

type Message =
  | { type: 'auth_ok'; data: AuthOk }
  | { type: 'subscribed'; data: Subscribed }
  | { type: 'error'; error: ErrorBody }
  | { type: 'pong' }
  | Event;

/** Runs one connection until it ends. Never rejects. */
export function converse(with_: Conversation): Promise<Ended> {
  return new Promise((resolve) => new Talk(with_, resolve));
}

class Talk {
  readonly #with: Conversation;
  readonly #socket: SocketLike;
  readonly #resolve: (ended: Ended) => void;
  #phase: 'authenticating' | 'subscribing' | 'live' | 'over' = 'authenticating';
  #error: ErrorBody | null = null;
  #silenceMs: number;
  #silence: ReturnType<typeof setTimeout> | undefined;
  #heartbeat: ReturnType<typeof setInterval> | undefined;
  #pings = 0;

  constructor(with_: Conversation, resolve: (ended: Ended) => void) {
    this.#with = with_;
    this.#resolve = resolve;
    const { Socket, url, impatient, signal } = with_;
    this.#silenceMs = impatient ? IMPATIENT_MS : ANSWER_MS;
    this.#socket = new Socket(`${url.replace(/^http/, 'ws')}/ws/v1`);
    this.#socket.addEventListener('open', () => this.#authenticate());
    this.#socket.addEventListener('message', ({ data }) => this.#receive(data));
    this.#socket.addEventListener('close', ({ code }) => this.#over(code ?? 1006));
    // A `close` event always follows.
    this.#socket.addEventListener('error', () => {});
    signal.addEventListener('abort', this.#hangUp);
    this.#listen();
    if (signal.aborted) this.#hangUp();
  }

  readonly #hangUp = () => this.#end(1000);

  #authenticate(): void {
    if (this.#phase === 'over') return;
    const { by, clock } = this.#with;
    const timestamp = clock.stamp();
    const signature = by.sign(authInput(by.publicKey, timestamp));
    this.#send({ type: 'auth', public_key: by.publicKey, timestamp, signature });
  }

  #receive(data: unknown): void {
    if (this.#phase === 'over') return;
    this.#listen();
    const message = read(data);
    if (!message) return this.#end(1006);
    if (message.type === 'auth_ok') this.#subscribe(message.data);
    else if (message.type === 'subscribed') {
      this.#phase = 'live';
      if (!this.#with.onSubscribed(message.data)) this.#hangUp();
    } else if (message.type === 'error') this.#recordError(message.error);
    else if ('seq' in message && !this.#with.onEvent(message)) this.#hangUp();
  }

  #subscribe({ epoch, last_seq, heartbeat_ms }: AuthOk): void {
    this.#phase = 'subscribing';
    const mostMs = this.#with.impatient ? IMPATIENT_MS / SILENT_HEARTBEATS : heartbeat_ms;
    const beatMs = Math.min(heartbeat_ms, mostMs);
    this.#silenceMs = beatMs * SILENT_HEARTBEATS;
    this.#heartbeat = setInterval(() => {
      this.#pings += 1;
      this.#send({ type: 'ping', id: this.#pings });
    }, beatMs);
    const { topics, since } = this.#with;
    this.#send({ type: 'subscribe', topics, since: since({ epoch, seq: last_seq }) });
  }

  /** Records an error. A close code usually follows an error, but not a refused subscription. */
  #recordError(error: ErrorBody): void {
    this.#error = error;
    if (this.#phase === 'subscribing' && error.code === 'INVALID_REQUEST') this.#end(1000, true);
  }

  #send(message: object): void {
    this.#socket.send(JSON.stringify(message));
  }

  /** Restarts the silence timer, which detects a connection that broke unnoticed. */
  #listen(): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => this.#end(1006), this.#silenceMs);
  }

  #end(code: number, refused = false): void {
    this.#over(code, refused);
    this.#socket.close(1000);
  }

  #over(code: number, refused = false): void {
    if (this.#phase === 'over') return;
    this.#phase = 'over';
    clearTimeout(this.#silence);
    clearInterval(this.#heartbeat);
    this.#with.signal.removeEventListener('abort', this.#hangUp);
    this.#resolve({ code, error: this.#error, refused });
  }
}

/** Parses a message. Returns null if the message is not from a folkmoot server. */
function read(data: unknown): Message | null {
  try {
    const message = JSON.parse(String(data)) as Message | null;
    return typeof message?.type === 'string' ? message : null;
  } catch {
    return null;
  }
}

/** Returns the platform's WebSocket, or `ws` on Node versions without one. */
export async function platformSocket(): Promise<SocketConstructor> {
  const { WebSocket } = globalThis as { WebSocket?: SocketConstructor };
  return WebSocket ?? (await import('ws')).WebSocket;
}
