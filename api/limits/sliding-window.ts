/**
 * Sliding windows in shared typed arrays. A window with one use takes about 50 bytes, so that a
 * flood from many addresses takes little memory.
 */

export const NONE = -1;
/**
 * Number of slots up to which a window is exact. Further uses count in steps of 1/64 of the window,
 * so a window's memory and time do not depend on the traffic.
 */
const EXACT_SLOTS = 64;
/** Number of indexes by which the arrays grow at most. */
const MOST_STEP = 8_192;

export interface Span {
  windowMs: number;
  /** A use counts from the end of its slot, so it never expires early. */
  slotMs: number;
}

/** Allocates indexes of parallel arrays. Freed indexes are linked through `next`. */
export class Indexes {
  readonly #most: number;
  readonly #resize: (capacity: number) => void;
  #capacity = 0;
  #end = 0;
  #freed = NONE;
  next = new Int32Array(0);

  constructor(most: number, resize: (capacity: number) => void) {
    this.#most = most;
    this.#resize = resize;
  }

  /** Returns true if an index is available without larger arrays. */
  get hasSpare(): boolean {
    return this.#freed !== NONE || this.#end < this.#capacity;
  }

  get isFull(): boolean {
    return this.#freed === NONE && this.#end === this.#most;
  }

  take(): number {
    const freed = this.#freed;
    if (freed !== NONE) {
      this.#freed = this.next[freed]!;
      return freed;
    }
    if (this.#end === this.#capacity) this.#grow();
    this.#end += 1;
    return this.#end - 1;
  }

  free(index: number): void {
    this.next[index] = this.#freed;
    this.#freed = index;
  }

  #grow(): void {
    if (this.#capacity === this.#most) throw new RangeError('no free index');
    // Bounded steps, so that the spare part of large arrays stays small.
    const step = Math.min(Math.ceil(this.#capacity / 4) + 16, MOST_STEP);
    this.#capacity = Math.min(this.#capacity + step, this.#most);
    this.next = copyOf(this.next, new Int32Array(this.#capacity));
    this.#resize(this.#capacity);
  }
}

/** Copies a typed array into a larger one. */
export function copyOf<A extends { set(from: A): void }>(from: A, to: A): A {
  to.set(from);
  return to;
}

/** Windows by index. A window's slots form a list, ascending by time. */
export class WindowPool {
  readonly #windows: Indexes;
  readonly #slots: Indexes;
  #first = new Int32Array(0);
  #last = new Int32Array(0);
  #count = new Uint16Array(0);
  #total = new Float64Array(0);
  /** Value that the owner gives a window. */
  #tag = new Uint8Array(0);
  #at = new Float64Array(0);
  #amount = new Float64Array(0);
  #before = new Int32Array(0);

  constructor(mostWindows: number, mostSlots: number) {
    this.#windows = new Indexes(mostWindows, (capacity) => {
      this.#first = copyOf(this.#first, new Int32Array(capacity));
      this.#last = copyOf(this.#last, new Int32Array(capacity));
      this.#count = copyOf(this.#count, new Uint16Array(capacity));
      this.#total = copyOf(this.#total, new Float64Array(capacity));
      this.#tag = copyOf(this.#tag, new Uint8Array(capacity));
    });
    this.#slots = new Indexes(mostSlots, (capacity) => {
      this.#at = copyOf(this.#at, new Float64Array(capacity));
      this.#amount = copyOf(this.#amount, new Float64Array(capacity));
      this.#before = copyOf(this.#before, new Int32Array(capacity));
    });
  }

  /** Returns true if a use in a new window needs no larger arrays. */
  get hasSpare(): boolean {
    return this.#windows.hasSpare && this.#slots.hasSpare;
  }

  get isFull(): boolean {
    return this.#windows.isFull || this.#slots.isFull;
  }

  /** Opens a window before the window `next` in its owner's list. */
  open(tag = 0, next = NONE): number {
    const window = this.#windows.take();
    this.#first[window] = NONE;
    this.#last[window] = NONE;
    this.#count[window] = 0;
    this.#total[window] = 0;
    this.#tag[window] = tag;
    this.#windows.next[window] = next;
    return window;
  }

  close(window: number): void {
    while (this.#first[window] !== NONE) this.#drop(window, this.#first[window]!);
    this.#windows.free(window);
  }

  next(window: number): number {
    return this.#windows.next[window]!;
  }

  setNext(window: number, next: number): void {
    this.#windows.next[window] = next;
  }

  tag(window: number): number {
    return this.#tag[window]!;
  }

  total(window: number): number {
    return this.#total[window]!;
  }

  oldest(window: number): number | null {
    const first = this.#first[window]!;
    return first === NONE ? null : this.#at[first]!;
  }

  newest(window: number): number {
    const last = this.#last[window]!;
    return last === NONE ? 0 : this.#at[last]!;
  }

  /** Returns the time of the n-th oldest use (from 0), or null. */
  nth(window: number, n: number): number | null {
    let before = 0;
    for (let slot = this.#first[window]!; slot !== NONE; slot = this.#slots.next[slot]!) {
      before += this.#amount[slot]!;
      if (n < before) return this.#at[slot]!;
    }
    return null;
  }

  /** Adds a use. Returns its time, for a refund. */
  use(window: number, { windowMs, slotMs }: Span, now: number, amount: number): number {
    const isExact = this.#count[window]! < EXACT_SLOTS;
    const step = isExact ? slotMs : Math.max(slotMs, Math.ceil(windowMs / EXACT_SLOTS));
    const at = Math.ceil(now / step) * step;
    const last = this.#last[window]!;
    this.#total[window]! += amount;
    if (last !== NONE && this.#at[last]! >= at) {
      this.#amount[last]! += amount;
      return this.#at[last]!;
    }
    const slot = this.#slots.take();
    this.#at[slot] = at;
    this.#amount[slot] = amount;
    this.#before[slot] = last;
    this.#slots.next[slot] = NONE;
    if (last === NONE) this.#first[window] = slot;
    else this.#slots.next[last] = slot;
    this.#last[window] = slot;
    this.#count[window]! += 1;
    return at;
  }

  /** Takes back an unexpired use made at `at`. */
  refund(window: number, at: number, amount: number): void {
    // Searches from the end, because refunded uses are recent.
    let slot = this.#last[window]!;
    while (slot !== NONE && this.#at[slot]! > at) slot = this.#before[slot]!;
    if (slot === NONE || this.#at[slot] !== at) return;
    this.#total[window]! -= amount;
    this.#amount[slot]! -= amount;
    if (this.#amount[slot] === 0) this.#drop(window, slot);
  }

  /** Returns the time at which `amount` of `quota` becomes available without further uses. */
  freeAt(
    window: number,
    { windowMs }: Span,
    wanted: { amount: number; quota: number; now: number },
  ): number {
    const { amount, quota, now } = wanted;
    let left = this.#total[window]!;
    let free = now;
    for (let slot = this.#first[window]!; slot !== NONE; slot = this.#slots.next[slot]!) {
      if (left + amount <= quota) break;
      left -= this.#amount[slot]!;
      free = this.#at[slot]! + windowMs;
    }
    return free;
  }

  /** Removes expired uses. Returns what is left. */
  forget(window: number, { windowMs }: Span, now: number): number {
    const time = now - windowMs;
    let slot = this.#first[window]!;
    while (slot !== NONE && this.#at[slot]! <= time) {
      this.#total[window]! -= this.#amount[slot]!;
      this.#drop(window, slot);
      slot = this.#first[window]!;
    }
    return this.#total[window]!;
  }

  #drop(window: number, slot: number): void {
    const before = this.#before[slot]!;
    const next = this.#slots.next[slot]!;
    if (before === NONE) this.#first[window] = next;
    else this.#slots.next[before] = next;
    if (next === NONE) this.#last[window] = before;
    else this.#before[next] = before;
    this.#count[window]! -= 1;
    this.#slots.free(slot);
  }
}

/** A window in its owner's pool. */
export class SlidingWindow {
  readonly #pool: WindowPool;
  readonly #span: Span;
  readonly #window: number;

  constructor(pool: WindowPool, windowMs: number, slotMs = 1) {
    this.#pool = pool;
    this.#span = { windowMs, slotMs };
    this.#window = pool.open();
  }

  get total(): number {
    return this.#pool.total(this.#window);
  }

  get oldest(): number | null {
    return this.#pool.oldest(this.#window);
  }

  nth(n: number): number | null {
    return this.#pool.nth(this.#window, n);
  }

  use(now: number, amount = 1): number {
    return this.#pool.use(this.#window, this.#span, now, amount);
  }

  /** Takes back an unexpired use. Default: the last use. */
  refund(at?: number, amount = 1): void {
    this.#pool.refund(this.#window, at ?? this.#pool.newest(this.#window), amount);
  }

  freeAt(amount: number, quota: number, now: number): number {
    return this.#pool.freeAt(this.#window, this.#span, { amount, quota, now });
  }

  forget(now: number): void {
    this.#pool.forget(this.#window, this.#span, now);
  }

  close(): void {
    this.#pool.close(this.#window);
  }
}
