/**
 * What a transport has under way: exchanges that wait for something, each with its deadline. One
 * sweep looks after all of them: a timer for each would cost every vote.
 */
import type { ExchangeLimits } from './exchange-limits.js';

/** An exchange that is not over. */
export interface Underway {
  /** Its time is up: it answers so, and closes its connection. */
  expire(): void;
}

/** Deadlines are kept to within this part of their length. */
const SWEEPS = 20;

export class Flight {
  readonly #limits: ExchangeLimits;
  /** In the order in which they began, which is that of their deadlines. */
  readonly #underway = new Map<Underway, number>();
  readonly #sweep: NodeJS.Timeout;
  #landed: (() => void) | null = null;

  constructor(limits: ExchangeLimits) {
    this.#limits = limits;
    const everyMs = Math.max(10, limits.requestMs / SWEEPS);
    this.#sweep = setInterval(() => this.#expire(), everyMs);
    this.#sweep.unref();
  }

  begin(exchange: Underway): void {
    this.#underway.set(exchange, performance.now());
  }

  end(exchange: Underway): void {
    if (!this.#underway.delete(exchange)) return;
    if (this.#underway.size === 0) this.#landed?.();
  }

  /** Resolves when nothing is under way, or when a stop has waited for long enough. */
  landed(): Promise<void> {
    return new Promise((resolve) => {
      const grace = setTimeout(() => done(), this.#limits.stopMs);
      const done = () => {
        clearTimeout(grace);
        clearInterval(this.#sweep);
        resolve();
      };
      this.#landed = done;
      if (this.#underway.size === 0) done();
    });
  }

  #expire(): void {
    const before = performance.now() - this.#limits.requestMs;
    for (const [exchange, at] of this.#underway) {
      if (at > before) return;
      this.#underway.delete(exchange);
      exchange.expire();
    }
    if (this.#underway.size === 0) this.#landed?.();
  }
}
