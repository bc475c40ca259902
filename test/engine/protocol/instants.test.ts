/** Instants as texts: what Date writes, whatever was written before. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatInstant } from '../../../dist/engine/protocol/schema/index.js';

test('formatInstant: as Date has it, in any order, before 1970 and at the ends of time too', () => {
  const near = fc.integer({ min: -5_000, max: 5_000 });
  const far = fc.integer({ min: -8.64e15, max: 8.64e15 });
  const bases = fc.constantFrom(0, 1_735_689_600_000, 253_402_300_800_000);
  const instant = fc.oneof(
    far,
    fc.tuple(bases, near).map(([base, by]) => base + by),
  );
  const property = fc.property(fc.array(instant, { maxLength: 50 }), (instants) => {
    for (const ms of instants) expect(formatInstant(ms)).toBe(new Date(ms).toISOString());
  });
  fc.assert(property);
  expect(() => formatInstant(Number.NaN)).toThrow(RangeError);
  expect(formatInstant(1_000.75)).toBe('1970-01-01T00:00:01.000Z');
});
