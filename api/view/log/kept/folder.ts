/**
 * What was made of a log, as files of a folder that may be deleted at any time: each is written
 * whole or not at all. Where none can be written, what fits is kept in memory.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { freeBytes, limits, makeFolder } from '../../../../engine/internal.js';

/** Kept in memory where no file can be: some four million events. */
const MEMORY_BYTES = 64 * 1024 * 1024;
const unfinished = /^\.[0-9a-f-]{36}\.tmp$/;
/** What an unfinished file of another process may still be written for. */
const STALE_MS = 60_000;

export class ViewFolder {
  readonly #folder: string | null;
  /** By name, the oldest first. */
  readonly #memory = new Map<string, Buffer>();
  #memoryBytes = 0;
  /** Why no more is written, if so: no right, no room. */
  problem: string | null = null;

  /** Null: nothing is read or written on a disk. */
  constructor(folder: string | null) {
    this.#folder = folder;
  }

  /** The names of what there is, ascending. */
  names(): string[] {
    if (this.#folder === null) return [];
    try {
      const names = readdirSync(this.#folder).sort();
      for (const name of names) if (unfinished.test(name)) this.#removeStale(name);
      return names.filter((name) => !unfinished.test(name));
    } catch {
      return [];
    }
  }

  /** What another process did not live to finish. */
  #removeStale(name: string): void {
    const path = join(this.#folder!, name);
    const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() };
    if (Date.now() - mtimeMs > STALE_MS) this.remove(name);
  }

  /** Null where there is none, or it cannot be read. */
  async read(name: string): Promise<Buffer | null> {
    const kept = this.#memory.get(name);
    if (kept || this.#folder === null) return kept ?? null;
    try {
      return await readFile(join(this.#folder, name));
    } catch {
      return null;
    }
  }

  /** Keeps it; what prevents a file is noted, and nothing else is harmed. */
  async write(name: string, content: Buffer): Promise<void> {
    if (this.#folder === null || this.problem !== null) this.#remember(name, content);
    else if (!(await this.#writeFile(this.#folder, name, content))) this.#remember(name, content);
  }

  /** What is damaged, or of another log. */
  remove(name: string): void {
    this.#memoryBytes -= this.#memory.get(name)?.length ?? 0;
    this.#memory.delete(name);
    if (this.#folder === null) return;
    try {
      rmSync(join(this.#folder, name), { force: true });
    } catch (error) {
      this.problem = `${this.#folder}: ${(error as Error).message}`;
    }
  }

  #remember(name: string, content: Buffer): void {
    this.#memoryBytes += content.length - (this.#memory.get(name)?.length ?? 0);
    this.#memory.set(name, content);
    for (const [oldest, bytes] of this.#memory) {
      if (this.#memoryBytes <= MEMORY_BYTES) return;
      this.#memory.delete(oldest);
      this.#memoryBytes -= bytes.length;
    }
  }

  async #writeFile(folder: string, name: string, content: Buffer): Promise<boolean> {
    const temporary = join(folder, `.${randomUUID()}.tmp`);
    try {
      // A network whose folder was deleted is not begun again by its view.
      if (!existsSync(dirname(folder))) throw new Error(`${dirname(folder)} is gone`);
      makeFolder(folder, 0o700);
      if (freeBytes(folder) < limits.freeSpaceBytes + content.length) {
        this.problem = `${folder}: less than ${limits.freeSpaceBytes} bytes are free on its disk`;
        return false;
      }
      const file = await open(temporary, 'wx', 0o600);
      try {
        await file.writeFile(content);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, join(folder, name));
      return true;
    } catch (error) {
      this.problem = `${folder}: no view can be kept: ${(error as Error).message}`;
      await rm(temporary, { force: true }).catch(() => undefined);
      return false;
    }
  }
}
