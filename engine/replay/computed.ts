/**
 * The records that follow from a log, each with the entry that wrote it last. They are in memory
 * while they are few; then in a scratch store on disk, so that memory does not grow with the log.
 */
import { tables } from '../protocol/schema/index.js';
import {
  compareKeys,
  keyId,
  openScratch,
  type RangeOptions,
  type RecordChange,
  type RecordKey,
  type Scratch,
} from '../store/index.js';

/** Records in memory before they are moved: some 20 MB. */
const mostInMemory = 25_000;

/** A record, or '' where it was deleted, and the entry that did so. */
interface Written {
  key: RecordKey;
  json: string;
  seq: number;
}

export class Computed {
  readonly #most: number;
  /** By table and key, as the map takes it: most keys of what is often rewritten are numbers. */
  readonly #recent = new Map<string, Map<string | number, Written>>(
    tables.map((table) => [table, new Map()]),
  );
  #held = 0;
  #scratch: Scratch | null = null;

  constructor(most = mostInMemory) {
    this.#most = most;
  }

  get(table: string, key: RecordKey): string | undefined {
    const recent = this.#rows(table).get(idOf(key));
    if (recent !== undefined) return recent.json || undefined;
    const stored = this.#scratch?.get(table, key);
    // Nothing stands where a record was deleted.
    return stored === undefined ? undefined : textOf(stored) || undefined;
  }

  /** The entry that wrote or deleted a record last, if there was one. */
  writer(table: string, key: RecordKey): number | undefined {
    const recent = this.#rows(table).get(idOf(key));
    if (recent !== undefined) return recent.seq;
    const stored = this.#scratch?.get(table, key);
    return stored === undefined ? undefined : Number.parseInt(stored, 10);
  }

  /** What entry `seq` changed. */
  write(seq: number, changes: readonly RecordChange[]): void {
    for (const { table, key, json } of changes) {
      const rows = this.#rows(table);
      const id = idOf(key);
      const row = rows.get(id);
      if (row === undefined) {
        rows.set(id, { key, json: json ?? '', seq });
        this.#held += 1;
      } else {
        row.json = json ?? '';
        row.seq = seq;
      }
    }
    if (this.#held > this.#most) this.#move();
  }

  /** The records of a table, in key order. */
  *range(table: string, options: RangeOptions = {}): Iterable<{ key: RecordKey; json: string }> {
    if (options.from !== undefined || options.to !== undefined) {
      throw new Error('computed records are read one by one, or a table as a whole');
    }
    if (this.#scratch === null) {
      const rows = [...this.#rows(table).values()].filter(({ json }) => json !== '');
      yield* rows.sort((a, b) => compareKeys(a.key, b.key));
      return;
    }
    this.#move();
    for (const { key, json } of this.#scratch.range(table)) {
      const text = textOf(json);
      if (text !== '') yield { key, json: text };
    }
  }

  async close(): Promise<void> {
    await this.#scratch?.close();
  }

  #rows(table: string): Map<string | number, Written> {
    return this.#recent.get(table)!;
  }

  #move(): void {
    this.#scratch ??= openScratch(tables);
    this.#scratch.write(this.#moved());
    for (const rows of this.#recent.values()) rows.clear();
    this.#held = 0;
  }

  /** As they lie on disk: the writer stands before the text. */
  *#moved(): Iterable<RecordChange> {
    for (const [table, rows] of this.#recent) {
      for (const { key, json, seq } of rows.values()) yield { table, key, json: `${seq} ${json}` };
    }
  }
}

const idOf = (key: RecordKey) => (typeof key === 'number' ? key : keyId(key));
const textOf = (stored: string): string => stored.slice(stored.indexOf(' ') + 1);
