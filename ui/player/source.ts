/**
 * The worker's network sources: their interface, HTTP reads from a server, and the follower that
 * receives new entries from a server.
 */
import type { Overview, RowBatch, Snapshot } from '../../api/view/model.js';
import { decodeRowBatch } from '../../api/view/row-batch.js';
import type { LinkState, WorldStatus } from '../data/messages.js';
import { accepted, pageText, RefusedError } from '../messages.js';

/** A method throws {@link RefusedError} for a refusal, and other errors if the server is silent. */
export interface Source {
  /** The server's origin; '' for an exported file, which receives no further entries. */
  readonly origin: string;
  /** Returns the network state after an entry; null means the newest entry. */
  view(at: number | null): Promise<Snapshot>;
  /** Returns the rows of entries `from` to `to`, or fewer if the server limits the response. */
  columns(from: number, to: number): Promise<RowBatch>;
  overview(buckets: number): Promise<Overview>;
  /** Returns the `data` member of the response to a path. */
  json<T>(path: string): Promise<T>;
}

interface Progress {
  made: boolean;
  entry: number;
  to: number;
}

/** Source that reads from a server over HTTP. */
export class ServerSource implements Source {
  constructor(readonly origin: string) {}

  /** Requests the progress first, because the browser logs every 503 to the console. */
  async view(at: number | null): Promise<Snapshot> {
    if (at === null) {
      const { made, ...how } = await this.json<Progress>('/api/v1/view/progress');
      if (!made) {
        const refusal = { status: 503, reason: 'BEING_MADE', details: how };
        throw new RefusedError('LOG_BEING_READ', refusal);
      }
    }
    return this.json(`/api/v1/view${at === null ? '' : `?at=${at}`}`);
  }

  async columns(from: number, to: number): Promise<RowBatch> {
    const answer = await this.#get(`/api/v1/columns?from=${from}&to=${to}`);
    return decodeRowBatch(new Uint8Array(await answer.arrayBuffer()));
  }

  overview(buckets: number): Promise<Overview> {
    return this.json(`/api/v1/overview?buckets=${buckets}`);
  }

  async json<T>(path: string): Promise<T> {
    const answer = await this.#get(path);
    return ((await answer.json()) as { data: T }).data;
  }

  async #get(path: string): Promise<Response> {
    return accepted(() => fetch(this.origin + path), path);
  }
}

interface FollowerEvents {
  span(batch: RowBatch): void;
  /**
   * Called with the network's newest entry and epoch. Returns false to stop if the network is a
   * different one.
   */
  watching(position: { entry: number; epoch: string }): boolean;
  /** Called when the server omitted entries. */
  skipped(position: { from: number; to: number }): void;
  world(message: WorldStatus): void;
  link(state: LinkState): void;
  /** Returns the last known entry. */
  since(): number;
}

const WATCH_EVERY_MS = 100;
const POLL_MS = 1_000;
const AGAIN_MS = [1_000, 2_000, 4_000, 8_000, 15_000];
/** Ping interval. The connection ends after more than MOST_SILENT_BEATS without a message. */
const SILENCE_MS = 5_000;
const MOST_SILENT_BEATS = 2;
const META_PATH = '/api/v1/meta';

type SocketMessage =
  | { type: 'watching'; entry: number; epoch: string }
  | { type: 'skipped'; from: number; to: number }
  | ({ type: 'clock' } & WorldStatus)
  | { type: 'pong' }
  | { type: 'error'; error: { message: string } };

/**
 * Follows the network from an entry, over the WebSocket watch if the server has one, or else by
 * polling. Reconnects automatically, and the first batch after a reconnect contains the missed
 * entries.
 */
export class Follower {
  readonly #source: Source;
  readonly #url: string;
  readonly #events: FollowerEvents;
  #tries = 0;
  #timer = 0;
  #lostAt: number | null = null;
  /** True if the server accepted a watch, false if the server refused; null until known. */
  #watches: boolean | null = null;
  #socket: WebSocket | null = null;
  #beats = 0;
  /** Number of beats since the last message. */
  #silent = 0;

