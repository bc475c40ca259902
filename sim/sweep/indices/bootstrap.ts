/** Intervals of figures over samples that were drawn independently, by drawing them again. */
import { percentile } from '../../measure/statistics.js';
import type { Stream } from '../../rng.js';
import { rounded } from '../statistics/sample.js';
import type { IndexEstimate } from './row.js';

/** Of the ends, 2.5 % lie beyond each. */
const DRAWS = 999;
/** Fewer samples say nothing about what others might be. */
const LEAST = 4;

/** Figures of samples, by their indices: each may be there several times, or not at all. */
type Estimate = (drawn: Uint32Array) => (number | null)[];

/** By percentiles (Efron 1979), all figures of the same draws; empty where these are all alike. */
export function resampled(n: number, estimate: Estimate, rng: Stream): IndexEstimate[] {
  const values = estimate(Uint32Array.from({ length: n }, (_, index) => index));
  const drawn: number[][] = values.map(() => []);
  const indices = new Uint32Array(n);
  for (let draw = 0; n >= LEAST && draw < DRAWS; draw += 1) {
    for (let at = 0; at < n; at += 1) indices[at] = rng.int(n);
    for (const [figure, found] of estimate(indices).entries()) {
      if (found !== null) drawn[figure]!.push(found);
    }
  }
  return values.map((value, figure) => ({ n, ...withEnds(value, drawn[figure]!) }));
}

function withEnds(value: number | null, drawn: readonly number[]) {
  if (value === null) return { value, low: null, high: null };
  const sorted = Float64Array.from(drawn).sort();
  const [low, high] = [percentile(sorted, 2.5), percentile(sorted, 97.5)];
  const shown = rounded(value);
  if (low === null || high === null || low === high) return { value: shown, low: null, high: null };
  return { value: shown, low: rounded(low), high: rounded(high) };
}
