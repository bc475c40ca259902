/** Where a sample lies in the range of a factor, or among its values. */
import type { Factor } from '../../scenario/schema/sweep.js';

/**
 * A value that a sweep gives to a key of its scenario.
 *
 * @useDeclaredType
 */
export type FactorValue = NonNullable<Factor['values']>[number];

/** `place` runs from 0 to 1 over the factor's range, or over its values in their order. */
export function valueAt({ values, from = 0, to = 0, whole }: Factor, place: number): FactorValue {
  const part = (count: number) => Math.min(count - 1, Math.floor(place * count));
  if (values) return values[part(values.length)]!;
  if (whole) return from + part(to - from + 1);
  return from + place * (to - from);
}
