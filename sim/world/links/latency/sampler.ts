/**
 * Draws whole milliseconds by inverting a distribution: a 32-bit hash is a place between 0 and 1,
 * and its quantile the time. The inverse is kept as a table of integers by the hash's first bits;
 * only where a cell of it holds more than one millisecond is the quantile computed anew, so each
 * draw is exact to the last bit of the hash, tails included.
 */

/** Less would make the world's windows so short that a run takes for ever. */
export const LEAST_MS = 10;

/** From a 32-bit hash to whole milliseconds. */
export type Sampler = (hash: number) => number;

const CELL_BITS = 18;
const IN_CELL = 2 ** 18;
const CELLS = 2 ** 14;
const PLACES = 2 ** 32;
/** In the table: a cell that nobody has asked for, and one with several values or a large one. */
const EMPTY = 0;
const MIXED = -1;
const LARGEST = 2 ** 31 - 1;

/** @param quantile from a place above 0 and below 1 to milliseconds; must not fall. */
export function samplerOf(quantile: (place: number) => number): Sampler {
  const table = new Int32Array(CELLS);
  const exact = (hash: number) => Math.max(LEAST_MS, Math.round(quantile((hash + 0.5) / PLACES)));
  const fill = (cell: number): number => {
    const first = exact(cell * IN_CELL);
    const last = exact(cell * IN_CELL + IN_CELL - 1);
    table[cell] = first === last && first <= LARGEST ? first : MIXED;
    return table[cell];
  };
  return (hash) => {
    const cell = hash >>> CELL_BITS;
    const kept = table[cell]!;
    const value = kept === EMPTY ? fill(cell) : kept;
    return value === MIXED ? exact(hash) : value;
  };
}

/** The least that a message can need. */
export function shortestMs(sampler: Sampler): number {
  return sampler(0);
}
