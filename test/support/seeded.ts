/** Chance that can be repeated: numbers that follow from a seed, which a test prints. */
import { randomInt } from 'node:crypto';

/** A run that failed is repeated with FOLKMOOT_TEST_SEED. */
export const seed = Number(process.env.FOLKMOOT_TEST_SEED ?? randomInt(2 ** 31));

/** A generator of whole numbers (mulberry32). */
export function drawnFrom(start: number): (below: number) => number {
  let state = start >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}
