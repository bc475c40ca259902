/** Spans: the same after bytes, refused when anything of them is another; folded in any pieces. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  applySpan,
  cutSpan,
  decodeSpan,
  emptyPicture,
  encodeSpan,
  newRows,
  type Picture,
  type Span,
  SpanDamaged,
  viewLimits,
} from '../../../dist/api/view/index.js';
import { counts } from '../../support/counts.js';
import { lives } from '../../support/lives.js';
import { seed } from '../../support/seeded.js';

const runs = { numRuns: counts.spans, seed };
const empty = () =>
  emptyPicture({
    network_id: 'n',
    epoch: 'e',
    policy: 'bft',
    weights: 'equal',
    participation_bps: 5_000,
  });

test('span: comes back from its bytes as it was', () => {
  fc.assert(
    fc.property(lives, (span) => assert.deepEqual(decodeSpan(encodeSpan(span)), span)),
    runs,
  );
});

test('span: one without rows and entries of their own comes back, too', () => {
  const introduced = { agents: [], blocks: [], memes: [], alliances: [] };
  const none: Span = {
    ...{ from: 5, to: 4, event_seq: 3, at: 9, digest: '', log_digest: '', omitted: 0, said: [] },
    rows: newRows(0),
    introduced,
  };
  assert.deepEqual(decodeSpan(encodeSpan(none)), none);
});

test('span: its bytes are refused when one bit is another or some are missing', () => {
  const property = fc.property(lives, fc.nat(), fc.nat(7), (span, where, bit) => {
    const bytes = encodeSpan(span);
    const flipped = bytes.slice();
    flipped[where % bytes.length]! ^= 1 << bit;
    assert.throws(() => decodeSpan(flipped), SpanDamaged);
    assert.throws(() => decodeSpan(bytes.subarray(0, where % bytes.length)), SpanDamaged);
  });
  fc.assert(property, runs);
});

test('span: any bytes are a span or refused by name', () => {
  const property = fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
    assert.throws(() => decodeSpan(bytes), SpanDamaged);
  });
  fc.assert(property, runs);
});

test('span: a head that lies is refused, though its checksum holds', () => {
  const [span] = fc
    .sample(lives, { numRuns: 60, seed: 7 })
    .filter(({ introduced }) => introduced.agents.length > 1 && introduced.memes.length > 0);
  const lies: [string, (head: Record<string, unknown>) => void][] = [
    ['rows', (head) => Object.assign(head, { rows: viewLimits.spanRows + 1 })],
    ['rows', (head) => Object.assign(head, { rows: -1 })],
    ['cut off', (head) => Object.assign(head, { rows: (head.rows as number) + 90_000 })],
    ['columns', (head) => Object.assign(head, { columns: [[9, 0]] })],
    ['ends at', (head) => Object.assign(head, { from: 10, to: 2 })],
    ['a row is of entry', (head) => Object.assign(head, { to: 0 })],
    ['introduces', (head) => (head.introduced as { agents: unknown[] }).agents.pop()],
    ['introduced', (head) => Object.assign(head, { introduced: null })],
    [
      'number',
      (head) => delete (head.introduced as { memes: object[] }).memes[0]!['number' as never],
    ],
    ['said', (head) => Object.assign(head, { said: {} })],
    ['not an object', (head) => Object.assign(head, { said: [null] })],
  ];
  for (const [what, lie] of lies) {
    const { head, columns } = taken(encodeSpan(span!));
    lie(head);
    assert.throws(
      () => decodeSpan(put(head, columns)),
      (error) => error instanceof SpanDamaged && error.message.includes(what),
      what,
    );
  }
  assert.deepEqual(decodeSpan(encodeSpan(span!)), span);
});

test('span: columns that do not ascend are a mistake of who encodes', () => {
  const [span] = fc.sample(lives, { numRuns: 1, seed: 3 });
  const rows = newRows(2);
  rows.entry.set([1, 0]);
  expect(() => encodeSpan({ ...span!, rows })).toThrow('does not ascend');
});

test('fold: in pieces it gives what it gives at once, cut or up to an entry', () => {
  const cuts = fc.array(fc.nat(600), { maxLength: 8 });
  const property = fc.property(lives, cuts, (span, places) => {
    const once = applySpan(empty(), span);
    const ends = [...new Set(places.map((place) => place % (span.to + 1)))].sort((a, b) => a - b);
    const cut = empty();
    const upTo = empty();
    let from = 0;
    for (const end of [...ends, span.to]) {
      const part = cutSpan(span, from, end);
      applySpan(cut, decodeSpan(encodeSpan(part)));
      applySpan(upTo, span, end);
      assert.deepEqual(cut, upTo);
      from = end + 1;
    }
    assert.deepEqual(cut, once);
    assert.deepEqual(applySpan(cut, span), once);
  });
  fc.assert(property, runs);
});

test('fold: the same from a picture that went over a wire', () => {
  const property = fc.property(lives, fc.nat(600), (span, place) => {
    const half = applySpan(empty(), span, place % (span.to + 1));
    const sent = JSON.parse(JSON.stringify(half)) as Picture;
    assert.deepEqual(applySpan(sent, span), applySpan(empty(), span));
  });
  fc.assert(property, runs);
});

test('fold: keeps what is open, and of the rest no more than a picture holds', () => {
  const rows = newRows(2_001);
  const agent = { id: 'a', public_key: '', name: '', personality: '', validator: true };
  const block = { hash: '', parent: '', transactions: 1, total: 1, electors: 1, needed: 1 };
  const blocks = Array.from({ length: 1_000 }, (_, number) => ({
    ...{ ...block, number, height: number + 1, producer: 0, proposed_at: 0, deadline: 1 },
    entry: number + 1,
  }));
  for (let number = 0; number < 1_000; number += 1) {
    rows.kind.set([1, 9], 1 + 2 * number);
    rows.entry.set([number + 1, number + 1], 1 + 2 * number);
    rows.what.set([number, number], 1 + 2 * number);
    // The first five stay in voting.
    rows.value[2 + 2 * number] = 1;
    if (number < 5) rows.kind[2 + 2 * number] = 6;
  }
  const picture = applySpan(empty(), {
    ...{ from: 0, to: 1_000, event_seq: 2_000, at: 1, digest: '', log_digest: '', omitted: 0 },
    said: [],
    rows,
    introduced: {
      agents: [{ ...agent, number: 0, producer: true }],
      blocks,
      memes: [],
      alliances: [],
    },
  });
  expect(picture.blocks.length).toBe(5 + viewLimits.blocksShown);
  expect(picture.blocks.slice(0, 6).map(({ number }) => number)).toEqual([0, 1, 2, 3, 4, 800]);
  expect(picture.totals.finalized).toBe(995);
  expect(picture.agents[0]!.blocks_produced).toBe(995);
});

test('fold: a span that does not follow is refused, and says what is missing', () => {
  const [span] = fc.sample(lives, { numRuns: 1, seed: 11 });
  expect(() => applySpan(empty(), { ...span!, from: 3 })).toThrow('entries 0 to 2 are missing');
  const late = applySpan(empty(), span!);
  expect(() => applySpan(late, span!, 0)).toThrow('cannot go back to 0');
});

/** A span's head and the bytes behind it. */
function taken(bytes: Uint8Array) {
  const length = new DataView(bytes.buffer).getUint32(4, true);
  const text = new TextDecoder().decode(bytes.subarray(8, 8 + length));
  return {
    head: JSON.parse(text) as Record<string, unknown>,
    columns: bytes.slice(8 + length, -4),
  };
}

/** The bytes of a head and columns, with a checksum that holds: by another way than the code's. */
function put(head: unknown, columns: Uint8Array): Uint8Array {
  const text = new TextEncoder().encode(JSON.stringify(head));
  const bytes = Buffer.concat([Buffer.from('FMS1\0\0\0\0'), text, columns, Buffer.alloc(4)]);
  bytes.writeUInt32LE(text.length, 4);
  let crc = -1;
  for (const byte of bytes.subarray(0, -4)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  bytes.writeUInt32LE(~crc >>> 0, bytes.length - 4);
  return Uint8Array.from(bytes);
}
