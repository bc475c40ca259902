/** The overview of a log, which grows with the rows that arrive. */
import { type Bucket, type Overview, type RowBatch, rowKinds } from '../../api/view/model.js';
import { firstRow } from '../../api/view/row-batch.js';
import { blockStatuses } from '../../engine/protocol/event-types.js';
import type { PageOverview } from '../data/messages.js';

/** Largest number of batches that wait for an overview. */
const MOST_WAITING = 256;
/** Largest number of buckets while an overview grows. */
const MOST_BUCKETS = 1_200;

/**
 * A server's overview, extended by later rows, so that the activity strip grows with the run
 * between two requests.
 */
export class GrowingOverview {
  #overview: PageOverview | null = null;
  /** Batches after a gap, which wait for the next overview. */
  #waiting: RowBatch[] = [];

  get current(): PageOverview | null {
    return this.#overview;
  }

  /** Replaces the overview, unless a newer one of the same network is known. */
  know(overview: Overview): void {
    const { epoch, entry } = this.#overview ?? {};
    if (epoch === overview.epoch && entry! > overview.entry) return;
    this.#overview = overview;
    for (const batch of this.#waiting.splice(0)) this.extend(batch);
  }

  /** Adds the entries of a batch. Returns false if entries before the batch are missing. */
  extend(batch: RowBatch): boolean {
    const now = this.#overview;
    if (now && batch.to <= now.entry) return true;
    if (!now || batch.from > now.entry + 1) {
      this.#waiting = [...this.#waiting, batch].slice(-MOST_WAITING);
      return false;
    }
    const bucket: Bucket = {
      from: now.entry + 1,
      entries: batch.to - now.entry,
      at: batch.at,
      events: now.event_types.map(() => 0),
      ends: now.block_ends.map(() => 0),
      registered: 0,
    };
    const closings: PageOverview['closings'][number][] = [];
    const { rows } = batch;
    for (let row = firstRow(batch, bucket.from); row < rows.entry.length; row += 1) {
      const kind = rowKinds[rows.kind[row]!]!;
      const type = now.event_types.indexOf(kind);
      if (type >= 0) bucket.events[type]! += 1;
      if (kind === 'registered') bucket.registered += 1;
      if (kind !== 'block_status') continue;
      const status = blockStatuses[rows.value[row]!]!;
      const end = now.block_ends.indexOf(status);
      if (end >= 0) bucket.ends[end]! += 1;
      const [entry, at] = [batch.from + rows.entry[row]!, rows.at[row]!];
      closings.push({ entry, at, block: rows.what[row]!, status });
    }
    this.#overview = {
      ...now,
      ...{ entry: batch.to, at: batch.at, event_seq: batch.event_seq },
      buckets: thinned([...now.buckets, bucket]),
      closings: [...now.closings, ...closings],
    };
    return true;
  }
}

/** Merges neighbouring buckets if there are too many. */
function thinned(buckets: Bucket[]): Bucket[] {
  if (buckets.length <= MOST_BUCKETS) return buckets;
  const sum = (one: readonly number[], other: readonly number[]) =>
    one.map((count, place) => count + other[place]!);
  return buckets.flatMap((one, place) => {
    if (place % 2 === 1) return [];
    const other = buckets[place + 1];
    if (!other) return [one];
    return [
      {
        ...one,
        entries: one.entries + other.entries,
        events: sum(one.events, other.events),
        ends: sum(one.ends, other.ends),
        registered: one.registered + other.registered,
      },
    ];
  });
}
