/** The warm-up of a run: what happens in it is in the tables, and in no measure. */
import type { Scenario } from '../scenario/schema/scenario.js';

export class Warmup {
  readonly #untilAt: number;
  readonly #blocks: number;
  /** When it ended, milliseconds since 1970; null while it lasts. */
  endedAt: number | null;

  constructor({ warmup_ms = 0, warmup_blocks = 0 }: Scenario['measure'], startMs: number) {
    this.#untilAt = warmup_blocks > 0 ? Number.POSITIVE_INFINITY : startMs + warmup_ms;
    this.#blocks = warmup_blocks;
    this.endedAt = warmup_ms + warmup_blocks === 0 ? startMs : null;
  }

  get lasts(): boolean {
    return this.endedAt === null;
  }

  /** Time passes: true when the warm-up ends by it. */
  passTo(at: number): boolean {
    return at >= this.#untilAt && this.#end(this.#untilAt);
  }

  /** So many blocks have closed: true when the warm-up ends by it. */
  closed(blocks: number, at: number): boolean {
    return this.#blocks > 0 && blocks >= this.#blocks && this.#end(at);
  }

  #end(at: number): boolean {
    if (!this.lasts) return false;
    this.endedAt = at;
    return true;
  }
}
