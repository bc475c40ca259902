/** Run archives: round trip and size. */
import assert from 'node:assert/strict';
import { deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  formatRowValue,
  type Message,
  type RowBatch,
  rowKinds,
  viewRows,
} from '../../../dist/api/view/model.js';
import { sliceRowBatch } from '../../../dist/api/view/row-batch.js';
import {
  decodeRunArchive,
  encodeRunArchive,
  type RunArchive,
} from '../../../dist/api/view/row-table.js';
import { counts } from '../../support/counts.js';
import { lives } from '../../support/lives.js';
import { seed } from '../../support/seeded.js';

const runs = { numRuns: counts.spans, seed };
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
