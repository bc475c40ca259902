/**
 * What is at hand of a network's past, its spans and pictures, and how more of it comes: each page
 * is fetched once, however many ask for it. Another network has another one.
 */
import type { PictureOf } from '../../../api/view/fold.js';
import type { Picture, RowKind } from '../../../api/view/model.js';
import { Refused, type Source } from '../source.js';
import { Keyframes } from './keyframes.js';
import { Tape } from './tape.js';
import { walkThrough } from './walk.js';

/** Entries that are fetched at once. */
export const PAGE_ENTRIES = 50_000;
/** Entries in which the one before is looked for first: most have something in them. */
const NEAR_ENTRIES = 1_000;
/** Rows between two pictures that are kept. */
const KEYFRAME_ROWS = 16_384;
/** A run of no more entries is fetched whole, once a reader begins to travel in it. */
const WHOLE_ENTRIES = 400_000;

export interface PastOf {
  source: Source;
  /** The newest entry, and the one that is shown. */
  last(): number;
  here(): number;
}

export class Past {
  readonly tape = new Tape();
  readonly keyframes = new Keyframes();
  readonly #of: PastOf;
  /** By their first entry. */
  readonly #coming = new Map<number, Promise<void>>();
  #walks = false;
  #left = false;
  /** Since the last picture that was kept. */
  #rows = 0;

  constructor(of: PastOf) {
    this.#of = of;
  }

  /** Nobody wants it any more. */
  leave(): void {
    this.#left = true;
  }

  /** A picture is passed, so many rows after the one before: kept now and then. */
  pass(picture: Picture, rows = KEYFRAME_ROWS): void {
    this.#rows += rows;
    if (this.#rows < KEYFRAME_ROWS) return;
    this.keyframes.keep(picture);
    this.#rows = 0;
  }

  /** A page of spans from an entry on, or nothing where there are no more. */
  fetch(from: number): Promise<void> {
    if (from > this.#of.last()) return Promise.resolve();
    let page = this.#coming.get(from);
    if (!page) {
      page = this.#fetch(from).finally(() => this.#coming.delete(from));
      this.#coming.set(from, page);
    }
    return page;
  }

  async #fetch(from: number): Promise<void> {
    const { source, last, here } = this.#of;
    const span = await source.columns(from, Math.min(from + PAGE_ENTRIES, last()));
    if (span.to < from) throw new Refused(404, '', `the server has no entry ${from}`);
    this.tape.add(span, here());
  }

  /** The next entry after one in which something happened, or this kind of thing; null if none. */
  async next(entry: number, wanted: () => boolean, kind?: RowKind): Promise<number | null> {
    for (let looked = entry; wanted(); ) {
      const found = this.tape.next(looked, kind);
      looked = this.tape.reach(looked + 1);
      if (found !== null || looked >= this.#of.last()) return found;
      await this.fetch(looked + 1);
    }
    return null;
  }

  /** The one before it: looked for farther and farther away. */
  async previous(entry: number, wanted: () => boolean, kind?: RowKind): Promise<number | null> {
    for (let far = NEAR_ENTRIES; wanted(); far *= 8) {
      const from = Math.max(0, entry - far);
      for (let reach = this.tape.reach(from); reach < entry - 1 && wanted(); ) {
        await this.fetch(reach + 1);
        const before = reach;
        reach = this.tape.reach(from);
        // There is no room for all that lies between.
        if (reach === before) return null;
      }
      const found = this.tape.previous(entry, kind);
      if (found !== null || from === 0) return found;
    }
    return null;
  }

  /** All of a run that is short enough, with pictures on the way. Only quicker with it. */
  walk(from: PictureOf): void {
    if (this.#walks || this.#of.last() > WHOLE_ENTRIES) return;
    this.#walks = true;
    const walk = {
      from,
      tape: this.tape,
      keyframes: this.keyframes,
      everyRows: KEYFRAME_ROWS,
      wants: (entry: number) => !this.#left && entry < this.#of.last(),
      fetch: (entry: number) => this.fetch(entry),
    };
    // Whoever seeks asks the server then, and hears what is wrong.
    walkThrough(walk).catch(() => {
      this.#walks = false;
    });
  }
}
