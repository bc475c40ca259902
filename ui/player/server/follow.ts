/**
 * Follows the network from an entry on: by the socket's watch where the server has one, else by
 * asking again and again. Connects anew by itself; what is missed comes by the next span.
 */
import type { Span } from '../../../api/view/model.js';
import { decodeSpan } from '../../../api/view/span.js';
import type { LinkState, World } from '../../data/messages.js';
import { Refused, type Source } from '../source.js';

export interface Told {
  span(span: Span): void;
  /** Where the network is now, and which; false where it is another, and nothing is to follow. */
  watching(position: { entry: number; epoch: string }): boolean;
  /** The server left entries out. */
  skipped(position: { from: number; to: number }): void;
  /** What else it says: of a world's clock. */
  world(message: World): void;
  link(state: LinkState): void;
  /** The entry after which spans are wanted. */
  since(): number;
}

const EVERY_MS = 100;
const POLL_MS = 1_000;
const AGAIN_MS = [1_000, 2_000, 4_000, 8_000, 15_000];
/** A server that says nothing for as long is asked for a sign of life, and given as long again. */
const SILENCE_MS = 5_000;
const META = '/api/v1/meta';

type Message =
  | { type: 'watching'; entry: number; epoch: string }
  | { type: 'skipped'; from: number; to: number }
  | ({ type: 'clock' } & World)
  | { type: 'pong' }
  | { type: 'error'; error: { message: string } };

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
      const message = { type: 'watch', since: this.#told.since(), every_ms: EVERY_MS };
      socket.send(JSON.stringify(message));
    };
    socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      // What comes after it was left is of the past.
      if (this.#socket !== socket) return;
      this.#silent = 0;
      if (typeof data !== 'string') return this.#take(socket, data);
      const message = JSON.parse(data) as Message;
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
      this.#told.span(decodeSpan(new Uint8Array(data)));
    } catch {
      socket.close();
    }
  }

  async #poll(): Promise<void> {
    try {
      const { seq, epoch } = await this.#source.json<{ seq: number; epoch: string }>(META);
      this.#well('poll');
      // Whoever is live fetches what is new.
      if (!this.#told.watching({ entry: seq, epoch })) return;
      this.#timer = setTimeout(() => void this.#poll(), POLL_MS);
    } catch (error) {
      const known = error instanceof Refused;
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
