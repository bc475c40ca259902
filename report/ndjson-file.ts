/** A file of JSON objects, one a line, whole or not at all. Lines are written in blocks. */
import { WholeFile } from './whole-file.js';

/** Lines that wait for one write. */
const BLOCK = 1_000;

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
