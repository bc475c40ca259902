/** Compares all stored records with the computed ones, and says which entry last wrote a record. */
import { decodeEntry, splitStored } from '../protocol/log.js';
import { tables } from '../protocol/schema/index.js';
import { compareKeys, type RecordKey, type Store } from '../store/index.js';
import type { Computed } from './computed.js';
import type { Divergence } from './divergence.js';

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
    for (const [key, expected, found] of sideBySide(computed.range(table), stored.range(table))) {
      if (expected !== found) differ(table, key, expected ?? 'no record', found ?? 'no record');
    }
  }
  return first;
}

type Row = { key: RecordKey; json: string };

/** Two runs in the order of their keys, as one: each key with what either has of it. */
function* sideBySide(
  computed: Iterable<Row>,
  stored: Iterable<Row>,
): Generator<[key: RecordKey, computed: string | undefined, stored: string | undefined]> {
  const [left, right] = [computed[Symbol.iterator](), stored[Symbol.iterator]()];
  let [one, other] = [next(left), next(right)];
  while (one || other) {
    const order = !one ? 1 : !other ? -1 : compareKeys(one.key, other.key);
    const row = (order <= 0 ? one : other)!;
    yield [row.key, order <= 0 ? one!.json : undefined, order >= 0 ? other!.json : undefined];
    if (order <= 0) one = next(left);
    if (order >= 0) other = next(right);
  }
}

const next = (rows: Iterator<Row>): Row | undefined => rows.next().value;
