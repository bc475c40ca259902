/**
 * What is shown of a load run now, as text that is made once for all readers; those who know it
 * already wait for what comes next. While nobody reads, nobody need make anything.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { LoadAnswer, LoadShown } from '../view/load.js';

/** So long one waits for something new; then what there is is told again. */
const WAIT_MS = 20_000;
/** Readers that wait at the most. */
const READERS = 64;
/** Who had an answer comes back at once: who stays away for as long reads no more. */
const AWAY_MS = 1_500;
/** Nobody has asked for so long: nothing is made any more. */
const UNREAD_MS = 5_000;
const LOOK_MS = 25;

interface Reader {
  answer(text: string): void;
}

export class Board {
  readonly #onWatched: (watched: boolean) => void;
  readonly #readers = new Set<Reader>();
  /** When those were answered that have not come back. */
  readonly #away: number[] = [];
  #text: string;
  #version = 1;
  #watched = false;
  #askedAt = 0;
  /** Nothing comes after what stands on it. */
  #over = false;
  #closed = false;

  /** @param onWatched told when somebody begins to read, and after all have gone */
  constructor(load: LoadShown, onWatched: (watched: boolean) => void = () => {}) {
    this.#text = textOf({ version: this.#version, load });
    this.#onWatched = onWatched;
  }

  /** Shows it from now on; `last`: nothing comes after it. */
  post(load: LoadShown, last = false): void {
    this.#version += 1;
    this.#over = last;
    this.#text = textOf({ version: this.#version, load });
    if (this.#readers.size > 0) this.#askedAt = performance.now();
    this.#answerAll();
    if (this.#watched && performance.now() - this.#askedAt > UNREAD_MS) this.#watch(false);
  }

  /**
   * The JSON of an answer: at once, or once there is a later version than `after`. Null where too
   * many wait already. `gone` is aborted when whoever asks has gone.
   */
  read(after: number | null, gone: AbortSignal): string | Promise<string> | null {
    this.#askedAt = performance.now();
    if (after !== null) this.#away.shift();
    if (!this.#watched) this.#watch(true);
    if (after !== this.#version || this.#closed) return this.#given();
    if (this.#readers.size >= READERS) return null;
    return this.#next(gone);
  }

  /** Resolves once those who read a moment ago have seen the last of it, or stay away. */
  async seen(): Promise<void> {
    while (this.#isAwaited()) await delay(LOOK_MS);
  }

  /** Nobody waits any longer. */
  close(): void {
    this.#closed = true;
    this.#answerAll();
  }

  #next(gone: AbortSignal): Promise<string> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        gone.removeEventListener('abort', end);
        this.#readers.delete(reader);
      };
      const reader: Reader = {
        answer: (text) => {
          end();
          resolve(text);
        },
      };
      const timer = setTimeout(() => reader.answer(this.#given()), WAIT_MS);
      timer.unref();
      gone.addEventListener('abort', end, { once: true });
      this.#readers.add(reader);
    });
  }

  #answerAll(): void {
    for (const reader of [...this.#readers]) reader.answer(this.#given());
  }

  /** What there is, to somebody who comes back for more unless it is the last. */
  #given(): string {
    this.#forget();
    if (!this.#over) this.#away.push(performance.now());
    return this.#text;
  }

  #isAwaited(): boolean {
    this.#forget();
    return this.#away.length > 0;
  }

  #forget(): void {
    const since = performance.now() - AWAY_MS;
    while (this.#away[0] !== undefined && this.#away[0] < since) this.#away.shift();
  }

  #watch(watched: boolean): void {
    this.#watched = watched;
    this.#onWatched(watched);
  }
}

const textOf = (data: LoadAnswer): string => JSON.stringify({ success: true, data });
