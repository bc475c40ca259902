/**
 * The folder that a run writes to: new or empty at its beginning, each file written whole and its
 * rename flushed to disk, with a record of how the run was made.
 */
import {
  closeSync,
  createReadStream,
  existsSync,
  fdatasyncSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { open, readdir, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { parse } from 'csv-parse';
import { fileBounds, makeFolder, readBounded } from '../engine/store/folder.js';
import { StoreError } from '../engine/store/store.js';

/**
 * Makes the folder. One that holds what will be written is refused: nothing is overwritten.
 * @param names what will be written.
 * @throws {StoreError} `OTHER_NETWORK` then, `UNREADABLE` when it cannot be used.
 */
export async function prepareFolder(folder: string, names: readonly string[]): Promise<void> {
  refuseNetwork(folder);
  try {
    makeFolder(folder);
    const there = await readdir(folder);
    if (!names.some((name) => there.includes(name))) return;
  } catch (cause) {
    throw new StoreError('OUTPUT_UNUSABLE', { reason: (cause as Error).message }, { cause });
  }
  throw new StoreError('OUTPUT_HAS_RUN', { path: folder });
}

/** @throws {StoreError} `OTHER_NETWORK` where a network has its data: nothing is put beside it. */
export function refuseNetwork(folder: string): void {
  if (!existsSync(join(folder, 'data.mdb'))) return;
  throw new StoreError('OUTPUT_HAS_NETWORK', { path: folder });
}

/** Makes renames in it durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export type TableRow = Record<string, string>;

export const hasFile = (folder: string, name: string): boolean => existsSync(join(folder, name));

/** @throws {StoreError} `UNREADABLE` */
export function readJson<T>(folder: string, name: string): T {
  try {
    return JSON.parse(readBounded(join(folder, name), fileBounds.result).toString()) as T;
  } catch (cause) {
    throw unreadable(folder, name, cause);
  }
}

/** Row after row; no more than some are in memory. */
export async function* tableRows(folder: string, name: string): AsyncGenerator<TableRow> {
  const source = createReadStream(join(folder, name));
  const parser = parse({ columns: true, record_delimiter: '\n' });
  source.on('error', (error) => parser.destroy(error));
  try {
    for await (const row of source.pipe(parser)) yield row as TableRow;
  } catch (cause) {
    throw unreadable(folder, name, cause);
  } finally {
    source.destroy();
  }
}

function unreadable(folder: string, name: string, cause: unknown): StoreError {
  const reason = (cause as Error).message;
  return new StoreError('RESULT_UNREADABLE', { name, path: folder, reason }, { cause });
}

/** A number, or null where nothing can be said. */
export const parseNumber = (text: string | undefined): number | null =>
  text === undefined || text === '' ? null : Number(text);

/*
 * A file that is there whole or not at all, whatever kills the process or the machine: it is
 * written as a part file, which takes the name when all of it is on the disk.
 */

const PART = '.part';

export class WholeFile {
  readonly #name: string;
  readonly #path: string;
  readonly #part: string;
  readonly #file: number;
  #open = true;

  /**
   * @param name from the folder on.
   * @throws {StoreError} `UNREADABLE`, as all of them, when it cannot be written.
   */
  constructor(folder: string, name: string) {
    this.#name = name;
    this.#path = join(folder, name);
    this.#part = join(dirname(this.#path), `.${basename(this.#path)}${PART}`);
    this.#file = this.#try(() => openSync(this.#part, 'w'));
  }

  write(content: string | Uint8Array): void {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    this.#try(() => {
      for (let done = 0; done < bytes.length; ) done += writeSync(this.#file, bytes, done);
    });
  }

  finish(): void {
    this.#try(() => {
      fdatasyncSync(this.#file);
      this.#close();
      renameSync(this.#part, this.#path);
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

  #try<T>(what: () => T): T {
    try {
      return what();
    } catch (cause) {
      const reason = (cause as Error).message;
      throw new StoreError('FILE_UNWRITABLE', { path: this.#name, reason }, { cause });
    }
  }
}

/** @throws {StoreError} `UNREADABLE` */
export function writeWhole(folder: string, name: string, text: string): void {
  const file = new WholeFile(folder, name);
  try {
    file.write(text);
    file.finish();
  } catch (error) {
    file.abandon();
    throw error;
  }
}

/** Removes what a killed process left half written. */
export async function removeParts(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name.endsWith(PART)) await unlink(join(folder, name));
  }
}

export interface Provenance {
  version: string;
  /** Null outside a checkout. */
  commit: string | null;
  node: string;
}
