/** Random durations, timestamps and tags, compared with independent implementations. */
import { fileTypeFromBuffer } from 'file-type';
import {
  composeAllianceLeave,
  composeAlliancePropose,
  composeAllianceRespond,
  composeDiscuss,
  composeMeme,
  composeProposal,
  composeRegister,
  composeStatus,
  composeVote,
  isDuration,
  parseInstant,
  type SignedRequest,
} from 'folkmoot';
import { admit } from 'folkmoot/testing';
import { Temporal } from 'temporal-polyfill/implementation';
import { isTag, lowerCase } from '../../../dist/engine/protocol/text.js';
import { sniff } from '../../../engine/admit/drafts.js';
import { counts } from '../../support/counts.js';
import { fc, forAll, forAllAsync } from '../../support/property.js';
import { agent, hash, key, made, meme, refused, signature, timestamp } from './admission.js';

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
      ...{ w: fc.option(digits, { nil: undefined }), d: fc.option(digits, { nil: undefined }) },
      ...{ h: fc.option(digits, { nil: undefined }), m: fc.option(digits, { nil: undefined }) },
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
  forAll([almost], options, (text) => {
    expect(isDuration(text), text).toBe(temporal(text) !== null);
  });
});

test('durations: an alliance lasts as long as Temporal computes', async () => {
  const bounds = { least: 60_000n, most: 2_592_000_000n };
  await forAllAsync([almost], options, async (text) => {
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
  });
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
  forAll([stamp], options, (text) => {
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
  });
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
  await forAllAsync([hostile], options, async (text) => {
    if (!isTag(text)) {
      expect(await refused('meme', { tags: [text] })).toMatch(/^400 (SCHEMA|BAD_JSON) \/tags\/0$/);
      return;
    }
    const { tags } = await made('meme', { tags: [text, lowerCase(text)] });
    expect(tags).toEqual([lowerCase(text)]);
    expect([...tags[0]!]).toHaveLength([...text].length);
    expect(isTag(tags[0]!) && lowerCase(tags[0]!) === tags[0]).toBe(true);
  });
});

// ---- Admission of composed requests gives the same result as admission of their bytes, for any
// values in a script.

const by = { publicKey: key, sign: () => signature, unsigned: signature };

/** Texts around the limit of the fast encoder. */
const long = fc.integer({ min: 0, max: 2_100 }).map((length) => 'a'.repeat(length));
const many = fc.integer({ min: 0, max: 700 }).map((length) => Array<string>(length).fill(''));

/** Values that an untyped script can pass, half of them valid. */
const odd = fc.oneof(
  fc.constantFrom(hash, hash.toUpperCase(), agent, meme, 'approve', 'neutral', 'active', 'PT1H'),
  fc.constantFrom<unknown>(timestamp, '2025-02-30T00:00:00.000Z', true, false, undefined, null, 7),
  fc.constantFrom<unknown>('\ud800', '\u0000', '"\\\n', '🎉', 'a'.repeat(2_000), Number.NaN),
  fc.constantFrom<unknown>({ toJSON: () => 'hm' }, new String('hm'), new Date(0), ['\udc00']),
  fc.array(fc.oneof(fc.string(), fc.constantFrom<unknown>(agent, meme, 'validator', null, 7))),
  fc.string({ unit: 'binary' }),
  long,
  many,
  fc.json().map((text) => JSON.parse(text) as unknown),
);

const strange = ['more', '7', 'a"b', '__proto__', 'constructor'];

/** Generates members for a request kind: some valid, some odd, some unknown. */
const like = (good: Record<string, unknown>) =>
  fc
    .tuple(fc.array(fc.tuple(fc.constantFrom(...Object.keys(good), ...strange), odd)), fc.boolean())
    .map(([changes, any]) => ({ ...good, ...(any ? Object.fromEntries(changes) : {}) }) as never);

const text = fc.oneof(fc.constant(timestamp), fc.string());
const id = fc.oneof(fc.constantFrom(agent, `ally_${'0'.repeat(32)}`), fc.string());
const file = new TextEncoder().encode('gm');
const about = { block_hash: hash, meme_references: [meme] };
const fields = {
  register: like({ personality: 'lawful', name: 'Ada', capabilities: ['validator'] }),
  status: like({ status: 'inactive', reason: 'tired', expected_duration: 'PT1H' }),
  vote: like({ ...about, decision: 'approve', reason: 'sound' }),
  propose: like({ parent_hash: hash, transactions: [] }),
  meme: like({ caption: 'gm', tags: ['a'] }),
  discuss: like({ ...about, message: 'hm', sentiment: 'neutral' }),
  found: like({ target_ids: [agent], purpose: 'win', duration: 'PT1H' }),
};

