/**
 * Events as an async iterable that outlives its connections: each event once, in order, without a
 * gap. It holds a bounded number of events and at most one connection, and opens the next one after
 * a growing pause.
 */
import type { Signatory } from '../../engine/protocol/compose.js';
import type { Event } from '../../engine/protocol/schema/event.js';
import type { EventPage } from './answers.js';
import { ApiError, StreamError, UnreachableError } from './errors.js';
import type { Clock, Http } from './http.js';
import {
  converse,
  type Ended,
  type Position,
  platformSocket,
  type SocketConstructor,
  type Subscribed,
} from './socket.js';

export type { Position };

/** Where a stream of events begins, and what it does when it cannot keep up. */
export interface StreamOptions {
  /** Go on after this event; a number is one of the history that the server has now. */
  since?: Position | number;
  /** Ends the stream, without an error. */
  signal?: AbortSignal;
  /**
   * Events held for a slow consumer. Beyond, the connection is given up; when all that are held
   * have been taken, the stream goes on after them.
   */
  bufferSize?: number;
  /** The server's history is another than before, or shorter: what follows begins after `to`. */
  onGap?: (from: Position, to: Position) => void;
}

interface Means {
  by: Signatory;
  clock: Clock;
  http: Http;
  WebSocket: SocketConstructor | undefined;
}

const BUFFER = 10_000;
/** Rows of a page of history. */
const PAGE = 1_000;
/** A subscription that stood this long has not failed: the next wait is short again. */
const STEADY_MS = 5_000;

/**
 * Events as an async iterable that outlives its connections: each event once, in order, without a
 * hole. `AgentClient.events` makes one; `break` out of its loop ends it.
 */
export class EventStream implements AsyncIterableIterator<Event, undefined> {
  /** The topics that were asked for. */
  readonly topics: readonly string[];
  readonly #means: Means;
  readonly #options: StreamOptions;
  readonly #ending = new AbortController();
  readonly #events = new EventQueue<{ event: Event; epoch: string }>();
  /** The last event received. */
  #reached: Position | null;
  /** The last event taken. */
  #taken: Position | null;
  #gap = false;
  /** When the present connection was subscribed. */
  #liveAt: number | null = null;
  #failures = 0;
  #refusals = 0;
  #open: (position: Position) => void = () => {};
  #notOpen: (error: unknown) => void = () => {};
  /** Resolves with where the stream begins, once the server has subscribed it. */
  readonly opened: Promise<Position>;

  /**
   * It connects at once, so that nothing after this is missed once it is `opened`.
   *
   * @internal
   */
  constructor(means: Means, topics: readonly string[], options: StreamOptions) {
    const { since, signal } = options;
    this.topics = topics;
    this.#means = means;
    this.#options = options;
    this.#reached = typeof since === 'object' ? { ...since } : null;
    this.#taken = this.#reached && { ...this.#reached };
    this.opened = new Promise((resolve, reject) => {
      this.#open = resolve;
      this.#notOpen = reject;
    });
    // Who does not wait for it gets the failure from `next`.
    this.opened.catch(() => {});
    signal?.addEventListener('abort', () => this.#end(), { signal: this.#ending.signal });
    if (signal?.aborted) this.#end();
    this.#run().catch((error) => this.#fail(error));
  }

  /** After the last event that was taken: what `since` takes to go on from here. */
  get position(): Position | null {
    return this.#taken && { ...this.#taken };
  }

  /**
   * The next event, as soon as there is one.
   *
   * @throws {StreamError} once, when the stream has ended for good.
   */
  async next(): Promise<IteratorResult<Event, undefined>> {
    const { done, value } = await this.#events.next();
    if (done) return { done, value: undefined };
    this.#taken = { epoch: value.epoch, seq: value.event.seq };
    return { done: false, value: value.event };
  }

  /** Ends the stream and its connection. */
  async return(): Promise<IteratorResult<Event, undefined>> {
    this.#end();
    return { done: true, value: undefined };
  }

  /** The stream itself: it is iterated once. */
  [Symbol.asyncIterator](): this {
    return this;
  }

  #end(): void {
    this.#ending.abort();
    this.#events.end();
    this.#notOpen(new Error('the stream ended before it was subscribed'));
  }

