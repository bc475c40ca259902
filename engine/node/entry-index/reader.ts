/**
 * Reads of the index from entries to events. Whoever opened the folder with an older program left
 * entries without rows: what is told here is where the rows begin that go on to the log's end.
 */
import { type Store, StoreError, type StoreMeta } from '../../store/index.js';
import { decodeIndexRow, type IndexRow } from './row.js';

type Rows = Pick<Store, 'index'>;

/** The last row, if it ends with the log; null also where it is damaged. */
export function lastRow(store: Rows, end: Pick<StoreMeta, 'seq'>): IndexRow | null {
  const [stored] = store.index({ reverse: true, limit: 1 });
  if (stored?.seq !== end.seq) return null;
  try {
    return decodeIndexRow(stored.seq, stored.bytes);
  } catch (error) {
    if (error instanceof StoreError) return null;
    throw error;
  }
}

/** The row that tells of an entry, or undefined. @throws {StoreError} `CORRUPT` */
export function rowOf(store: Rows, seq: number): IndexRow | undefined {
  const [stored] = store.index({ from: seq, limit: 1 });
  const row = stored && decodeIndexRow(stored.seq, stored.bytes);
  return row && row.first <= seq ? row : undefined;
}

/** Rows from the one that tells of `from` to the one that tells of `to`, as far as there are. */
export function* rowsOf(store: Rows, from: number, to: number): Generator<IndexRow, void> {
  for (const { seq, bytes } of store.index({ from })) {
    const row = decodeIndexRow(seq, bytes);
    if (row.first > to) return;
    yield row;
    if (seq >= to) return;
  }
}

/** Events that came before a row's totals begin: the same for all rows of one run. */
const eventsBefore = ({ event_seq, totals }: IndexRow) =>
  event_seq - totals.events.reduce((sum, count) => sum + count, 0);

/**
 * The first entry of the rows that go on without a gap to the log's end; one beyond its end where
 * there are none.
 */
export function indexedFrom(store: Rows, end: Pick<StoreMeta, 'seq'>): number {
  const last = lastRow(store, end);
  if (!last) return end.seq + 1;
  const before = eventsBefore(last);
  // Rows of an older run have fewer events before them, or the same where none came in between.
  let low = 0;
  let high = last.first;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const row = rowOf(store, middle);
    if (row && eventsBefore(row) === before) high = row.first;
    else low = row ? row.last + 1 : middle + 1;
  }
  return high;
}
