/** Random durations, timestamps and tags, compared with independent implementations. */
import fc from 'fast-check';
import { isDuration, parseInstant } from 'folkmoot';
import { Temporal } from 'temporal-polyfill/implementation';
import { expect, test } from 'vitest';
import { isTag, lowerCase } from '../../../dist/engine/protocol/text.js';
import { counts } from '../../support/counts.js';
import { made, refused } from './admission.js';

const options = { numRuns: counts.texts, seed: 20_260_702 };

const letters = ['Y', 'M', 'W', 'D', 'T', 'H', 'M', 'S', 't', 'h', 's', 'd', 'y', 'w', 'm'];
const digits = fc.oneof(
  fc.nat(99).map(String),
  fc.constantFrom('0', '00', '4294967295', '4294967296', '9007199254740991', '9007199254740992'),
  fc.bigInt(0n, 10n ** 24n).map(String),
);
const fraction = fc.oneof(
  { arbitrary: fc.constant(''), weight: 4 },
  fc
    .tuple(fc.constantFrom('.', ','), fc.stringMatching(/^\d{0,10}$/))
    .map(([mark, text]) => `${mark}${text}`),
);
/** Generates mostly texts that resemble durations. */
const almost = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('P', 'P', 'P', 'P', 'p', '-P', '+P', ''),
      fc.array(fc.tuple(digits, fraction, fc.constantFrom(...letters)), { maxLength: 6 }),
      fc.boolean(),
    )
    .map(([start, units, sorted]) => {
      const order = 'YyWwDdTtHhSs';
      const inOrder = sorted
        ? units.sort(([, , a], [, , b]) => order.indexOf(a) - order.indexOf(b))
        : units;
      return start + inOrder.map((unit) => (/t/i.test(unit[2]) ? 'T' : unit.join(''))).join('');
    }),
  fc
    .record({
      w: fc.option(digits, { nil: undefined }),
      d: fc.option(digits, { nil: undefined }),
      h: fc.option(digits, { nil: undefined }),
      m: fc.option(digits, { nil: undefined }),
      s: fc.option(fc.tuple(digits, fraction), { nil: undefined }),
    })
    .map(({ w, d, h, m, s }) => {
      const of = (value: string | undefined, unit: string) => (value ? `${value}${unit}` : '');
      const time = `${of(h, 'H')}${of(m, 'M')}${of(s?.join(''), 'S')}`;
      return `P${of(w, 'W')}${of(d, 'D')}${time ? `T${time}` : ''}`;
    }),
);

function temporal(text: string): Temporal.Duration | null {
  if (!text.startsWith('P')) return null;
  try {
    return Temporal.Duration.from(text);
  } catch {
    return null;
  }
}

test('durations: accepts the unsigned durations of Temporal', () => {
  fc.assert(
    fc.property(almost, (text) => {
      expect(isDuration(text), text).toBe(temporal(text) !== null);
    }),
    options,
  );
});

test('durations: an alliance lasts as long as Temporal computes', async () => {
  const bounds = { least: 60_000n, most: 2_592_000_000n };
  await fc.assert(
    fc.asyncProperty(almost, async (text) => {
      if (text.length > 64) return;
      const found = temporal(text);
      const fixed = found && found.years === 0 && found.months === 0;
      const days = fixed ? BigInt(found.weeks) * 7n + BigInt(found.days) : 0n;
      const rest = fixed ? found.with({ weeks: 0, days: 0 }) : null;
      const ms = rest && BigInt(Math.trunc(rest.total('milliseconds'))) + days * 86_400_000n;
      const good = ms !== null && ms >= bounds.least && ms <= bounds.most;
      if (!good) {
        expect(await refused('alliance_propose', { duration: text })).toBe('400 SCHEMA /duration');
        return;
      }
      expect((await made('alliance_propose', { duration: text })).duration_ms).toBe(Number(ms));
    }),
    options,
  );
});

