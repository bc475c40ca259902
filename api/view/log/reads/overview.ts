/** A whole log at a glance, out of the index alone: nothing of it is read, however long it is. */
import {
  blockEnds,
  eventTypes,
  type IndexRow,
  type ServedNetwork,
} from '../../../../engine/internal.js';
import type { Bucket, Closing, Overview } from '../../model.js';
import type { IndexSource } from '../kept/index-source.js';

/** Closings that one overview tells. */
const MOST_CLOSINGS = 1_000;
/** Events at the beginning of an entry among which blocks are closed. */
const FIRST_EVENTS = 16;

/** The index must be prepared. */
export function* overviewOf(
  network: ServedNetwork,
  index: IndexSource,
  buckets: number,
): Generator<undefined, Overview> {
  const { read, epoch } = network;
  const { seq, at, event_seq } = read.position;
  const closings = yield* closingsOf(network, index, seq);
  const { ends } = index.rowOf(seq).totals;
  const closed = ends.reduce((sum, count) => sum + count, 0);
  return {
    epoch,
    entry: seq,
    at,
    event_seq,
    event_types: eventTypes,
    block_ends: blockEnds,
    buckets: yield* bucketsOf(network, index, seq, buckets),
    closings,
    closings_omitted: closed - closings.length,
  };
}

function* bucketsOf(
  { read }: ServedNetwork,
  index: IndexSource,
  seq: number,
  count: number,
): Generator<undefined, Bucket[]> {
  const found: Bucket[] = [];
  let before: IndexRow | null = null;
  let from = 0;
  for (let number = 1; number <= count && from <= seq; number += 1) {
    const last = index.rowOf(Math.max(from, Math.ceil((number * (seq + 1)) / count) - 1));
    found.push(bucketOf(read.log.entry(from)!.at, from, before, last));
    yield;
    from = last.last + 1;
    before = last;
  }
  return found;
}

function bucketOf(at: number, from: number, before: IndexRow | null, to: IndexRow): Bucket {
  const past = before?.totals;
  const since = (now: readonly number[], then: readonly number[] | undefined) =>
    now.map((value, place) => value - (then?.[place] ?? 0));
  return {
    from,
    entries: to.last - from + 1,
    at,
    events: since(to.totals.events, past?.events),
    ends: since(to.totals.ends, past?.ends),
    registered: to.totals.registered - (past?.registered ?? 0),
  };
}

/** Backwards, from row to row; those in which no block closed are passed over in leaps. */
function* closingsOf(
  { read }: ServedNetwork,
  index: IndexSource,
  seq: number,
): Generator<undefined, Closing[]> {
  const found: Closing[] = [];
  let row: IndexRow | null = index.rowOf(seq);
  while (row && found.length < MOST_CLOSINGS) {
    yield;
    found.push(...closingsIn(read, row).reverse());
    row = beforeWithClosing(index, row);
  }
  return found.slice(0, MOST_CLOSINGS).reverse();
}

const closedBy = ({ totals }: IndexRow) => totals.ends.reduce((sum, count) => sum + count, 0);

/** The last row before this one in which a block closed: the first with as many closings in all. */
function beforeWithClosing(index: IndexSource, row: IndexRow): IndexRow | null {
  if (row.first === 0) return null;
  const previous = index.rowOf(row.first - 1);
  const most = closedBy(previous);
  if (most === 0) return null;
  let low = 0;
  let high = previous.last;
  while (low < high) {
    const middle = index.rowOf(Math.floor((low + high) / 2));
    if (closedBy(middle) < most) low = middle.last + 1;
    else high = middle.first;
  }
  return index.rowOf(low);
}

function closingsIn(read: ServedNetwork['read'], row: IndexRow): Closing[] {
  const found: Closing[] = [];
  let next = row.event_seq - row.entries.reduce((sum, { events }) => sum + events, 0) + 1;
  for (const [place, { events, closes }] of row.entries.entries()) {
    if (closes) {
      const last = next + Math.min(events, FIRST_EVENTS) - 1;
      found.push(...closingsAmong(read, row.first + place, next, last));
    }
    next += events;
  }
  return found;
}

function* closingsAmong(read: ServedNetwork['read'], entry: number, from: number, to: number) {
  for (const { type, data } of read.events(from, to)) {
    if (type !== 'block_status') continue;
    const block = read.record('blocks', data.block_hash)?.context.ordinal ?? -1;
    const at = Date.parse(data.timestamp);
    yield { entry, at, block, height: data.height, status: data.status };
  }
}
