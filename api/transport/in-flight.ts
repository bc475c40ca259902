/**
 * Exchanges in flight: those that wait for something, each with its deadline. One timer sweeps all
 * of them: a timer for each would cost every vote.
 */
import type { ExchangeLimits } from './exchange-limits.js';

/** An exchange that is not over. */
export interface Expiring {
  /** Its time is up: it answers so, and closes its connection. */
  expire(): void;
}

/** Deadlines are kept to within this part of their length. */
const SWEEPS = 20;

export class InFlight {
  readonly #limits: ExchangeLimits;
  /** In the order in which they began, which is that of their deadlines. */
  readonly #exchanges = new Map<Expiring, number>();
  readonly #sweep: NodeJS.Timeout;
  #drained: (() => void) | null = null;

  constructor(limits: ExchangeLimits) {
    this.#limits = limits;
    const everyMs = Math.max(10, limits.requestMs / SWEEPS);
    this.#sweep = setInterval(() => this.#expire(), everyMs);
    this.#sweep.unref();
  }

  begin(exchange: Expiring): void {
    this.#exchanges.set(exchange, performance.now());
  }

  end(exchange: Expiring): void {
    if (!this.#exchanges.delete(exchange)) return;
    if (this.#exchanges.size === 0) this.#drained?.();
  }

  /** Resolves when nothing is in flight, or when a stop has waited for long enough. */
  drained(): Promise<void> {
    return new Promise((resolve) => {
      const grace = setTimeout(() => done(), this.#limits.stopMs);
      const done = () => {
        clearTimeout(grace);
        clearInterval(this.#sweep);
        resolve();
      };
      this.#drained = done;
      if (this.#exchanges.size === 0) done();
    });
  }

  #expire(): void {
    const before = performance.now() - this.#limits.requestMs;
    for (const [exchange, at] of this.#exchanges) {
      if (at > before) return;
      this.#exchanges.delete(exchange);
      exchange.expire();
    }
    if (this.#exchanges.size === 0) this.#drained?.();
  }
}
