/** Compares all stored records with the computed ones, and says which entry last wrote a record. */
import { decodeEntry, splitStored } from '../protocol/log.js';
import { tables } from '../protocol/schema/index.js';
import type { RecordKey, Store } from '../store/index.js';
import type { Computed } from './computed.js';

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

function kindOf(stored: Store, seq: number): string {
  const entry = stored.entry(seq);
  return entry === undefined ? 'no entry' : decodeEntry(splitStored(entry).bytes).kind;
}

const keyText = (key: RecordKey) => JSON.stringify(key);

/** The difference that the earliest entry is answerable for, or null. */
export function compareRecords(computed: Computed, stored: Store): Divergence | null {
  let first: Divergence | null = null;
  const differ = (table: string, key: RecordKey, expected: string, found: string) => {
    const writer = computed.writer(table, key);
    const seq = writer ?? 0;
    if (first && first.seq <= seq) return;
    const kind = writer === undefined ? 'no entry' : kindOf(stored, writer);
    first = { seq, kind, what: 'record', which: `${table} ${keyText(key)}`, expected, found };
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
