/**
 * Frames: spans of entries as watchers are sent them. Each is made and encoded once, whoever
 * watches, and the last of them are kept for those who are a little behind.
 */
import type { ServedNetwork } from '../../../engine/internal.js';
import { watchLimits } from '../../contract/channels.js';
import { encodeSpan } from '../../view/index.js';
import type { ViewLog } from '../../view/log/index.js';

export interface Frame {
  from: number;
  to: number;
  bytes: Uint8Array;
}

export class Frames {
  readonly #network: ServedNetwork;
  readonly #view: ViewLog;
  #kept: Frame[] = [];
  #bytes = 0;
  /** Null while nobody watches. */
  #letGo: (() => void) | null = null;
  /** The last entry of the last frame. */
  end = -1;
  /** How many were made. */
  made = 0;

  constructor(network: ServedNetwork, view: ViewLog) {
    this.#network = network;
    this.#view = view;
  }

  /** From now on frames can be made: of what is committed after this. */
  start(): void {
    this.#letGo ??= this.#view.watch();
    this.end = this.#network.read.position.seq;
  }

  stop(): void {
    this.#letGo?.();
    this.#letGo = null;
    this.#kept = [];
    this.#bytes = 0;
  }

  /**
   * Makes the next frame of what is committed; true where that was more than one holds.
   *
   * @throws where the log cannot be read.
   */
  async next(): Promise<boolean> {
    const { seq } = this.#network.read.position;
    if (!this.#letGo || this.end >= seq) return false;
    const from = this.end + 1;
    const frame = await this.#made(from, watchLimits.frameRows);
    // Nobody watches any more, or anew: then it is none of theirs.
    if (!this.#letGo || this.end + 1 !== from) return false;
    this.made += 1;
    this.end = frame.to;
    this.#kept.push(frame);
    this.#bytes += frame.bytes.length;
    while (this.#bytes > watchLimits.keptBytes || this.#kept.length > watchLimits.keptFrames) {
      this.#bytes -= this.#kept.shift()!.bytes.length;
    }
    return frame.to < seq;
  }

  /** Those that have something after an entry; null where what follows it is not kept. */
  after(entry: number): readonly Frame[] | null {
    if (entry >= this.end) return [];
    const first = this.#kept[0];
    if (!first || entry < first.from - 1) return null;
    return this.#kept.filter(({ to }) => to > entry);
  }

  /** As much as a socket takes at once; one entry at the least. */
  async #made(from: number, rows: number): Promise<Frame> {
    const span = await this.#view.span(from, undefined, { rows, said: watchLimits.frameSaid });
    const bytes = encodeSpan(span);
    if (bytes.length <= watchLimits.frameBytes || span.to === span.from) {
      return { from: span.from, to: span.to, bytes };
    }
    return this.#made(from, Math.max(1, Math.floor(Math.min(rows, span.rows.kind.length) / 2)));
  }
}
