/** What a run at a rate shows of that rate: whether it holds. */
import { figureOf } from '../figures/figures.js';
import type { LoadResult, Probe } from '../result.js';
import { worsening } from '../run/verdict.js';

/** What must hold besides the rate. */
export interface Objective {
  text: string;
  /** How a result misses it, or null. */
  missed(result: LoadResult): string | null;
}

/** R around a run. */
type Speeds = Pick<Probe, 'r_before' | 'r_after'>;

const LEAST_SHARE = 0.99;
const p99 = figureOf('p99')!;

export function probeOf(
  result: LoadResult,
  { rate, objectives, r }: { rate: number; objectives: readonly Objective[]; r: Speeds },
): Probe {
  const { arrivals, verdict, reasons } = result;
  const share = arrivals.of_target ?? 0;
  // A line that grows all along, or a server that tires, has only not failed yet.
  const tiring = worsening(result);
  const missed = [
    ...objectives.flatMap((objective) => objective.missed(result) ?? []),
    ...(tiring === null ? [] : [tiring]),
  ];
  const kept = share >= LEAST_SHARE && verdict !== 'INVALID';
  return {
    rate,
    accepted_per_s: rate * share,
    p99: p99.of(result),
    holds: kept && missed.length === 0,
    verdict,
    reasons: [...missed, ...reasons],
    ...r,
  };
}
