/**
 * Usage of limits by subject, in bounded memory. A full table first shares one account among the
 * addresses of a network that has many, then forgets the subjects used least recently. It never
 * refuses a newcomer.
 */
import { type LimitName, limitNames, limitTable } from '../contract/limit-table.js';
import { copyOf, Indexes, NONE, type Span, WindowPool } from './sliding-window.js';

/** Bounds per subject, on average over a full table. */
const WINDOWS_PER_SUBJECT = 4;
const SLOTS_PER_SUBJECT = 16;
/** Approximate number of slots per window. Longer windows count in coarser steps. */
const MOST_SLOTS = 60_000;
/** Share of a full table that is freed at once, so that a flood costs little time per request. */
const FREED_SHARE = 1 / 16;
/** Number of addresses from which a network counts as one subject when the table is full. */
const DENSE = 64;

const spans: readonly Span[] = limitNames.map((name) => {
  const windowMs = limitTable[name].seconds * 1000;
  return { windowMs, slotMs: Math.ceil(windowMs / MOST_SLOTS) };
});
const tags = Object.fromEntries(limitNames.map((name, tag) => [name, tag])) as Record<
  LimitName,
  number
>;

export interface WindowState {
  total: number;
  oldest: number | null;
  freeAt: number;
}

export class UsageTable {
  readonly #most: number;
  readonly #wider: (subject: string) => string | null;
  readonly #pool: WindowPool;
  readonly #rows = new Map<string, number>();
  /** Networks whose addresses share an account. */
  readonly #shared = new Set<string>();
  readonly #indexes: Indexes;
  /** First window of a row. */
  #head = new Int32Array(0);
  /** Count of uses in the table at the row's last use. */
  #usedAt = new Uint32Array(0);
  /** Changes when the row's subject is forgotten. */
  #generation = new Uint32Array(0);
  #uses = 0;
  #openedSinceSweep = 0;

