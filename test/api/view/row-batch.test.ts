/** Row batches: round trip, damage detection, and application in pieces of any size. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ViewProblem } from '../../../dist/api/view/messages.js';
import { type RowBatch, type Snapshot, viewLimits } from '../../../dist/api/view/model.js';
import { applyRowBatch, createEmptySnapshot } from '../../../dist/api/view/reducer.js';
import {
  decodeRowBatch,
  encodeRowBatch,
  newRows,
  RowBatchDamaged,
  sliceRowBatch,
} from '../../../dist/api/view/row-batch.js';
import { counts } from '../../support/counts.js';
import { lives } from '../../support/lives.js';
import { seed } from '../../support/seeded.js';

const runs = { numRuns: counts.spans, seed };
const empty = () =>
  createEmptySnapshot({
    network_id: 'n',
    epoch: 'e',
    policy: 'bft',
    weights: 'equal',
    participation_bps: 5_000,
  });

test('row batch: round-trips', () => {
  fc.assert(
    fc.property(lives, (batch) => assert.deepEqual(decodeRowBatch(encodeRowBatch(batch)), batch)),
    runs,
  );
});

test('row batch: round-trips without rows and items', () => {
  const introduced = { agents: [], blocks: [], memes: [], alliances: [] };
  const none: RowBatch = {
    ...{ from: 5, to: 4, event_seq: 3, at: 9, digest: '', log_digest: '', omitted: 0, said: [] },
    rows: newRows(0),
    introduced,
  };
  assert.deepEqual(decodeRowBatch(encodeRowBatch(none)), none);
});

test('row batch: detects flipped bits and missing bytes', () => {
  const property = fc.property(lives, fc.nat(), fc.nat(7), (batch, where, bit) => {
    const bytes = encodeRowBatch(batch);
    const flipped = bytes.slice();
    flipped[where % bytes.length]! ^= 1 << bit;
    assert.throws(() => decodeRowBatch(flipped), RowBatchDamaged);
    assert.throws(() => decodeRowBatch(bytes.subarray(0, where % bytes.length)), RowBatchDamaged);
  });
  fc.assert(property, runs);
});

test('row batch: rejects arbitrary bytes with RowBatchDamaged', () => {
  const property = fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
    assert.throws(() => decodeRowBatch(bytes), RowBatchDamaged);
  });
  fc.assert(property, runs);
});

test('row batch: rejects an inconsistent head with a valid checksum', () => {
  const [batch] = fc
    .sample(lives, { numRuns: 60, seed: 7 })
    .filter(({ introduced }) => introduced.agents.length > 1 && introduced.memes.length > 0);
  const lies: [ViewProblem, (head: Record<string, unknown>) => void][] = [
    ['ROW_BATCH_HEAD', (head) => Object.assign(head, { rows: viewLimits.spanRows + 1 })],
    ['ROW_BATCH_HEAD', (head) => Object.assign(head, { rows: -1 })],
    ['ROW_BATCH_COLUMN', (head) => Object.assign(head, { rows: (head.rows as number) + 90_000 })],
    ['ROW_BATCH_HEAD', (head) => Object.assign(head, { columns: [[9, 0]] })],
    ['ROW_BATCH_HEAD', (head) => Object.assign(head, { from: 10, to: 2 })],
    ['ROW_BATCH_ROWS', (head) => Object.assign(head, { to: 0 })],
    ['ROW_BATCH_ROWS', (head) => (head.introduced as { agents: unknown[] }).agents.pop()],
    ['ROW_BATCH_HEAD', (head) => Object.assign(head, { introduced: null })],
    [
      'ROW_BATCH_HEAD',
      (head) => delete (head.introduced as { memes: object[] }).memes[0]!['number' as never],
    ],
    ['ROW_BATCH_HEAD', (head) => Object.assign(head, { said: {} })],
    ['ROW_BATCH_HEAD', (head) => Object.assign(head, { said: [null] })],
  ];
  for (const [problem, lie] of lies) {
    const { head, columns } = taken(encodeRowBatch(batch!));
    lie(head);
    assert.throws(
      () => decodeRowBatch(put(head, columns)),
      (error) => error instanceof RowBatchDamaged && error.problem === problem,
      String(lie),
    );
  }
  assert.deepEqual(decodeRowBatch(encodeRowBatch(batch!)), batch);
});

test('row batch: encoding rejects columns that do not ascend', () => {
  const [batch] = fc.sample(lives, { numRuns: 1, seed: 3 });
  const rows = newRows(2);
  rows.entry.set([1, 0]);
  expect(() => encodeRowBatch({ ...batch!, rows })).toThrow(RangeError);
});

test('applyRowBatch: gives the same result in any pieces', () => {
  const cuts = fc.array(fc.nat(600), { maxLength: 8 });
  const property = fc.property(lives, cuts, (batch, places) => {
    const once = applyRowBatch(empty(), batch);
    const ends = [...new Set(places.map((place) => place % (batch.to + 1)))].sort((a, b) => a - b);
    const cut = empty();
    const upTo = empty();
    let from = 0;
    for (const end of [...ends, batch.to]) {
      const part = sliceRowBatch(batch, from, end);
      applyRowBatch(cut, decodeRowBatch(encodeRowBatch(part)));
      applyRowBatch(upTo, batch, end);
      assert.deepEqual(cut, upTo);
      from = end + 1;
    }
    assert.deepEqual(cut, once);
    assert.deepEqual(applyRowBatch(cut, batch), once);
  });
  fc.assert(property, runs);
});

test('applyRowBatch: gives the same result after a JSON round trip of the snapshot', () => {
  const property = fc.property(lives, fc.nat(600), (batch, place) => {
    const half = applyRowBatch(empty(), batch, place % (batch.to + 1));
    const sent = JSON.parse(JSON.stringify(half)) as Snapshot;
    assert.deepEqual(applyRowBatch(sent, batch), applyRowBatch(empty(), batch));
  });
  fc.assert(property, runs);
});

test('applyRowBatch: keeps open blocks, and a bounded number of closed ones', () => {
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
    // The first five blocks stay in voting.
    rows.value[2 + 2 * number] = 1;
    if (number < 5) rows.kind[2 + 2 * number] = 6;
  }
  const snapshot = applyRowBatch(empty(), {
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
  expect(snapshot.blocks.length).toBe(5 + viewLimits.blocksShown);
  expect(snapshot.blocks.slice(0, 6).map(({ number }) => number)).toEqual([0, 1, 2, 3, 4, 800]);
  expect(snapshot.totals.finalized).toBe(995);
  expect(snapshot.agents[0]!.blocks_produced).toBe(995);
});

test('applyRowBatch: rejects a batch that does not follow the snapshot', () => {
  const [batch] = fc.sample(lives, { numRuns: 1, seed: 11 });
  expect(() => applyRowBatch(empty(), { ...batch!, from: 3 })).toThrow(
    expect.objectContaining({ problem: 'ENTRIES_MISSING' }),
  );
  const late = applyRowBatch(empty(), batch!);
  expect(() => applyRowBatch(late, batch!, 0)).toThrow(
    expect.objectContaining({ problem: 'SNAPSHOT_AHEAD' }),
  );
});

/** Returns a batch's head and the bytes behind it. */
function taken(bytes: Uint8Array) {
  const length = new DataView(bytes.buffer).getUint32(4, true);
  const text = new TextDecoder().decode(bytes.subarray(8, 8 + length));
  return {
    head: JSON.parse(text) as Record<string, unknown>,
    columns: bytes.slice(8 + length, -4),
  };
}

/** Encodes a head and columns with a valid checksum, independently of the code under test. */
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
