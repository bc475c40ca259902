/**
 * Sources of a network for the worker: the interface of all, the reads of a server over HTTP, and
 * the follower of a server that hears of what comes next.
 */
import type { Overview, RowBatch, Snapshot } from '../../api/view/model.js';
import { decodeRowBatch } from '../../api/view/row-batch.js';
import type { LinkState, WorldStatus } from '../data/messages.js';

/** The answer is no. */
export class SourceRefused extends Error {
  override name = 'SourceRefused';
  readonly status: number;
  readonly reason: string;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    status: number,
    reason: string,
    message: string,
    details: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.status = status;
    this.reason = reason;
    this.details = details;
  }
}

/** What it was made of is damaged: it will never answer. */
export class SourceDamaged extends Error {
  override name = 'SourceDamaged';
}

/** Its functions throw {@link SourceRefused}, or an error of their own where nobody answers. */
export interface Source {
  /** Of the server whose socket tells what comes next; '' where nothing will. */
  readonly origin: string;
  /** The network after an entry; null: after the last. */
  view(at: number | null): Promise<Snapshot>;
  /** Rows of entries from one on, as far as one answer goes. */
  columns(from: number, to: number): Promise<RowBatch>;
  overview(buckets: number): Promise<Overview>;
  /** The data of an answer to a path. */
  json<T>(path: string): Promise<T>;
}

/** Nobody answered. */
class Unreachable extends Error {
  override name = 'Unreachable';
}

interface Progress {
  made: boolean;
  entry: number;
  to: number;
}

/** A server's reads over HTTP. */
export class ServerSource implements Source {
  readonly origin: string;

  constructor(origin: string) {
    this.origin = origin;
  }

  /** At first it is asked how far it is: a browser notes refusals where its readers look. */
  async view(at: number | null): Promise<Snapshot> {
    if (at === null) {
      const { made, ...how } = await this.json<Progress>('/api/v1/view/progress');
      if (!made) throw new SourceRefused(503, 'BEING_MADE', 'the log is gone through', how);
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
    let answer: Response;
    try {
      answer = await fetch(this.origin + path);
    } catch {
      throw new Unreachable(`${this.origin} does not answer`);
    }
    if (answer.ok) return answer;
    throw await refusalOf(answer);
  }
}

async function refusalOf(answer: Response): Promise<SourceRefused> {
  const text = await answer.text().catch(() => '');
  try {
    const { error } = JSON.parse(text) as {
      error: { message: string; details: { reason: string; [member: string]: unknown } };
    };
    return new SourceRefused(answer.status, error.details.reason, error.message, error.details);
  } catch {
    return new SourceRefused(answer.status, '', `the server answered ${answer.status}`);
  }
}

interface Told {
  span(batch: RowBatch): void;
  /** Where the network is now, and which; false where it is another, and nothing is to follow. */
  watching(position: { entry: number; epoch: string }): boolean;
  /** The server left entries out. */
  skipped(position: { from: number; to: number }): void;
  /** What else it says: of a world's clock. */
  world(message: WorldStatus): void;
  link(state: LinkState): void;
  /** The entry after which spans are wanted. */
  since(): number;
}

const WATCH_EVERY_MS = 100;
const POLL_MS = 1_000;
const AGAIN_MS = [1_000, 2_000, 4_000, 8_000, 15_000];
/** A server that says nothing for as long is asked for a sign of life, and given as long again. */
const SILENCE_MS = 5_000;
const META_PATH = '/api/v1/meta';

type SocketMessage =
  | { type: 'watching'; entry: number; epoch: string }
  | { type: 'skipped'; from: number; to: number }
  | ({ type: 'clock' } & WorldStatus)
  | { type: 'pong' }
  | { type: 'error'; error: { message: string } };

/**
 * Follows the network from an entry on: by the socket's watch where the server has one, else by
 * asking again and again. It connects anew by itself; missed entries come by the next span.
 */
export class Follower {
  readonly #source: Source;
  readonly #url: string;
  readonly #told: Told;
  #tries = 0;
  #timer = 0;
  #lostAt: number | null = null;
  /** Whether this server has ever let us watch, and whether it refused to. */
  #watches: boolean | null = null;
  #socket: WebSocket | null = null;
  #beats = 0;
  /** Beats since the server said something. */
  #silent = 0;

  constructor(source: Source, told: Told) {
    this.#source = source;
    this.#url = `${source.origin.replace(/^http/, 'ws')}/ws/v1`;
    this.#told = told;
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
      const message = { type: 'watch', since: this.#told.since(), every_ms: WATCH_EVERY_MS };
      socket.send(JSON.stringify(message));
    };
    socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      // What comes after it was left is of the past.
      if (this.#socket !== socket) return;
      this.#silent = 0;
      if (typeof data !== 'string') return this.#take(socket, data);
      const message = JSON.parse(data) as SocketMessage;
      if (message.type === 'watching') {
        this.#watches = true;
        this.#well('watch');
        this.#told.watching(message);
      } else if (message.type === 'skipped') this.#told.skipped(message);
      else if (message.type === 'clock') this.#told.world(message);
      else if (message.type === 'error') {
        refusal = message.error.message;
        // It has no watch: no need to wait until it closes by itself.
        if (this.#watches === null) socket.close();
      }
    };
    socket.onclose = () => {
      if (this.#socket !== socket) return;
      this.#leave();
      // It speaks to us, yet not like this: then it is asked.
      if (refusal !== '' && this.#watches === null) {
        this.#watches = false;
        void this.#poll();
      } else this.#lost(refusal === '' ? 'the connection to the server ended' : refusal);
    };
  }

  /** A connection may end without anybody being told: while a laptop sleeps, say. */
  #beat(socket: WebSocket): void {
    this.#silent += 1;
    if (this.#silent > 2) {
      this.#leave();
      this.#lost('the server has fallen silent');
    } else if (socket.readyState === WebSocket.OPEN) {
      socket.send(JSON.stringify({ type: 'ping', id: 'page' }));
    }
  }

  /** What cannot be read, or does not follow, is asked for anew on another connection. */
  #take(socket: WebSocket, data: ArrayBuffer): void {
    try {
      this.#told.span(decodeRowBatch(new Uint8Array(data)));
    } catch {
      socket.close();
    }
  }

  async #poll(): Promise<void> {
    try {
      const { seq, epoch } = await this.#source.json<{ seq: number; epoch: string }>(META_PATH);
      this.#well('poll');
      // Whoever is live fetches what is new.
      if (!this.#told.watching({ entry: seq, epoch })) return;
      this.#timer = setTimeout(() => void this.#poll(), POLL_MS);
    } catch (error) {
      const known = error instanceof SourceRefused;
      this.#lost(known ? error.message : 'the server does not answer');
    }
  }

  #well(by: 'watch' | 'poll'): void {
    this.#tries = 0;
    this.#lostAt = null;
    this.#told.link({ is: 'following', by });
  }

  /** Tries again: sooner at first. */
  #lost(why: string): void {
    const wait = AGAIN_MS[Math.min(this.#tries, AGAIN_MS.length - 1)]!;
    this.#tries += 1;
    this.#lostAt ??= Date.now();
    this.#told.link({ is: 'lost', why, since: this.#lostAt, againAt: Date.now() + wait });
    this.#timer = setTimeout(() => this.start(), wait);
  }
}