const request: fc.Arbitrary<SignedRequest> = fc.oneof(
  fc.tuple(text, fields.register).map(([at, body]) => composeRegister(by, at, body)),
  fc.tuple(text, id, fields.status).map(([at, of, body]) => composeStatus(by, at, of, body)),
  fc.tuple(text, fields.vote).map(([at, body]) => composeVote(by, at, body)),
  fc.tuple(text, fields.propose).map(([at, body]) => composeProposal(by, at, body)),
  fc
    .tuple(text, fields.meme)
    .map(([at, { caption, tags }]) => composeMeme(by, at, { caption, tags, file })),
  fc.tuple(text, fields.discuss).map(([at, body]) => composeDiscuss(by, at, body)),
  fc.tuple(text, fields.found).map(([at, body]) => composeAlliancePropose(by, at, body)),
  fc
    .tuple(text, id, fc.oneof(fc.boolean(), odd))
    .map(([at, of, said]) => composeAllianceRespond(by, at, of, said as boolean)),
  fc.tuple(text, id).map(([at, of]) => composeAllianceLeave(by, at, of)),
);

/** Formats the admission result as text, which shows the order of members. */
function said(one: SignedRequest): string {
  const admission = admit(one, 'demo');
  if ('refusal' in admission) return JSON.stringify(admission);
  const { command, raw, signedAt, signature: signed } = admission;
  return JSON.stringify([command, raw, signedAt, signed, admission.inputSha256()]);
}

test('admission: treats a composed request like a copy parsed from its bytes', () => {
  const property = fc.property(request, (one) => {
    expect(said(one)).toBe(said({ ...one, body: Uint8Array.from(one.body) }));
    const text = Buffer.from(one.body).toString();
    expect(text).toBe(JSON.stringify(JSON.parse(text)));
  });
  fc.assert(property, { numRuns: 3_000 });
});

test('admission: ignores later changes of composed values and parses a replaced body', () => {
  const meme_references = [meme];
  const vote = { block_hash: hash, decision: 'approve', meme_references } as const;
  const one = composeVote(by, timestamp, vote);
  const before = said(one);
  meme_references.push('no meme');
  expect(said(one)).toBe(before);
  const other = composeVote(by, timestamp, { ...vote, meme_references: [], decision: 'reject' });
  const expected = said(other);
  one.body = other.body;
  expect(said(one)).toBe(expected);
});

// ---- Detection of file types by the first bytes, compared with a library.

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const heads = {
  ...{ png: hex('89504e470d0a1a0a'), jpeg: hex('ffd8ffe0'), lossless: hex('ffd8fff7') },
  ...{ gif: Buffer.from('GIF89a'), gifText: Buffer.from('GIFs are fun') },
  webp: Buffer.concat([Buffer.from('RIFF'), hex('24000000'), Buffer.from('WEBPVP8 ')]),
  wav: Buffer.concat([Buffer.from('RIFF'), hex('24000000'), Buffer.from('WAVEfmt ')]),
  ...{ mark: hex('efbbbf'), text: Buffer.from('Hello'), bmp: Buffer.from('BM') },
};

test.each(Object.entries(heads))('sniff: detects the type of %s', (name, head) => {
  const expected: Record<string, string | undefined> = {
    png: 'image/png',
    jpeg: 'image/jpeg',
    gif: 'image/gif',
    gifText: 'image/gif',
    webp: 'image/webp',
    mark: 'text/plain; charset=utf-8',
    text: 'text/plain; charset=utf-8',
    bmp: 'text/plain; charset=utf-8',
  };
  expect(sniff(head)?.media_type).toBe(expected[name]);
});

const byLibrary: Record<string, string> = {
  'image/png': 'image/png',
  'image/apng': 'image/png',
  'image/jpeg': 'image/jpeg',
  'image/webp': 'image/webp',
  'image/gif': 'image/gif',
};

test('sniff: accepts the images that the library detects, with any following bytes', async () => {
  const piece = fc.oneof(
    fc.constantFrom(...Object.values(heads)),
    fc.uint8Array({ maxLength: 40 }),
    fc
      .nat(12)
      .chain((length) =>
        fc.constantFrom(...Object.values(heads).map((head) => head.subarray(0, length))),
      ),
  );
  const file = fc.array(piece, { minLength: 1, maxLength: 4 }).map((parts) => Buffer.concat(parts));
  await forAllAsync([file], { numRuns: 3_000 }, async (bytes) => {
    const found = await fileTypeFromBuffer(bytes);
    const expected = found && byLibrary[found.mime];
    // The library reads further into a PNG, and fails if the file is truncated.
    const image = sniff(bytes)?.media_type;
    if (expected) expect(image).toBe(expected);
    else expect([undefined, 'text/plain; charset=utf-8', 'image/png']).toContain(image);
  });
});

test('sniff: refuses text whose first visible character begins a tag', () => {
  const blanks = [
    ...'\t\n\v\f\r \u00a0\u1680\u2000\u2005\u200a\u2028\u2029\u202f\u205f\u3000\ufeff',
  ];
  const text = 'text/plain; charset=utf-8';
  for (const blank of ['', ...blanks, blanks.join('')]) {
    expect([blank, sniff(Buffer.from(`${blank}<b>`))]).toEqual([blank, null]);
    expect(sniff(Buffer.from(`a${blank.replace(/[\v\f]/g, '')}<b>`))?.media_type).toBe(text);
  }
});

test('sniff: reads only the first bytes of a file that is not text', () => {
  expect(sniff(Buffer.concat([hex('504b0304'), Buffer.alloc(1024 * 1024, 'PK')]))).toBe(null);
  const marks = Buffer.concat([...Array<Buffer>(10).fill(heads.mark), heads.png]);
  expect(sniff(marks)?.media_type).toBe('image/png');
});
