/** How blocks ended, and how long finality took. */
import type { Measures } from '../dictionary.js';
import { Mean, percentile, share } from '../statistics.js';
import type { BlockFigure } from './blocks.js';

export class Outcomes {
  readonly #finalityMs: number[] = [];
  readonly #sound = { closed: 0, finalized: 0 };
  readonly #unsound = { closed: 0, finalized: 0 };

  add({ status, soundness, proposedAt, closedAt }: BlockFigure): void {
    const finalized = status === 'finalized';
    if (finalized) this.#finalityMs.push(closedAt - proposedAt);
    if (soundness === null) return;
    const kind = soundness === 100 ? this.#sound : this.#unsound;
    kind.closed += 1;
    if (finalized) kind.finalized += 1;
  }

  measures() {
    const sorted = Float64Array.from(this.#finalityMs).sort();
    const mean = new Mean();
    for (const value of sorted) mean.add(value);
    return {
      sound_finalized_share: share(this.#sound.finalized, this.#sound.closed),
      unsound_finalized_share: share(this.#unsound.finalized, this.#unsound.closed),
      finality_mean_ms: mean.value,
      finality_p50_ms: percentile(sorted, 50),
      finality_p95_ms: percentile(sorted, 95),
      finality_p99_ms: percentile(sorted, 99),
    } satisfies Partial<Measures>;
  }
}
