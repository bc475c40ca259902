/** Reproducible random numbers. Tests print the seed. */
import { randomInt } from 'node:crypto';

/** Seed of this test run. Repeat a failure with FOLKMOOT_TEST_SEED. */
export const seed = Number(process.env.FOLKMOOT_TEST_SEED ?? randomInt(2 ** 31));

/** Creates a generator of whole numbers (mulberry32). */
export function drawnFrom(start: number): (below: number) => number {
  let state = start >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}
