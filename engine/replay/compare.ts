/** Compares all stored records with the computed ones, and says which entry last wrote a record. */
import { tables } from '../schema/index.js';
import type { RecordChange, RecordKey, Store } from '../store/index.js';

/** The first place where what was stored and what follows from the entries part. */
export interface Divergence {
  seq: number;
  kind: string;
  what: 'entry' | 'signature' | 'outcome' | 'event' | 'record' | 'log_digest' | 'digest' | 'end';
  /** Which one, where there are several: an event's number, a record's table and key. */
  which?: string;
  expected: string;
  found: string;
}

const keyText = (key: RecordKey) => JSON.stringify(key);

/** Which entry wrote each record last. */
export class LastChanges {
  readonly #last = new Map<string, { seq: number; kind: string }>();

  note(seq: number, kind: string, changes: readonly RecordChange[]): void {
    const by = { seq, kind };
    for (const { table, key } of changes) this.#last.set(`${table} ${keyText(key)}`, by);
  }

  of(table: string, key: RecordKey): { seq: number; kind: string } {
    return this.#last.get(`${table} ${keyText(key)}`) ?? { seq: 0, kind: 'no entry' };
  }
}

/** The difference that the earliest entry is answerable for, or null. */
export function compareRecords(
  computed: Store,
  stored: Store,
  changes: LastChanges,
): Divergence | null {
  let first: Divergence | null = null;
  const differ = (table: string, key: RecordKey, expected: string, found: string) => {
    const by = changes.of(table, key);
    if (first && first.seq <= by.seq) return;
    first = { ...by, what: 'record', which: `${table} ${keyText(key)}`, expected, found };
  };
  for (const table of tables) {
    for (const { key, json } of computed.range(table)) {
      const found = stored.get(table, key) ?? 'no record';
      if (found !== json) differ(table, key, json, found);
    }
    for (const { key, json } of stored.range(table)) {
      if (computed.get(table, key) === undefined) differ(table, key, 'no record', json);
    }
  }
  return first;
}
