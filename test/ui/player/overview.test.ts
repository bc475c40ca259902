/** Tests the activity strip and the focused block of the page with random runs. */
import fc from 'fast-check';
import { type Overview, type RowBatch, rowKinds } from '../../../dist/api/view/model.js';
import { isEvent, sliceRowBatch } from '../../../dist/api/view/row-batch.js';
import { blockEnds } from '../../../dist/engine/node/entry-index.js';
import { eventTypes } from '../../../dist/engine/protocol/event-types.js';
import { findCurrentBlock, type PageOverview } from '../../../ui/data/messages.js';
import { GrowingOverview } from '../../../ui/player/overview.js';
import { counts } from '../../support/counts.js';
import { lives } from '../../support/lives.js';

const empty: Overview = {
  epoch: 'e',
  ...{ entry: -1, at: 0, event_seq: -1, buckets: [], closings: [], closings_omitted: 0 },
  event_types: eventTypes,
  block_ends: blockEnds,
};

/** Events by type, closings, and the entries that the buckets cover without a gap. */
function summed({ buckets, closings }: PageOverview) {
  const events = eventTypes.map((_, type) =>
    buckets.reduce((sum, bucket) => sum + bucket.events[type]!, 0),
  );
  let end = 0;
  for (const { from, entries } of buckets) {
    expect(from).toBe(end);
    end = from + entries;
  }
  return { events, end, closings };
}

function expected({ from, to, rows }: RowBatch) {
  const kinds = [...rows.kind].map((kind) => rowKinds[kind]!);
  const events = eventTypes.map((type) => kinds.filter((kind) => kind === type).length);
  expect(events.reduce((sum, count) => sum + count, 0)).toBe([...rows.kind].filter(isEvent).length);
  const closings = kinds.flatMap((kind, row) =>
    kind === 'block_status' ? [{ entry: from + rows.entry[row]! }] : [],
  );
  return { events, end: to + 1, closings };
}

test('overview: grows with later rows, in any pieces', () => {
  const cuts = fc.array(fc.nat(500), { maxLength: 12 });
  const property = fc.property(lives, cuts, (whole, places) => {
    const strip = new GrowingOverview();
    strip.know(empty);
    const ends = [...new Set(places.map((place) => place % (whole.to + 1))), whole.to];
    let from = 0;
    for (const to of ends.sort((a, b) => a - b)) {
      if (to < from) continue;
      expect(strip.extend(sliceRowBatch(whole, from, to))).toBe(true);
      from = to + 1;
    }
    expect(summed(strip.current!)).toMatchObject(expected(whole));
    // A repeated batch adds nothing.
    const before = strip.current;
    strip.extend(whole);
    expect(strip.current).toBe(before);
  });
  fc.assert(property, { numRuns: counts.spans });
});

test('overview: applies rows after a gap once the entries before them are known', () => {
  const property = fc.property(
    lives.filter(({ to }) => to > 2),
    (whole) => {
      const [gap, rest] = [sliceRowBatch(whole, 0, 1), sliceRowBatch(whole, 2, whole.to)];
      const strip = new GrowingOverview();
      strip.know(empty);
      expect(strip.extend(rest)).toBe(false);
      const server = new GrowingOverview();
      server.know(empty);
      server.extend(gap);
      strip.know(server.current as Overview);
      expect(summed(strip.current!)).toMatchObject(expected(whole));
      // An older overview does not shorten the strip, but one of a different network replaces it.
      strip.know(empty);
      expect(strip.current!.entry).toBe(whole.to);
      strip.know({ ...empty, epoch: 'other' });
      expect(strip.current!.entry).toBe(-1);
    },
  );
  fc.assert(property, { numRuns: counts.spans });
});

test('overview: stays bounded while a run grows', () => {
  const strip = new GrowingOverview();
  strip.know(empty);
  const [none] = fc.sample(
    lives.filter(({ rows }) => rows.entry.length === 0),
    1,
  );
  for (let entry = 0; entry < 5_000; entry += 1) {
    strip.extend({ ...none!, from: entry, to: entry });
  }
  expect(strip.current!.buckets.length).toBeLessThanOrEqual(1_200);
  expect(summed(strip.current!).end).toBe(5_000);
});

test('block: focuses the vote that is open, or else the last one with an outcome', () => {
  const of = (...statuses: string[]) => statuses.map((status, number) => ({ status, number }));
  expect(findCurrentBlock(of())).toBeUndefined();
  expect(findCurrentBlock(of('finalized', 'orphaned'))?.number).toBe(0);
  expect(findCurrentBlock(of('voting', 'finalized', 'orphaned'))?.number).toBe(0);
  expect(findCurrentBlock(of('finalized', 'expired', 'orphaned'))?.number).toBe(1);
  expect(findCurrentBlock(of('orphaned', 'orphaned'))?.number).toBe(1);
});
