/**
 * A CSV file, by RFC 4180 with LF line ends, whole or not at all: rows go to a part file in blocks,
 * which takes its name at the end.
 */
import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import { StoreError } from '../engine/internal.js';

/** Rows that wait for one write: a write costs as much as formatting some ten rows. */
const BLOCK = 1_000;

type Cell = string | number | null;

export class CsvFile<R extends Record<string, Cell>> {
  readonly #folder: string;
  readonly #name: string;
  readonly #columns: string[];
  readonly #file: number;
  #open = true;
  #waiting: R[] = [];

  /** @throws {StoreError} `UNREADABLE`, as all of them, when it cannot be written. */
  constructor(folder: string, name: string, columns: readonly string[]) {
    this.#folder = folder;
    this.#name = name;
    this.#columns = [...columns];
    this.#file = this.#try(() => openSync(this.#part, 'w'));
    this.#write(`${columns.join(',')}\n`);
  }

  add(row: R): void {
    this.#waiting.push(row);
    if (this.#waiting.length === BLOCK) this.#flush();
  }

  /** Adds all rows and finishes; leaves nothing behind when a row cannot be had or written. */
  finishWith(rows: Iterable<R>): void {
    try {
      for (const row of rows) this.add(row);
    } catch (error) {
      this.abandon();
      throw error;
    }
    this.finish();
  }

  finish(): void {
    this.#flush();
    this.#try(() => {
      this.#close();
      renameSync(this.#part, join(this.#folder, this.#name));
    });
  }

  /** Leaves nothing behind; after `finish` there is nothing to leave. */
  abandon(): void {
    this.#close();
    rmSync(this.#part, { force: true });
  }

  #close(): void {
    if (this.#open) closeSync(this.#file);
    this.#open = false;
  }

  get #part(): string {
    return join(this.#folder, `.${this.#name}.part`);
  }

  #flush(): void {
    if (this.#waiting.length === 0) return;
    this.#write(stringify(this.#waiting, { columns: this.#columns }));
    this.#waiting = [];
  }

  #write(text: string): void {
    const bytes = Buffer.from(text);
    this.#try(() => {
      for (let done = 0; done < bytes.length; ) done += writeSync(this.#file, bytes, done);
    });
  }

  #try<T>(what: () => T): T {
    try {
      return what();
    } catch (cause) {
      const why = (cause as Error).message;
      throw new StoreError('UNREADABLE', `${this.#name} cannot be written: ${why}`, { cause });
    }
  }
}
