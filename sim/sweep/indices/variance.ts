/**
 * Sobol's indices: which share of the variance of a response a factor accounts for, by itself (the
 * first-order index, after Saltelli et al. 2010) and with all that it has to do with (the total
 * index, after Jansen 1999).
 *
 * All runs of a block share their seed. Chance is then one more input, alike in A, B and the points
 * between, and so drops out of every difference: with seeds of their own, each total index would
 * hold the whole variance of chance. What chance alone accounts for is in the variance and in no
 * index; what a factor does together with it counts for the factor.
 */
import type { Stream } from '../../rng.js';
import { resampled } from './bootstrap.js';
import type { IndexRow, Response } from './row.js';

/** Of all blocks, one after another: the response at A, at B, and at A with a factor of B. */
interface Columns {
  a: Float64Array;
  b: Float64Array;
  mixed: Float64Array[];
}

const kinds = ['first', 'total'] as const;

/** Of each factor its two indices, of those blocks in which all could be said. */
export function varianceIndices(response: Response, factors: number, rng: Stream): IndexRow[] {
  const blocks = response.samples.filter((block): block is number[] =>
    block.every((value) => value !== null),
  );
  const column = (at: number) => Float64Array.from(blocks, (block) => block[at]!);
  const mixed = Array.from({ length: factors }, (_, factor) => column(factor + 2));
  const columns = { a: column(0), b: column(1), mixed };
  const found = resampled(blocks.length, (drawn) => estimates(columns, drawn), rng);
  return found.map((estimate, at) => {
    return { factor: Math.floor(at / 2), index: kinds[at % 2]!, ...estimate };
  });
}

/** Of each factor the first-order and the total index. */
function estimates({ a, b, mixed }: Columns, drawn: Uint32Array): (number | null)[] {
  let sum = 0;
  for (const at of drawn) sum += a[at]! + b[at]!;
  const mean = sum / (2 * drawn.length);
  let squares = 0;
  for (const at of drawn) {
    const [x, y] = [a[at]! - mean, b[at]! - mean];
    squares += x * x + y * y;
  }
  // Without variance there is nothing to have a share of.
  if (!(squares > 0)) return mixed.flatMap(() => [null, null]);
  return mixed.flatMap((column) => {
    let first = 0;
    let total = 0;
    for (const at of drawn) {
      const change = column[at]! - a[at]!;
      first += (b[at]! - mean) * change;
      total += change * change;
    }
    return [(2 * first) / squares, total / squares];
  });
}