  #fail(error: unknown): void {
    this.#ending.abort();
    this.#events.fail(error);
    this.#notOpen(error);
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    const Socket = this.#means.WebSocket ?? (await platformSocket());
    while (!signal.aborted) {
      this.#liveAt = null;
      const { servers } = this.#means.http;
      const url = servers.current;
      const ended = await this.#connection(Socket, url);
      if (ended.code !== 1000) servers.leave(url);
      if (this.#liveAt !== null && Date.now() - this.#liveAt >= STEADY_MS) this.#failures = 0;
      // Full: what is held goes first.
      await this.#hasSpace();
      if (signal.aborted) return;
      const waitMs = this.#judged(ended);
      if (waitMs === null) return this.#fail(new StreamError(closeCode(ended), ended.error));
      if (this.#gap) await this.#backfill();
      await pause(waitMs, signal);
      this.#failures += 1;
    }
  }

  #connection(Socket: SocketConstructor, url: string): Promise<Ended> {
    const { by, clock, http } = this.#means;
    return converse({
      Socket,
      by,
      clock,
      url,
      impatient: http.servers.count > 1,
      topics: this.topics,
      signal: this.#ending.signal,
      since: (server) => this.#since(server),
      onSubscribed: (data) => this.#subscribed(data),
      onEvent: (event) => this.#take(event),
    });
  }

