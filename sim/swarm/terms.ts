/** Small things that drawing is made of. */
import type { Stream } from '../rng.js';

/** A scenario, or a section of one, as a file would hold it. */
export type Raw = Record<string, unknown>;

/** A whole number, both ends included. */
export const between = (rng: Stream, least: number, most: number): number =>
  least + rng.int(most - least + 1);

/** From 0 to 1 in hundredths, as somebody would write it. */
export const share = (rng: Stream): number => rng.int(101) / 100;

/** What `make` gives with a probability; else undefined. */
export const sometimes = <T>(rng: Stream, probability: number, make: () => T): T | undefined =>
  rng.chance(probability) ? make() : undefined;