  constructor(most: number, wider: (subject: string) => string | null) {
    this.#most = most;
    this.#wider = wider;
    this.#pool = new WindowPool(most * WINDOWS_PER_SUBJECT, most * SLOTS_PER_SUBJECT);
    this.#indexes = new Indexes(most, (capacity) => {
      this.#head = copyOf(this.#head, new Int32Array(capacity));
      this.#usedAt = copyOf(this.#usedAt, new Uint32Array(capacity));
      this.#generation = copyOf(this.#generation, new Uint32Array(capacity));
    });
  }

  get size(): number {
    return this.#rows.size;
  }

  /** Returns a subject's row, or its network's if these addresses share an account, or NONE. */
  find(subject: string, own: boolean): number {
    const row = this.#rows.get(subject);
    if (row !== undefined) return row;
    if (own || this.#shared.size === 0) return NONE;
    const wider = this.#wider(subject);
    return wider !== null && this.#shared.has(wider) ? this.#rows.get(wider)! : NONE;
  }

  isShared(subject: string): boolean {
    if (this.#shared.size === 0 || this.#rows.has(subject)) return false;
    const wider = this.#wider(subject);
    return wider !== null && this.#shared.has(wider);
  }

  generation(row: number): number {
    return this.#generation[row]!;
  }

  /** Returns the total of a row's unexpired uses. */
  total(row: number, name: LimitName, now: number): number {
    const window = this.#windowOf(row, tags[name]);
    return window === NONE ? 0 : this.#pool.forget(window, spans[tags[name]]!, now);
  }

  state(
    row: number,
    name: LimitName,
    wanted: { amount: number; quota: number; now: number },
  ): WindowState {
    const span = spans[tags[name]]!;
    const window = this.#windowOf(row, tags[name]);
    if (window === NONE) return { total: 0, oldest: null, freeAt: wanted.now };
    const total = this.#pool.forget(window, span, wanted.now);
    const freeAt = this.#pool.freeAt(window, span, wanted);
    return { total, oldest: this.#pool.oldest(window), freeAt };
  }

  /** Returns true if a use needs no `makeRoom` before. */
  get hasSpare(): boolean {
    return this.#pool.hasSpare;
  }

  /** Makes room for one use. May forget any subject. */
  makeRoom(now: number): void {
    if (this.hasSpare) return;
    // A sweep takes time for each subject, so it must follow a similar number of uses.
    if (this.#openedSinceSweep * 4 > this.#rows.size) this.sweep(now);
    while (this.#pool.isFull) this.#evict(Math.floor(this.#rows.size * (1 - FREED_SHARE)));
  }

  /** Adds a row for a subject that has none. */
  open(subject: string, own: boolean, now: number): number {
    if (this.#rows.size >= this.#most) {
      this.#relieve(now);
      // The addresses of the subject's network may share an account now.
      if (!own && this.isShared(subject)) return this.find(subject, own);
    }
    return this.#add(subject);
  }

  /** Adds a use, while the table `hasSpare` room. Returns its time, for a refund. */
  use(row: number, name: LimitName, at: number, amount: number): number {
    const tag = tags[name];
    this.#uses += 1;
    this.#usedAt[row] = this.#uses;
    let window = this.#windowOf(row, tag);
    if (window === NONE) {
      window = this.#pool.open(tag, this.#head[row]!);
      this.#head[row] = window;
      this.#openedSinceSweep += 1;
    }
    return this.#pool.use(window, spans[tag]!, at, amount);
  }

  refund(row: number, name: LimitName, at: number, amount: number): void {
    const window = this.#windowOf(row, tags[name]);
    if (window !== NONE) this.#pool.refund(window, at, amount);
  }

  /** Forgets expired uses and idle subjects. */
  sweep(now: number): void {
    this.#openedSinceSweep = 0;
    for (const [subject, row] of this.#rows) if (this.#forget(row, now)) this.#remove(subject, row);
  }

  #windowOf(row: number, tag: number): number {
    let window = this.#head[row]!;
    while (window !== NONE && this.#pool.tag(window) !== tag) window = this.#pool.next(window);
    return window;
  }

  #add(subject: string): number {
    const row = this.#indexes.take();
    this.#head[row] = NONE;
    this.#uses += 1;
    this.#usedAt[row] = this.#uses;
    this.#rows.set(subject, row);
    return row;
  }

  #remove(subject: string, row: number): void {
    for (let window = this.#head[row]!; window !== NONE; ) {
      const next = this.#pool.next(window);
      this.#pool.close(window);
      window = next;
    }
    this.#head[row] = NONE;
    this.#generation[row]! += 1;
    this.#rows.delete(subject);
    this.#shared.delete(subject);
    this.#indexes.free(row);
  }

  /** Closes a row's expired windows. Returns true if none is left. */
  #forget(row: number, now: number): boolean {
    const pool = this.#pool;
    let before = NONE;
    for (let window = this.#head[row]!; window !== NONE; ) {
      const next = pool.next(window);
      if (pool.forget(window, spans[pool.tag(window)]!, now) > 0) before = window;
      else {
        if (before === NONE) this.#head[row] = next;
        else pool.setNext(before, next);
        pool.close(window);
      }
      window = next;
    }
    return before === NONE;
  }

  #relieve(now: number): void {
    const goal = Math.floor(this.#most * (1 - FREED_SHARE));
    this.sweep(now);
    if (this.#rows.size > goal) this.#shareDense(goal);
    if (this.#rows.size > goal) this.#evict(goal);
  }

  /** Shares one account among the addresses of each dense network, the densest first. */
  #shareDense(goal: number): void {
    const members = new Map<string, number>();
    for (const subject of this.#rows.keys()) {
      const wider = this.#wider(subject);
      if (wider !== null) members.set(wider, (members.get(wider) ?? 0) + 1);
    }
    const dense = [...members].filter(([, count]) => count >= DENSE).sort((a, b) => b[1] - a[1]);
    const chosen = new Set<string>();
    let left = this.#rows.size;
    for (const [wider, count] of dense) {
      if (left <= goal) break;
      chosen.add(wider);
      left -= count;
    }
    for (const [subject, row] of this.#rows) {
      const wider = this.#wider(subject);
      if (wider !== null && chosen.has(wider)) this.#remove(subject, row);
    }
    for (const wider of chosen) {
      if (!this.#rows.has(wider)) this.#add(wider);
      this.#shared.add(wider);
    }
  }

  /** Forgets the subjects used least recently, until `goal` are left. */
  #evict(goal: number): void {
    const ages = Uint32Array.from(this.#rows.values(), (row) => this.#usedAt[row]!).sort();
    const oldest = ages[ages.length - goal] ?? this.#uses + 1;
    for (const [subject, row] of this.#rows) {
      if (this.#usedAt[row]! < oldest) this.#remove(subject, row);
    }
  }
}
