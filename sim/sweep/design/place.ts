/** Where a sample lies in the range of a factor, or among its values. */
import type { Factor } from '../../scenario/schema/sweep.js';

/**
 * A value that a sweep gives to a key of its scenario.
 *
 * @useDeclaredType
 */
export type FactorValue = NonNullable<Factor['values']>[number];

/** Which of so many steps, alike in width, a place from 0 to 1 is on. */
const stepOf = (place: number, count: number) => Math.min(count - 1, Math.floor(place * count));

/** `place` runs from 0 to 1 over the factor's range, or over its values in their order. */
export function valueAt({ values, from = 0, to = 0, whole }: Factor, place: number): FactorValue {
  if (values) return values[stepOf(place, values.length)]!;
  if (whole) return from + stepOf(place, to - from + 1);
  return from + place * (to - from);
}

/** Where the value at a place lies: the first at 0, the last at 1, others evenly between. */
export function settled({ values, from = 0, to = 0, whole }: Factor, place: number): number {
  const count = values ? values.length : whole ? to - from + 1 : 0;
  return count < 2 ? place : stepOf(place, count) / (count - 1);
}
