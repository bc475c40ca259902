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

export interface ComputedRecord {
  key: RecordKey;
  json: string;
  seq: number;
}

/** A record, its text behind the number of the entry that wrote it. */
type Written = RecordChange & { json: string };

export class Computed {
  readonly #most: number;
  #recent = new Map<string, Written>();
  #scratch: Scratch | null = null;

  constructor(most = mostInMemory) {
    this.#most = most;
  }

  get(table: string, key: RecordKey): string | undefined {
    const stored = this.#find(table, key);
    // Nothing stands where a record was deleted.
    return stored === undefined ? undefined : textOf(stored) || undefined;
  }

  /** The entry that wrote or deleted a record last, if there was one. */
  writer(table: string, key: RecordKey): number | undefined {
    const stored = this.#find(table, key);
    return stored === undefined ? undefined : writerOf(stored);
  }

  /** What entry `seq` changed. */
  write(seq: number, changes: readonly RecordChange[]): void {
    for (const { table, key, json } of changes) {
      // The writer stands before the text: no second map that would grow as the first does.
      const stored = `${seq} ${json ?? ''}`;
      this.#recent.set(`${table} ${keyId(key)}`, { table, key, json: stored });
    }
    if (this.#recent.size > this.#most) this.#move();
  }

  /** The records of a table, in key order. */
  *range(table: string, options: RangeOptions = {}): Iterable<ComputedRecord> {
    if (options.from !== undefined || options.to !== undefined) {
      throw new Error('computed records are read one by one, or a table as a whole');
    }
    const rows = this.#scratch === null ? this.#inMemory(table) : this.#onDisk(table);
    for (const { key, json } of rows) {
      const text = textOf(json);
      if (text !== '') yield { key, json: text, seq: writerOf(json) };
    }
  }

  async close(): Promise<void> {
    await this.#scratch?.close();
  }

  #find(table: string, key: RecordKey): string | undefined {
    const recent = this.#recent.get(`${table} ${keyId(key)}`);
    if (recent !== undefined) return recent.json;
    return this.#scratch?.get(table, key);
  }

  #move(): void {
    this.#scratch ??= openScratch(tables);
    this.#scratch.write(this.#recent.values());
    this.#recent = new Map();
  }

  #onDisk(table: string): Iterable<{ key: RecordKey; json: string }> {
    this.#move();
    return this.#scratch!.range(table);
  }

  #inMemory(table: string): { key: RecordKey; json: string }[] {
    const found: { key: RecordKey; json: string }[] = [];
    for (const { table: of, key, json } of this.#recent.values()) {
      if (of === table) found.push({ key, json });
    }
    return found.sort((a, b) => compareKeys(a.key, b.key));
  }
}

const textOf = (stored: string): string => stored.slice(stored.indexOf(' ') + 1);
const writerOf = (stored: string): number => Number.parseInt(stored, 10);
