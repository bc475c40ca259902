/** Row batches: round trip, damage detection, and application in pieces of any size. */
import assert from 'node:assert/strict';
import { deflateRawSync } from 'node:zlib';
import type { ViewProblem } from '../../../dist/api/view/messages.js';
import {
  formatRowValue,
  type Message,
  type RowBatch,
  rowKinds,
  type Snapshot,
  viewLimits,
  viewRows,
} from '../../../dist/api/view/model.js';
import { applyRowBatch, createEmptySnapshot } from '../../../dist/api/view/reducer.js';
import {
  decodeRowBatch,
  encodeRowBatch,
  newRows,
  RowBatchDamaged,
  sliceRowBatch,
} from '../../../dist/api/view/row-batch.js';
import {
  decodeRunArchive,
  encodeRunArchive,
  type RunArchive,
} from '../../../dist/api/view/row-table.js';
import { eventRows, eventTypes } from '../../../dist/engine/protocol/event-types.js';
import { eventData } from '../../../dist/engine/protocol/schema/event.js';
import { unsigned } from '../../../dist/engine/protocol/schema/request.js';
import { counts } from '../../support/counts.js';
import { lives } from '../../support/lives.js';
import { fc, forAll } from '../../support/property.js';
import { seed } from '../../support/seeded.js';

const runs = { numRuns: counts.spans, seed };
const empty = () =>
  createEmptySnapshot({
    ...{ network_id: 'n', epoch: 'e', policy: 'bft', weights: 'equal', participation_bps: 5_000 },
  });

test('row batch: round-trips', () => {
  forAll([lives], runs, (batch) => assert.deepEqual(decodeRowBatch(encodeRowBatch(batch)), batch));
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
      ...{ agents: [{ ...agent, number: 0, producer: true }], blocks, memes: [], alliances: [] },
    },
  });
  expect(snapshot.blocks.length).toBe(5 + viewLimits.blocksShown);
  expect(snapshot.blocks.slice(0, 6).map(({ number }) => number)).toEqual([0, 1, 2, 3, 4, 800]);
  expect([snapshot.totals.finalized, snapshot.agents[0]!.blocks_produced]).toEqual([995, 995]);
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

// ---- The table of event types matches the schemas and the codes in stored files.

test('view: has a row kind for each event type and each fact without an event', () => {
  expect([...rowKinds].sort()).toEqual([...eventTypes, 'registered', 'dormancy'].sort());
  expect(rowKinds.map((kind) => viewRows[kind].code)).toEqual([...rowKinds.keys()]);
});

test('view: keeps the row codes of stored files', () => {
  expect(rowKinds.slice(0, 11)).toEqual([
    ...['registered', 'block_proposal', 'block_validation', 'consensus_discussion'],
    ...['alliance_update', 'agent_status', 'network_metrics', 'meme_posted'],
    ...['reputation_update', 'block_status', 'dormancy'],
  ]);
});

test('events: have types in the order of their schemas', () => {
  expect(Object.keys(eventData)).toEqual(eventTypes);
});

test.each(eventTypes)('events: the row of %s refers to members of its data', (type) => {
  const { agent, row } = eventRows[type];
  const { properties } = eventData[type] as { properties: Record<string, { enum?: string[] }> };
  for (const member of [agent, row.value?.of, row.says?.of]) {
    if (member !== undefined) expect(properties).toHaveProperty(member);
  }
  if (!row.value) return;
  const { of, ...value } = row.value;
  expect(properties[of]!.enum).toEqual('words' in value ? value.words : undefined);
});

test('view: does not truncate text that the protocol allows', () => {
  const { vote, discuss, meme, alliance_propose: ally } = unsigned;
  const texts = [vote.properties.reason, discuss.properties.message, meme.properties.caption];
  for (const text of [...texts, ally.properties.purpose]) {
    expect((text as unknown as { maxLength: number }).maxLength).toBeLessThanOrEqual(
      viewLimits.textCharacters,
    );
  }
});