test.each([
  ['PT1M', 60_000],
  ['PT59.9999999S', null],
  ['PT60.000999999S', 60_000],
  ['PT0.016666667H', 60_000],
  ['PT1,5M', 90_000],
  ['Pt1m', 60_000],
  ['P4W2D', 2_592_000_000],
  ['P30DT0.000000001S', 2_592_000_000],
  ['P30DT0.001S', null],
  ['P1M', null],
  ['P0M1D', 86_400_000],
  ['PT1.5M30S', null],
  ['', null],
])('durations: an alliance of %j lasts %s ms', async (duration, ms) => {
  if (ms === null) {
    expect(await refused('alliance_propose', { duration })).toBe('400 SCHEMA /duration');
  } else {
    expect((await made('alliance_propose', { duration })).duration_ms).toBe(ms);
  }
});

test('durations: treats the expected duration "" as absent', async () => {
  expect((await made('status', { expected_duration: '' })).expected_duration).toBe('');
});

const two = (most: number) => fc.integer({ min: 0, max: most }).map((n) => `${n}`.padStart(2, '0'));
const stamp = fc
  .tuple(
    fc.integer({ min: 0, max: 9_999 }).map((year) => `${year}`.padStart(4, '0')),
    fc.tuple(two(13), two(32), two(24), two(60), two(60)),
    fc.constantFrom('T', 't', ' '),
    fc.oneof(fc.constant(''), fc.stringMatching(/^\.\d{1,10}$/)),
    fc.oneof(
      fc.constantFrom('Z', 'z', '', '-00:00'),
      fc.tuple(fc.constantFrom('+', '-'), two(24), two(60)).map(([s, h, m]) => `${s}${h}:${m}`),
    ),
  )
  .map(([year, [month, day, hour, minute, second], t, part, zone]) => {
    return `${year}-${month}-${day}${t}${hour}:${minute}:${second}${part}${zone}`;
  });

test('timestamps: accepts those of Temporal except leap seconds and spaces', () => {
  const shape = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;
  fc.assert(
    fc.property(stamp, (text) => {
      let expected: number | null = null;
      if (shape.test(text) && !/:60(?:\.|[Zz+-])/.test(text)) {
        try {
          expected = Temporal.Instant.from(text).epochMilliseconds;
        } catch {
          expected = null;
        }
      }
      const found = parseInstant(text);
      // Temporal truncates toward the past. The result is equal, because fractions point forward.
      expect(found, text).toBe(expected);
    }),
    options,
  );
});

test('timestamps: accepts the years 0000 to 9999 with any offset', () => {
  expect(parseInstant('0000-01-01T00:00:00+23:59')).toBe(-62_167_305_540_000);
  expect(parseInstant('9999-12-31T23:59:59.9999-23:59')).toBe(253_402_387_139_999);
  for (const text of ['10000-01-01T00:00:00Z', '-0001-01-01T00:00:00Z', '+2025-01-01T00:00:00Z']) {
    expect(parseInstant(text)).toBe(null);
  }
});

/**
 * Astral characters, lone surrogates, unassigned code points, private use, controls, joiners,
 * digits from other scripts.
 */
const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.string({ unit: fc.constantFrom('a', 'Σ', 'İ', '\u200d', '\u{1ad5}', '\u{10ffff}', '٣', 'Ⅷ') }),
  fc
    .array(fc.integer({ min: 0, max: 0x3ffff }).filter((n) => n < 0xd800 || n > 0xdfff))
    .map((points) => String.fromCodePoint(...points)),
);

test('tags: accepts or refuses hostile texts, and lower case keeps their length', async () => {
  await fc.assert(
    fc.asyncProperty(hostile, async (text) => {
      if (!isTag(text)) {
        expect(await refused('meme', { tags: [text] })).toMatch(
          /^400 (SCHEMA|BAD_JSON) \/tags\/0$/,
        );
        return;
      }
      const { tags } = await made('meme', { tags: [text, lowerCase(text)] });
      expect(tags).toEqual([lowerCase(text)]);
      expect([...tags[0]!]).toHaveLength([...text].length);
      expect(isTag(tags[0]!) && lowerCase(tags[0]!) === tags[0]).toBe(true);
    }),
    options,
  );
});

test.each([
  '\ud800',
  '\udc00a',
  'a\ud83c',
])('tags: refuses the lone surrogate in %j', async (tag) => {
  expect(isTag(tag)).toBe(false);
  expect(await refused('meme', { tags: [tag] })).toBe('400 BAD_JSON /tags/0');
});
