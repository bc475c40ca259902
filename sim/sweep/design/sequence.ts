/**
 * Points of Sobol's sequence in up to 20 dimensions, with the direction numbers of Joe and Kuo
 * (2008, new-joe-kuo-6), each dimension shifted by its own random bits: what a prefix of it is even
 * about, the shifted one is as well, and no point lies on a corner.
 */
import type { Stream } from '../../rng.js';

const BITS = 32;
const TWO_32 = 4_294_967_296;

/** Of each dimension after the first: degree and coefficients of its polynomial, and m. */
const directions: readonly (readonly [s: number, a: number, ...m: number[]])[] = [
  [1, 0, 1],
  [2, 1, 1, 3],
  [3, 1, 1, 3, 1],
  [3, 2, 1, 1, 1],
  [4, 1, 1, 1, 3, 3],
  [4, 4, 1, 3, 5, 13],
  [5, 2, 1, 1, 5, 5, 17],
  [5, 4, 1, 1, 5, 5, 5],
  [5, 7, 1, 1, 7, 11, 19],
  [5, 11, 1, 1, 5, 1, 1],
  [5, 13, 1, 1, 1, 3, 11],
  [5, 14, 1, 3, 5, 5, 31],
  [6, 1, 1, 3, 3, 9, 7, 49],
  [6, 13, 1, 1, 1, 15, 21, 21],
  [6, 16, 1, 3, 1, 13, 27, 49],
  [6, 19, 1, 1, 1, 15, 7, 5],
  [6, 22, 1, 3, 1, 15, 13, 25],
  [6, 25, 1, 1, 5, 5, 19, 61],
  [7, 1, 1, 3, 7, 11, 23, 15, 103],
];

export const MOST_DIMENSIONS = directions.length + 1;

/** The columns of a dimension's generator matrix, as integers of 32 bits. */
function columnsOf(dimension: number): number[] {
  if (dimension === 0) return Array.from({ length: BITS }, (_, bit) => (1 << (31 - bit)) >>> 0);
  const [s, a, ...m] = directions[dimension - 1]!;
  const columns = m.map((value, bit) => (value << (31 - bit)) >>> 0);
  for (let bit = s; bit < BITS; bit += 1) {
    let column = columns[bit - s]! ^ (columns[bit - s]! >>> s);
    for (let back = 1; back < s; back += 1) {
      if ((a >>> (s - 1 - back)) & 1) column ^= columns[bit - back]!;
    }
    columns.push(column >>> 0);
  }
  return columns;
}

/**
 * Gives the point of an index, from 0: a number from 0 to below 1 in each dimension.
 *
 * @param rng draws the shift of each dimension; left out, nothing is shifted.
 */
export function sobolPoints(dimensions: number, rng?: Stream): (index: number) => number[] {
  const columns = Array.from({ length: dimensions }, (_, dimension) => columnsOf(dimension));
  const shifts = columns.map(() => rng?.int(TWO_32) ?? 0);
  return (index) => {
    const gray = index ^ (index >>> 1);
    return columns.map((of, dimension) => {
      let bits = shifts[dimension]!;
      for (let bit = 0; gray >>> bit > 0; bit += 1) if ((gray >>> bit) & 1) bits ^= of[bit]!;
      return (bits >>> 0) / TWO_32;
    });
  };
}