  /** From the first connection on there is a place to go on from, so nothing is missed. */
  #since(server: Position): Position {
    const { since } = this.#options;
    this.#reached ??= { ...server, ...(typeof since === 'number' ? { seq: since } : {}) };
    this.#taken ??= { ...this.#reached };
    return this.#reached;
  }

  #subscribed({ gap, epoch, last_seq }: Subscribed): boolean {
    this.#refusals = 0;
    if (!gap) {
      this.#liveAt = Date.now();
      this.#open({ ...this.#reached! });
      return true;
    }
    const from = this.#reached!;
    const shorter = from.epoch === epoch && from.seq <= last_seq;
    this.#reached = { epoch, seq: shorter ? from.seq : 0 };
    this.#gap = true;
    this.#options.onGap?.(from, { ...this.#reached });
    return false;
  }

  /** False when there is no space for more. */
  #take(event: Event): boolean {
    const { epoch, seq } = this.#reached!;
    if (event.seq <= seq) return true;
    this.#reached = { epoch, seq: event.seq };
    this.#events.push({ event, epoch });
    return !this.#full;
  }

  get #full(): boolean {
    return this.#events.size >= (this.#options.bufferSize ?? BUFFER);
  }

  #hasSpace(): Promise<void> {
    return this.#full ? this.#events.empty() : Promise.resolve();
  }

  /** How long to wait before the next connection; null when there must be none. */
  #judged({ code, error, refused }: Ended): number | null {
    if (refused) return null;
    if (isRefusal(code)) this.#refusals += 1;
    if (error?.details.reason === 'TIMESTAMP_SKEW') {
      this.#means.clock.correct(error.details.server_time);
    }
    return retryMs(code, { failures: this.#failures, refusals: this.#refusals });
  }

  /** What the server still holds of the gap comes over HTTP, page by page; then it subscribes. */
  async #backfill(): Promise<void> {
    const { signal } = this.#ending;
    for (let failures = 0; !signal.aborted; ) {
      await this.#hasSpace();
      try {
        if (await this.#page()) break;
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        const waitMs = passing(error, failures);
        if (waitMs === null) throw error;
        failures += 1;
        await pause(waitMs, signal);
      }
    }
    this.#gap = false;
  }

  /** Takes one page; true when it was the last. */
  async #page(): Promise<boolean> {
    const { epoch, seq: after } = this.#reached!;
    const query = { after, topics: this.topics.join(','), limit: PAGE };
    const { signal } = this.#ending;
    const page = (await this.#means.http.get('/api/v1/events', query, signal)) as EventPage;
    // Another history again: subscribing will show it.
    if (page.epoch !== epoch) return true;
    for (const event of page.events) this.#take(event);
    const seq = page.next_cursor === null ? page.last_seq : Number(page.next_cursor);
    if (seq > this.#reached!.seq) this.#reached = { epoch, seq };
    return page.next_cursor === null || seq <= after;
  }
}

const closeCode = ({ code, refused }: Ended) => (refused ? null : code);

/** How long to wait when an error may pass; null when it will not. */
function passing(error: unknown, failures: number): number | null {
  if (error instanceof UnreachableError) return backoffMs(failures);
  if (!(error instanceof ApiError) || (error.status !== 429 && error.status < 500)) return null;
  return error.retryAfter === null ? backoffMs(failures) : error.retryAfter * 1000;
}

interface Waiting<T> {
  resolve(result: IteratorResult<T, undefined>): void;
  reject(error: unknown): void;
}

class EventQueue<T> {
  #items: T[] = [];
  readonly #waiting: Waiting<T>[] = [];
  #onEmpty: (() => void) | null = null;
  #ended = false;
  /** Thrown once, after the last item. */
  #failure: { error: unknown } | null = null;

  get size(): number {
    return this.#items.length;
  }

  push(item: T): void {
    if (this.#ended) return;
    const first = this.#waiting.shift();
    if (first) first.resolve({ done: false, value: item });
    else this.#items.push(item);
  }

  next(): Promise<IteratorResult<T, undefined>> {
    return new Promise((resolve, reject) => {
      const value = this.#items.shift();
      if (value !== undefined) resolve({ done: false, value });
      else if (!this.#ended) this.#waiting.push({ resolve, reject });
      else this.#sayEnd({ resolve, reject });
      if (this.#items.length === 0) this.#emptied();
    });
  }

  /** Resolves when all items have been taken, or at the end. */
  empty(): Promise<void> {
    if (this.#items.length === 0 || this.#ended) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onEmpty = resolve;
    });
  }

  /** Ends at once: what is left is dropped. */
  end(): void {
    this.#items = [];
    this.#failure = null;
    this.#close();
  }

  /** Ends after what is left, with an error. */
  fail(error: unknown): void {
    if (this.#ended) return;
    this.#failure = { error };
    this.#close();
  }

  #close(): void {
    this.#ended = true;
    for (const one of this.#waiting.splice(0)) this.#sayEnd(one);
    this.#emptied();
  }

  #sayEnd({ resolve, reject }: Waiting<T>): void {
    const failure = this.#failure;
    this.#failure = null;
    if (failure) reject(failure.error);
    else resolve({ done: true, value: undefined });
  }

  #emptied(): void {
    this.#onEmpty?.();
    this.#onEmpty = null;
  }
}

const FIRST_MS = 250;
const MOST_MS = 30_000;
/** Pause before the next connection after the server closed one for too many messages. */
const TOO_FAST_MS = 60_000;

/**
 * Close codes after which the client does not reconnect: message too large, malformed message,
 * unknown agent, watching disabled, too many connections, unreadable history. After 4401 (not
 * authenticated) it tries once more.
 */
const finalCodes: ReadonlySet<number> = new Set([1009, 4400, 4403, 4405, 4409, 4503]);
const UNAUTHENTICATED = 4401;
const tooFast: ReadonlySet<number> = new Set([4429, 4430]);

/** Exponential backoff with full jitter: anything up to twice as long after each failure. */
function backoffMs(failures: number, random: () => number = Math.random): number {
  return random() * Math.min(MOST_MS, FIRST_MS * 2 ** Math.min(failures, 16));
}

/** Milliseconds to wait before the next try, or null when there must be none. */
function retryMs(code: number, tries: { failures: number; refusals: number }) {
  if (finalCodes.has(code)) return null;
  if (code === UNAUTHENTICATED && tries.refusals > 1) return null;
  return tooFast.has(code) ? TOO_FAST_MS : backoffMs(tries.failures);
}

const isRefusal = (code: number) => code === UNAUTHENTICATED;

/** Waits; an abort ends the wait early. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener('abort', done);
  });
}
