/**
 * CSV files (RFC 4180, LF line ends) and NDJSON files, each written whole or not at all, in blocks
 * of rows.
 */
import { stringify } from 'csv-stringify/sync';
import { WholeFile } from './folder.js';

/** Rows that wait for one write: a write costs as much as formatting some ten rows. */
const BLOCK = 1_000;

type Cell = string | number | null;

/** A row is a member a column, or as many cells in the order of the columns. */
export class CsvFile<R extends Record<string, Cell> | readonly Cell[]> {
  readonly #columns: string[];
  readonly #file: WholeFile;
  #waiting: R[] = [];

  /** @throws {StoreError} `UNREADABLE`, as all of them, when it cannot be written. */
  constructor(folder: string, name: string, columns: readonly string[]) {
    this.#columns = [...columns];
    this.#file = new WholeFile(folder, name);
    this.#file.write(stringify([this.#columns]));
  }

  add(row: R): void {
    this.#waiting.push(row);
    if (this.#waiting.length === BLOCK) this.#flush();
  }

  /** Adds all rows and finishes; leaves nothing behind when a row cannot be had or written. */
  finishWith(rows: Iterable<R>): void {
    try {
      for (const row of rows) this.add(row);
      this.finish();
    } catch (error) {
      this.abandon();
      throw error;
    }
  }

  finish(): void {
    this.#flush();
    this.#file.finish();
  }

  /** Leaves nothing behind; after `finish` there is nothing to leave. */
  abandon(): void {
    this.#file.abandon();
  }

  #flush(): void {
    if (this.#waiting.length === 0) return;
    this.#file.write(stringify(this.#waiting, { columns: this.#columns }));
    this.#waiting = [];
  }
}

export class NdjsonFile {
  readonly #file: WholeFile;
  #waiting: string[] = [];

  /** @throws {StoreError} `UNREADABLE`, as all of them, when it cannot be written. */
  constructor(folder: string, name: string) {
    this.#file = new WholeFile(folder, name);
  }

  add(line: object): void {
    this.#waiting.push(`${JSON.stringify(line)}\n`);
    if (this.#waiting.length === BLOCK) this.#flush();
  }

  finish(): void {
    this.#flush();
    this.#file.finish();
  }

  /** Leaves nothing behind; after `finish` there is nothing to leave. */
  abandon(): void {
    this.#file.abandon();
  }

  #flush(): void {
    this.#file.write(this.#waiting.join(''));
    this.#waiting = [];
  }
}
