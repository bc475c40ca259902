/**
 * A file that is there whole or not at all, whatever kills the process or the machine: it is
 * written as a part file, which takes the name when all of it is on the disk.
 */
import { closeSync, fdatasyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { readdir, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { StoreError } from '../engine/internal.js';

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
      const why = (cause as Error).message;
      throw new StoreError('UNREADABLE', `${this.#name} cannot be written: ${why}`, { cause });
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
