/** Makes the rows of the index while entries are committed: what came of each, and running sums. */
import type { Step } from '../../core/index.js';
import type { EntryKind, EventType } from '../../protocol/schema/index.js';
import type { Store, StoreMeta } from '../../store/index.js';
import { lastRow } from './reader.js';
import {
  blockEnds,
  encodeIndexRow,
  eventTypes,
  type IndexedEntry,
  type IndexTotals,
  noTotals,
} from './row.js';

/** Entries that a row tells of at the most: a bucket of an overview is no finer. */
const ROW_ENTRIES = 256;

const typeIndex = new Map(eventTypes.map((type, index) => [type, index]));
const endIndex = new Map<string, number>(blockEnds.map((end, index) => [end, index]));

/** An entry with what came of it, as the index keeps it. */
export interface Indexed {
  seq: number;
  at: number;
  entry: IndexedEntry;
  types: readonly EventType[];
  ends: readonly string[];
}

/** What the index keeps of a step. */
export function indexed(of: { seq: number; at: number; kind: EntryKind }, step: Step): Indexed {
  const { seq, at, kind } = of;
  const ends: string[] = [];
  for (const event of step.events) {
    if (event.type === 'block_status') ends.push(event.data.status);
  }
  const entry = {
    events: step.events.length,
    registers: kind === 'register',
    closes: ends.length > 0,
    turned: step.turned,
  };
  return { seq, at, entry, ends, types: step.events.map(({ type }) => type) };
}

export class IndexWriter {
  #totals: IndexTotals;
  #eventSeq: number;

  /** Goes on where the index ends, if it ends with the log; begins anew elsewhere. */
  constructor(store: Pick<Store, 'index'>, end: Pick<StoreMeta, 'seq' | 'event_seq'> | null) {
    this.#totals = (end && lastRow(store, end))?.totals ?? noTotals();
    this.#eventSeq = end?.event_seq ?? 0;
  }

  /** The rows of a batch. */
  rows(batch: readonly Indexed[]): { seq: number; bytes: Uint8Array }[] {
    const rows: { seq: number; bytes: Uint8Array }[] = [];
    for (let from = 0; from < batch.length; from += ROW_ENTRIES) {
      const some = batch.slice(from, from + ROW_ENTRIES);
      rows.push({ seq: some.at(-1)!.seq, bytes: this.row(some) });
    }
    return rows;
  }

  /** One row of some entries, at least one. */
  row(some: readonly Indexed[]): Uint8Array {
    for (const one of some) this.#add(one);
    const { at } = some.at(-1)!;
    const entries = some.map(({ entry }) => entry);
    return encodeIndexRow({ at, event_seq: this.#eventSeq, totals: this.#totals, entries });
  }

  #add({ entry, types, ends }: Indexed): void {
    const totals = this.#totals;
    this.#eventSeq += entry.events;
    if (entry.registers) totals.registered += 1;
    for (const type of types) totals.events[typeIndex.get(type)!]! += 1;
    for (const end of ends) totals.ends[endIndex.get(end)!]! += 1;
  }
}
