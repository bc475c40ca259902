/**
 * What every store relies on in a batch, checked before anything of it is written. A batch that
 * fails here is a bug of the caller: it throws, and the store is unchanged.
 */
import { assertRecordKey } from './keys.js';
import type { Batch, StoreMeta } from './store.js';

/** @throws {Error} when the batch does not continue the log and the history that `stored` ends. */
export function assertBatch(batch: Batch, stored: StoreMeta | null): void {
  assertSequence('entry', batch.entries, stored?.seq, batch.meta.seq);
  assertSequence('event', batch.events, stored?.event_seq, batch.meta.event_seq);
  assertIndex(batch);
  for (const { table, key } of batch.changes) assertRecordKey(table, key);
  for (const { hash } of batch.blobs) assertRecordKey('blobs', hash);
}

/** Rows are of entries of the batch, so they are appended, too. */
function assertIndex({ index = [], entries }: Batch): void {
  let previous = (entries[0]?.seq ?? 0) - 1;
  const last = entries.at(-1)?.seq ?? previous;
  for (const { seq } of index) {
    if (!(seq > previous && seq <= last)) throw new Error(`no row of the index can be of ${seq}`);
    previous = seq;
  }
}

/** Appends are written without looking for their place, so they must be at the end. */
function assertSequence(
  what: string,
  items: readonly { seq: number }[],
  last: number | undefined,
  metaLast: number,
): void {
  let previous = last;
  for (const { seq } of items) {
    const follows = previous === undefined ? seq >= 0 : seq === previous + 1;
    if (!Number.isSafeInteger(seq) || !follows) {
      throw new Error(`${what} ${seq} does not follow ${previous ?? 'an empty store'}`);
    }
    previous = seq;
  }
  if (previous !== undefined && previous !== metaLast) {
    throw new Error(`meta says the last ${what} is ${metaLast}, the batch ends at ${previous}`);
  }
}
