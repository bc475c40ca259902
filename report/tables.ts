/**
 * CSV (RFC 4180 with LF line ends) and NDJSON files. Each file is written completely or not at all,
 * in batches of rows.
 */
import { type CsvOptions, formatRows } from './bundled/csv.js';
import { WholeFile } from './folder.js';

/** Rows per write. One write costs as much as formatting about ten rows. */
const BLOCK = 1_000;

type Cell = string | number | null;

/** CSV file. A row is an object keyed by column, or an array in column order. */
export class CsvFile<R extends Record<string, Cell> | readonly Cell[]> {
  readonly #options: CsvOptions;
  readonly #file: WholeFile;
  #waiting: R[] = [];

  /**
   * @param raw writes text that a spreadsheet would run as a formula as it is.
   * @throws {StoreError} `UNREADABLE` if the file cannot be written. All methods throw this error.
   */
  constructor(folder: string, name: string, columns: readonly string[], raw = false) {
    this.#options = { columns, raw };
    this.#file = new WholeFile(folder, name);
    this.#file.write(formatRows([columns], { raw }));
  }

  add(row: R): void {
    this.#waiting.push(row);
    if (this.#waiting.length === BLOCK) this.#flush();
  }

  /**
   * Adds all rows and finishes the file. Deletes the part file if a row cannot be produced or
   * written.
   */
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

  /** Deletes the part file. Does nothing after `finish`. */
  abandon(): void {
    this.#file.abandon();
  }

  #flush(): void {
    if (this.#waiting.length === 0) return;
    this.#file.write(formatRows(this.#waiting, this.#options));
    this.#waiting = [];
  }
}

export class NdjsonFile {
  readonly #file: WholeFile;
  #waiting: string[] = [];

  /**
   * @throws {StoreError} `UNREADABLE` if the file cannot be written. All methods throw this error.
   */
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

  /** Deletes the part file. Does nothing after `finish`. */
  abandon(): void {
    this.#file.abandon();
  }

  #flush(): void {
    this.#file.write(this.#waiting.join(''));
    this.#waiting = [];
  }
}
