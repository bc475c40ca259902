/** Tests the batch cache with batches from random runs, in random pieces and random order. */
import fc from 'fast-check';
import type { RowBatch } from '../../../dist/api/view/model.js';
import { applyRowBatch, createEmptySnapshot } from '../../../dist/api/view/reducer.js';
import { sliceRowBatch } from '../../../dist/api/view/row-batch.js';
import { BatchCache, MAX_CACHE_BYTES } from '../../../ui/player/batch-cache.js';
import { counts } from '../../support/counts.js';
import { lives } from '../../support/lives.js';

const rules = { policy: 'bft', weights: 'equal', participation_bps: 5_000 };
const of = { network_id: 'n', epoch: 'e', ...rules };
/** Folds batches up to an entry. */
const folded = (spans: Iterable<RowBatch>, to: number) => {
  const snapshot = createEmptySnapshot(of);
  for (const span of spans) applyRowBatch(snapshot, span, Math.min(to, span.to));
  const { digest, log_digest, at, ...rest } = snapshot;
  return rest;
};
const entriesOf = ({ from, rows }: RowBatch) =>
  new Set([...rows.entry].map((entry) => from + entry));

test('batch cache: joins overlapping pieces into the whole', () => {
  const pieces = fc.array(fc.tuple(fc.nat(500), fc.nat(500)), { maxLength: 30 });
  const property = fc.property(lives, pieces, (whole, cuts) => {
    const tape = new BatchCache();
    const { to } = whole;
    for (const [one, other] of [...cuts, [0, to] as const]) {
      const [a, b] = [one % (to + 1), other % (to + 1)];
      tape.add(sliceRowBatch(whole, Math.min(a, b), Math.max(a, b)), 0);
    }
    expect(tape.reach(0)).toBe(to);
    expect(folded(tape.between(0, to), to)).toEqual(folded([whole], to));
    const atOnce = new BatchCache();
    atOnce.add(whole, 0);
    expect(tape.bytes).toBe(atOnce.bytes);
    const entries = [...entriesOf(whole)];
    for (const from of [0, Math.floor(to / 2), to]) {
      expect(tape.next(from)).toBe(entries.find((entry) => entry > from) ?? null);
      expect(tape.previous(from)).toBe(entries.findLast((entry) => entry < from) ?? null);
    }
  });
  fc.assert(property, { numRuns: counts.spans });
});

test('batch cache: does not skip missing entries', () => {
  const property = fc.property(lives, fc.nat(500), fc.nat(500), (whole, one, other) => {
    const { to } = whole;
    const [a, b] = [one % (to + 1), other % (to + 1)].sort((x, y) => x - y) as [number, number];
    if (b - a < 2) return;
    const tape = new BatchCache();
    if (a > 0) tape.add(sliceRowBatch(whole, 0, a - 1), 0);
    tape.add(sliceRowBatch(whole, b, to), 0);
    expect(tape.reach(0)).toBe(a - 1);
    const next = tape.next(0);
    expect(next === null || next < a).toBe(true);
    const previous = tape.previous(to);
    expect(previous === null || previous >= b).toBe(true);
  });
  fc.assert(property, { numRuns: counts.spans });
});

test('batch cache: stays within its memory limit with long texts', () => {
  const tape = new BatchCache();
  const text = 'W'.repeat(2_048);
  const [{ said: _, ...empty }] = fc.sample(lives, { numRuns: 1, seed: 1 }) as [RowBatch];
  const none = sliceRowBatch({ ...empty, said: [] }, 0, -1);
  // The batches contain one text per entry, and are enough to fill the cache four times.
  const frames = Math.ceil((4 * MAX_CACHE_BYTES) / (50 * 2 * text.length));
  for (let frame = 0; frame < frames; frame += 1) {
    const [from, to] = [50 * frame, 50 * frame + 49];
    const said = Array.from({ length: 50 }, (_, place) => ({
      ...{ entry: from + place, at: 0, who: 0, kind: 'remark' as const, what: 0, stance: '' },
      text,
    }));
    tape.add({ ...none, from, to, said }, to);
    expect(tape.bytes).toBeLessThanOrEqual(MAX_CACHE_BYTES);
  }
  const last = 50 * frames - 1;
  expect(tape.reach(last)).toBe(last);
  expect(tape.reach(0)).toBe(-1);
});