  constructor(source: Source, events: FollowerEvents) {
    this.#source = source;
    this.#url = `${source.origin.replace(/^http/, 'ws')}/ws/v1`;
    this.#events = events;
  }

  start(): void {
    if (this.#watches === false) void this.#poll();
    else this.#open();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#leave();
  }

  #leave(): void {
    clearInterval(this.#beats);
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
  }

  #open(): void {
    const socket = new WebSocket(this.#url);
    this.#socket = socket;
    socket.binaryType = 'arraybuffer';
    this.#silent = 0;
    this.#beats = setInterval(() => this.#beat(socket), SILENCE_MS);
    let refusal = '';
    socket.onopen = () => {
      const message = { type: 'watch', since: this.#events.since(), every_ms: WATCH_EVERY_MS };
      socket.send(JSON.stringify(message));
    };
    socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      // The follower no longer uses this socket.
      if (this.#socket !== socket) return;
      this.#silent = 0;
      if (typeof data !== 'string') return this.#take(socket, data);
      const message = JSON.parse(data) as SocketMessage;
      if (message.type === 'watching') {
        this.#watches = true;
        this.#well('watch');
        this.#events.watching(message);
      } else if (message.type === 'skipped') this.#events.skipped(message);
      else if (message.type === 'clock') this.#events.world(message);
      else if (message.type === 'error') {
        refusal = message.error.message;
        // The server has no watch.
        if (this.#watches === null) socket.close();
      }
    };
    socket.onclose = () => {
      if (this.#socket !== socket) return;
      this.#leave();
      // Poll a server that has no watch.
      if (refusal !== '' && this.#watches === null) {
        this.#watches = false;
        void this.#poll();
      } else this.#lost(refusal === '' ? pageText('CONNECTION_CLOSED') : refusal);
    };
  }

  /** Detects a connection that ended without closing, for example while a laptop slept. */
  #beat(socket: WebSocket): void {
    this.#silent += 1;
    if (this.#silent > MOST_SILENT_BEATS) {
      this.#leave();
      const seconds = (MOST_SILENT_BEATS * SILENCE_MS) / 1_000;
      this.#lost(pageText('SERVER_SILENT', { seconds }));
    } else if (socket.readyState === WebSocket.OPEN) {
      socket.send(JSON.stringify({ type: 'ping', id: 'page' }));
    }
  }

  /** Accepts a batch. Reconnects if the batch is malformed or does not follow the last entry. */
  #take(socket: WebSocket, data: ArrayBuffer): void {
    try {
      this.#events.span(decodeRowBatch(new Uint8Array(data)));
    } catch {
      socket.close();
    }
  }

  async #poll(): Promise<void> {
    try {
      const { seq, epoch } = await this.#source.json<{ seq: number; epoch: string }>(META_PATH);
      this.#well('poll');
      if (!this.#events.watching({ entry: seq, epoch })) return;
      this.#timer = setTimeout(() => void this.#poll(), POLL_MS);
    } catch (error) {
      const known = error instanceof RefusedError;
      this.#lost(known ? error.message : pageText('SERVER_UNREACHABLE'));
    }
  }

  #well(by: 'watch' | 'poll'): void {
    this.#tries = 0;
    this.#lostAt = null;
    this.#events.link({ is: 'following', by });
  }

  /** Schedules the next attempt, with increasing delays. */
  #lost(why: string): void {
    const wait = AGAIN_MS[Math.min(this.#tries, AGAIN_MS.length - 1)]!;
    this.#tries += 1;
    this.#lostAt ??= Date.now();
    this.#events.link({ is: 'lost', why, since: this.#lostAt, againAt: Date.now() + wait });
    this.#timer = setTimeout(() => this.start(), wait);
  }
}
