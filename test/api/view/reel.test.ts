/** Reels: a run comes back from its bytes as it was, whoever packs them, and in few of them. */
import assert from 'node:assert/strict';
import { deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  cutSpan,
  rowKinds,
  type Said,
  type Span,
  SpanDamaged,
} from '../../../dist/api/view/index.js';
import { decodeReel, encodeReel, type Reel } from '../../../dist/api/view/reel.js';
import { counts } from '../../support/counts.js';
import { lives } from '../../support/lives.js';
import { seed } from '../../support/seeded.js';

const runs = { numRuns: counts.spans, seed };
const packed = (bytes: Uint8Array) => deflateRawSync(bytes).length;
const kept = { proposals: [{ data: '</script>\u2028' }, null] } as unknown as Reel['kept'];

/** The same life, with all that was said told by the rows that can say something. */
function spoken(span: Span, texts: readonly string[]): Span {
  const kinds: Record<string, Said['kind']> = {
    block_validation: 'reason',
    consensus_discussion: 'remark',
    meme_posted: 'meme',
  };
  const { from, rows, introduced } = span;
  let meme = 0;
  const said = [...rows.kind].flatMap((code, row): Said[] => {
    const kind = kinds[rowKinds[code]!];
    const caption = kind === 'meme' ? introduced.memes[meme++]!.caption : '';
    if (!kind || row % 3 === 0) return [];
    const text = kind === 'meme' && row % 2 === 0 ? caption : (texts[row % texts.length] ?? '');
    const entry = from + rows.entry[row]!;
    return [{ entry, at: rows.at[row]!, who: rows.who[row]!, kind, what: rows.what[row]!, text }];
  });
  return { ...span, said, omitted: 0 };
}

const texts = fc.array(fc.oneof(fc.string(), fc.constantFrom('</script>', '\u202e', '')), {
  minLength: 1,
});

/** In pieces, as a view keeps them. */
function pieces(span: Span, ends: readonly number[]): Span[] {
  const cuts = [...new Set(ends.map((end) => end % (span.to + 1)))].sort((a, b) => a - b);
  let from = span.from;
  return [...cuts.filter((end) => end < span.to), span.to].map((end) => {
    const part = cutSpan(span, from, end);
    from = end + 1;
    return part;
  });
}

test('reel: comes back from its bytes as it was, in any pieces, whatever packs it', () => {
  const sizes = fc.constantFrom(
    packed,
    (bytes: Uint8Array) => bytes.length,
    (bytes: Uint8Array) => -bytes.length,
    (bytes: Uint8Array) => bytes.reduce((sum, byte) => (sum * 31 + byte) % 1_009, 7),
  );
  const ends = fc.array(fc.nat(600), { maxLength: 5 });
  const property = fc.property(lives, texts, ends, sizes, (life, said, places, size) => {
    const spans = pieces(spoken(life, said), places);
    assert.deepEqual(decodeReel(encodeReel({ spans, kept }, size)), { spans, kept });
  });
  fc.assert(property, runs);
});

test('reel: its bytes are refused when one bit is another or some are missing', () => {
  const property = fc.property(lives, fc.nat(), fc.nat(7), (life, where, bit) => {
    const bytes = encodeReel({ spans: [spoken(life, ['so'])], kept }, packed);
    const flipped = bytes.slice();
    flipped[where % bytes.length]! ^= 1 << bit;
    assert.throws(() => decodeReel(flipped), SpanDamaged);
    assert.throws(() => decodeReel(bytes.subarray(0, where % bytes.length)), SpanDamaged);
  });
  fc.assert(property, runs);
});

test('reel: what was said and is left out, or is of no row, is a mistake of who encodes', () => {
  const [life] = fc.sample(lives, { numRuns: 1, seed: 5 });
  const span = spoken(life!, ['so']);
  const said = { entry: 0, at: 0, who: 7, kind: 'remark', what: 7, text: 'nobody' } as const;
  for (const wrong of [{ omitted: 1 }, { said: [...span.said, said] }]) {
    expect(() => encodeReel({ spans: [{ ...span, ...wrong }], kept }, packed)).toThrow(
      'texts are missing',
    );
  }
});

test('reel: what repeats itself costs next to nothing', () => {
  const [life] = fc.sample(lives, { numRuns: 1, seed: 3 });
  const count = 60_000;
  const vote = rowKinds.indexOf('block_validation');
  const each = (value: (row: number) => number) =>
    Array.from({ length: count }, (_, row) => value(row));
  const span: Span = {
    ...spoken(life!, ['']),
    to: count,
    rows: {
      entry: Uint32Array.from(each((row) => row)),
      at: Float64Array.from(each((row) => 1_700_000_000_000 + 3 * row)),
      kind: new Uint8Array(count).fill(vote),
      who: Uint32Array.from(each((row) => row % 1_000)),
      what: Uint32Array.from(each((row) => Math.floor(row / 1_000))),
      value: new Uint32Array(count).fill(2),
    },
    said: each((row) => row).map((row) => ({
      ...{ entry: row, at: 1_700_000_000_000 + 3 * row, who: row % 1_000, kind: 'reason' },
      ...{ what: Math.floor(row / 1_000), text: `because of ${row % 7}` },
    })) as Said[],
    introduced: { agents: [], blocks: [], memes: [], alliances: [] },
  };
  const bytes = encodeReel({ spans: [span], kept }, packed);
  assert.deepEqual(decodeReel(bytes).spans, [span]);
  expect(packed(bytes)).toBeLessThan(count / 20);
});
