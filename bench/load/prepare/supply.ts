/** Signed requests that wait to be sent: as many as the run should need, then a few more. */

export interface SupplyPlan<T> {
  /** Makes so many; `position` counts those that will be sent before the first of them. */
  make(count: number, position: number): Promise<T[]>;
  /** When it was made to be sent, by the server's clock. */
  stampOf(item: T): number;
  /** How many the run is expected to need. */
  expected: number;
  /** Requests a second. */
  perS: number;
  /** The server's time. */
  now(): number;
  /** There are some again. */
  onReady(): void;
  /** Signing failed: the run cannot go on. */
  onFailed(error: Error): void;
}

/** A timestamp may be 300 s off; this leaves room for a server that is slower than expected. */
export const aheadMs = 200_000;
const STALE_MS = 250_000;
const SOME = 64;
/** At a time. */
const GROUP = 512;
/** Of requests of a kilobyte: some 100 MiB. */
const MOST = 100_000;

export class Supply<T> {
  readonly #plan: SupplyPlan<T>;
  #items: T[] = [];
  #taken = 0;
  #made = 0;
  #making = false;
  #closed = false;

  constructor(plan: SupplyPlan<T>) {
    this.#plan = plan;
  }

  async prepare(): Promise<void> {
    const { perS, expected } = this.#plan;
    const most = Math.min(MOST, expected, (perS * aheadMs) / 1_000);
    while (this.#waiting < most) await this.#make(GROUP);
  }

  /** The next to be sent, or null until `onReady`. */
  peek(): T | null {
    while (this.#taken < this.#items.length) {
      const item = this.#items[this.#taken]!;
      if (this.#plan.now() - this.#plan.stampOf(item) < STALE_MS) return item;
      this.#taken += 1;
    }
    this.#refill();
    return null;
  }

  /** Takes what `peek` has shown. */
  take(): T {
    const item = this.#items[this.#taken]!;
    this.#taken += 1;
    // Those that are gone are forgotten many at a time.
    if (this.#taken >= GROUP) {
      this.#items = this.#items.slice(this.#taken);
      this.#taken = 0;
    }
    this.#refill();
    return item;
  }

  close(): void {
    this.#closed = true;
  }

  get #waiting(): number {
    return this.#items.length - this.#taken;
  }

  #refill(): void {
    const { expected, perS } = this.#plan;
    const most = Math.min(MOST, (perS * aheadMs) / 1_000, expected - this.#made + this.#waiting);
    if (this.#making || this.#closed || this.#waiting >= Math.max(SOME, most)) return;
    this.#make(GROUP).then(this.#plan.onReady, (error: Error) => {
      if (!this.#closed) this.#plan.onFailed(error);
    });
  }

  async #make(count: number): Promise<void> {
    this.#making = true;
    try {
      this.#items.push(...(await this.#plan.make(count, this.#waiting)));
      this.#made += count;
    } finally {
      this.#making = false;
    }
  }
}
