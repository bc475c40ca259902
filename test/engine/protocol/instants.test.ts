/** Timestamps, compared with Date, for any cache content. */
import fc from 'fast-check';
import { formatInstant } from '../../../dist/engine/protocol/schema/primitives.js';
import { parseInstant } from '../../../dist/engine/protocol/time.js';

test('formatInstant: equals Date in any order, before 1970 and at the limits', () => {
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

test('parseInstant: parses a timestamp of the cached minute like any other', () => {
  const base = 1_735_689_600_000;
  const digit = fc.constantFrom(...'0123456789', '0', '5', ':', '.', '-', ' ', 'Z', 'a');
  const change = fc.option(fc.tuple(fc.nat(23), digit));
  const near = fc.oneof(fc.integer({ min: -2e5, max: 2e5 }), fc.constantFrom(-1, 59_999, 60_000));
  const property = fc.property(fc.array(fc.tuple(near, change)), (changed) => {
    for (const [by, at] of changed) {
      const good = new Date(base + by).toISOString();
      expect(parseInstant(good)).toBe(base + by);
      const text = at ? good.slice(0, at[0]) + at[1] + good.slice(at[0] + 1) : good;
      // A lower-case z means the same but avoids the fast path.
      expect(parseInstant(text)).toBe(parseInstant(text.replace(/Z$/, 'z')));
    }
  });
  fc.assert(property, { numRuns: 500 });
});
