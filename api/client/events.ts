/**
 * An async iterable of events that survives disconnects. Yields each event once, in order, without
 * a gap. A stream buffers a bounded number of events, uses at most one connection, and reconnects
 * with exponential backoff.
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

/** Options for an event stream. */
export interface StreamOptions {
  /** Last known event. A number refers to the server's current history. */
  since?: Position | number;
  /** Ends the stream without an error. */
  signal?: AbortSignal;
  /**
   * Number of events to buffer for a slow consumer. When the buffer is full, the stream
   * disconnects. When the buffer is empty, the stream resumes.
   */
  bufferSize?: number;
  /** Called if the server's history changed or became shorter. Later events follow `to`. */
  onGap?: (from: Position, to: Position) => void;
}

interface Means {
  by: Signatory;
  clock: Clock;
  http: Http;
  WebSocket: SocketConstructor | undefined;
}

const BUFFER = 10_000;
/** Events per page when reading history over HTTP. */
const PAGE = 1_000;
/** Duration after which a subscription resets the backoff. */
const STEADY_MS = 5_000;

/**
 * An async iterable of events, created by `AgentClient.events`. Yields each event once, in order,
 * without a gap. Leaving the loop with `break` ends the stream.
 */
export class EventStream implements AsyncIterableIterator<Event, undefined> {
  /** Subscribed topics. */
  readonly topics: readonly string[];
  readonly #means: Means;
  readonly #options: StreamOptions;
  readonly #ending = new AbortController();
  readonly #events = new EventQueue<{ event: Event; epoch: string }>();
  /** Position of the last received event. */
  #reached: Position | null;
  /** Position of the last event that the consumer took. */
  #taken: Position | null;
  #gap = false;
  /** Start time of the current subscription. */
  #liveAt: number | null = null;
  #failures = 0;
  #refusals = 0;
  #open: (position: Position) => void = () => {};
  #notOpen: (error: unknown) => void = () => {};
  /** Resolves to the start position once the server has accepted the subscription. */
  readonly opened: Promise<Position>;

  /** Connects immediately. No event after `opened` resolves is missed. @internal */
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
    // A consumer that ignores `opened` gets the error from `next`.
    this.opened.catch(() => {});
    signal?.addEventListener('abort', () => this.#end(), { signal: this.#ending.signal });
    if (signal?.aborted) this.#end();
    this.#run().catch((error) => this.#fail(error));
  }

  /** Position after the last event that the consumer took, to pass as `since` to a new stream. */
  get position(): Position | null {
    return this.#taken && { ...this.#taken };
  }

  /** Returns the next event. @throws {StreamError} once, when the stream has failed permanently. */
  async next(): Promise<IteratorResult<Event, undefined>> {
    const { done, value } = await this.#events.next();
    if (done) return { done, value: undefined };
    this.#taken = { epoch: value.epoch, seq: value.event.seq };
    return { done: false, value: value.event };
  }

  /** Ends the stream and closes its connection. Called when a `for await` loop ends early. */
  async return(): Promise<IteratorResult<Event, undefined>> {
    this.#end();
    return { done: true, value: undefined };
  }

  /** Returns the stream itself, which can be iterated only once. */
  [Symbol.asyncIterator](): this {
    return this;
  }

  #end(): void {
    this.#ending.abort();
    this.#events.end();
    this.#notOpen(new Error('event stream ended before its subscription'));
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
      // When the buffer is full, the consumer empties it before the stream reconnects.
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

  /**
   * Returns the start of a subscription. The first connection fixes the position to resume from, so
   * no event is missed.
   */
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

  /** Returns false if the buffer is full. */
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

  /** Returns the delay before the next connection, or null for a permanent failure. */
  #judged({ code, error, refused }: Ended): number | null {
    if (refused) return null;
    if (isRefusal(code)) this.#refusals += 1;
    if (error?.details.reason === 'TIMESTAMP_SKEW') {
      this.#means.clock.correct(error.details.server_time);
    }
    return retryMs(code, { failures: this.#failures, refusals: this.#refusals });
  }

  /** Reads the missed events over HTTP, page by page, before the stream subscribes again. */
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

  async #page(): Promise<boolean> {
    const { epoch, seq: after } = this.#reached!;
    const query = { after, topics: this.topics.join(','), limit: PAGE };
    const { signal } = this.#ending;
    const page = (await this.#means.http.get('/api/v1/events', query, signal)) as EventPage;
    // The history changed again, so the next subscription reports the gap.
    if (page.epoch !== epoch) return true;
    for (const event of page.events) this.#take(event);
    const seq = page.next_cursor === null ? page.last_seq : Number(page.next_cursor);
    if (seq > this.#reached!.seq) this.#reached = { epoch, seq };
    return page.next_cursor === null || seq <= after;
  }
}

const closeCode = ({ code, refused }: Ended) => (refused ? null : code);

/** Returns the delay before a retry, or null if the error is permanent. */
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
  /** Rejects one `next`, after the last item. */
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

  empty(): Promise<void> {
    if (this.#items.length === 0 || this.#ended) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onEmpty = resolve;
    });
  }

  /** Ends the queue and drops its items. */
  end(): void {
    this.#items = [];
    this.#failure = null;
    this.#close();
  }

  /** Ends the queue with an error after its last item. */
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
/** Pause after the server has closed a connection for sending too fast. */
const TOO_FAST_MS = 60_000;

/**
 * Close codes after which the client does not reconnect: message too large, malformed messages,
 * unknown agent or read-only server, watching disabled, replaced by a newer connection, damaged
 * history. After 4401 (not authenticated), the client tries once more.
 */
const finalCodes: ReadonlySet<number> = new Set([1009, 4400, 4403, 4405, 4409, 4503]);
const UNAUTHENTICATED = 4401;
const tooFast: ReadonlySet<number> = new Set([4429, 4430]);

function backoffMs(failures: number): number {
  return Math.random() * Math.min(MOST_MS, FIRST_MS * 2 ** Math.min(failures, 16));
}

/** Returns the delay before a retry in milliseconds, or null for a permanent failure. */
function retryMs(code: number, tries: { failures: number; refusals: number }) {
  if (finalCodes.has(code)) return null;
  if (code === UNAUTHENTICATED && tries.refusals > 1) return null;
  return tooFast.has(code) ? TOO_FAST_MS : backoffMs(tries.failures);
}

const isRefusal = (code: number) => code === UNAUTHENTICATED;

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