// ---- Run archives: round trip and size.

const packed = (bytes: Uint8Array) => deflateRawSync(bytes).length;
const kept = { proposals: [{ data: '</script>\u2028' }, null] } as unknown as RunArchive['data'];

/** Returns the same batch, with text for all rows that can carry it. */
function spoken(batch: RowBatch, texts: readonly string[]): RowBatch {
  const kinds: Record<string, Message['kind']> = {
    block_validation: 'reason',
    consensus_discussion: 'remark',
    meme_posted: 'meme',
  };
  const { from, rows, introduced } = batch;
  let meme = 0;
  const said = [...rows.kind].flatMap((code, row): Message[] => {
    const kind = kinds[rowKinds[code]!];
    const caption = kind === 'meme' ? introduced.memes[meme++]!.caption : '';
    if (!kind || row % 3 === 0) return [];
    const text = kind === 'meme' && row % 2 === 0 ? caption : (texts[row % texts.length] ?? '');
    const entry = from + rows.entry[row]!;
    const by = { at: rows.at[row]!, who: rows.who[row]!, what: rows.what[row]! };
    const { value } = viewRows[rowKinds[code]!];
    const stance = kind === 'meme' ? '' : formatRowValue(value, rows.value[row]!);
    return [{ entry, ...by, kind, stance, text }];
  });
  return { ...batch, said, omitted: 0 };
}

const texts = fc.array(fc.oneof(fc.string(), fc.constantFrom('</script>', '\u202e', '')), {
  minLength: 1,
});

/** Splits the batch into pieces, as a view stores them. */
function pieces(batch: RowBatch, ends: readonly number[]): RowBatch[] {
  const cuts = [...new Set(ends.map((end) => end % (batch.to + 1)))].sort((a, b) => a - b);
  let from = batch.from;
  return [...cuts.filter((end) => end < batch.to), batch.to].map((end) => {
    const part = sliceRowBatch(batch, from, end);
    from = end + 1;
    return part;
  });
}

test('run archive: round-trips in any pieces', () => {
  const ends = fc.array(fc.nat(600), { maxLength: 5 });
  const property = fc.property(lives, texts, ends, (life, said, places) => {
    const batches = pieces(spoken(life, said), places);
    const archive = { batches, data: kept };
    assert.deepEqual(decodeRunArchive(encodeRunArchive(archive)), archive);
  });
  fc.assert(property, runs);
});

test('run archive: refuses omitted messages and messages without a row', () => {
  const [life] = fc.sample(lives, { numRuns: 1, seed: 5 });
  const batch = spoken(life!, ['so']);
  const at = { entry: 0, at: 0, who: 7, kind: 'remark', what: 7 } as const;
  const said = { ...at, stance: '', text: 'none' };
  for (const wrong of [{ omitted: 1 }, { said: [...batch.said, said] }]) {
    expect(() => encodeRunArchive({ batches: [{ ...batch, ...wrong }], data: kept })).toThrow(
      RangeError,
    );
  }
});

test('run archive: stores repetitions compactly', () => {
  const [life] = fc.sample(lives, { numRuns: 1, seed: 3 });
  const count = 60_000;
  const vote = rowKinds.indexOf('block_validation');
  const each = (value: (row: number) => number) =>
    Array.from({ length: count }, (_, row) => value(row));
  const batch: RowBatch = {
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
      ...{ what: Math.floor(row / 1_000), stance: 'approve', text: `because of ${row % 7}` },
    })) as Message[],
    introduced: { agents: [], blocks: [], memes: [], alliances: [] },
  };
  const bytes = encodeRunArchive({ batches: [batch], data: kept });
  assert.deepEqual(decodeRunArchive(bytes).batches, [batch]);
  expect(packed(bytes)).toBeLessThan(count / 10);
});
