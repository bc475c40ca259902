/**
 * Checkpoints as files of a folder that may be deleted at any time: each is written whole or not at
 * all, and looked at before it is used. Together they take a share of the log's size at most.
 */
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { limits } from '../protocol/limits.js';
import { freeBytes, makeFolder } from '../store/index.js';
import { type Checkpoint, decodeCheckpoint } from './checkpoint.js';

/** A file of the folder: its entry, and how large the log was up to that. */
interface File {
  seq: number;
  logBytes: number;
  bytes: number;
}

/** What there is for a quick look into the past. */
export interface CheckpointStats {
  count: number;
  bytes: number;
  /** Why no more are written, if so: no right, no room. */
  problem: string | null;
}

const pattern = /^(\d{16})-(\d{1,16})\.checkpoint$/;
const unfinished = /^\.[0-9a-f-]{36}\.tmp$/;
/** What an unfinished file of another process may still be written for. */
const STALE_MS = 60_000;

export class CheckpointFolder {
  readonly #folder: string | null;
  readonly #share: number;
  /** By entry, ascending. */
  #files: File[] = [];
  #problem: string | null = null;

  /** `share` of the log's size is the most for all; null: none is read or written. */
  constructor(folder: string | null, share: number) {
    this.#folder = folder;
    this.#share = share;
    this.refresh();
  }

  get stats(): CheckpointStats {
    return { count: this.#files.length, bytes: this.#bytes(), problem: this.#problem };
  }

  /** Looks again: files may come and go by other hands. */
  refresh(): void {
    this.#files = [];
    if (this.#folder === null) return;
    for (const name of namesIn(this.#folder)) {
      const path = join(this.#folder, name);
      const [, seq, logBytes] = pattern.exec(name) ?? [];
      try {
        const { size, mtimeMs } = statSync(path);
        if (seq !== undefined) {
          this.#files.push({ seq: Number(seq), logBytes: Number(logBytes), bytes: size });
        } else if (unfinished.test(name) && Date.now() - mtimeMs > STALE_MS) rmSync(path);
      } catch {
        // Deleted meanwhile, or not ours to look at: then it is not there.
      }
    }
    this.#files.sort((a, b) => a.seq - b.seq);
  }

  /** The last whole one up to an entry that is of this log; others are removed on the way. */
  before(
    seq: number,
    isOurs: (checkpoint: Checkpoint) => boolean,
  ): { checkpoint: Checkpoint; logBytes: number } | null {
    for (;;) {
      const file = this.#files.findLast((one) => one.seq <= seq);
      if (!file) return null;
      const checkpoint = this.#read(file);
      if (checkpoint?.head.seq === file.seq && isOurs(checkpoint)) {
        return { checkpoint, logBytes: file.logBytes };
      }
      this.#remove(file);
    }
  }

  /** Whether one of about this many bytes may be written: no more than their share in all. */
  hasRoom(logBytes: number, bytes: number): boolean {
    if (this.#folder === null || this.#problem !== null) return false;
    const log = Math.max(logBytes, this.#files.at(-1)?.logBytes ?? 0);
    return this.#bytes() + bytes <= this.#share * log;
  }

  /** Writes one; what prevents it is noted, and nothing else is harmed. */
  write(seq: number, logBytes: number, content: Buffer): void {
    const folder = this.#folder;
    if (folder === null || !this.hasRoom(logBytes, content.length)) return;
    const temporary = join(folder, `.${randomUUID()}.tmp`);
    try {
      makeFolder(folder, 0o700);
      if (freeBytes(folder) < limits.freeSpaceBytes + content.length) {
        this.#problem = `${folder}: less than ${limits.freeSpaceBytes} bytes are free on its disk`;
        return;
      }
      writeWhole(temporary, content);
      renameSync(temporary, join(folder, nameOf({ seq, logBytes })));
      this.#files = [...this.#files.filter((one) => one.seq !== seq)];
      this.#files.push({ seq, logBytes, bytes: content.length });
      this.#files.sort((a, b) => a.seq - b.seq);
    } catch (error) {
      this.#problem = `${folder}: no checkpoint can be written: ${(error as Error).message}`;
      removeQuietly(temporary);
    }
  }

  #read(file: File): Checkpoint | null {
    try {
      return decodeCheckpoint(readFileSync(join(this.#folder!, nameOf(file))));
    } catch {
      return null;
    }
  }

  #remove(file: File): void {
    this.#files = this.#files.filter((one) => one !== file);
    try {
      rmSync(join(this.#folder!, nameOf(file)), { force: true });
    } catch (error) {
      this.#problem = `${this.#folder}: ${(error as Error).message}`;
    }
  }

  #bytes(): number {
    return this.#files.reduce((sum, { bytes }) => sum + bytes, 0);
  }
}

const nameOf = ({ seq, logBytes }: Pick<File, 'seq' | 'logBytes'>) =>
  `${String(seq).padStart(16, '0')}-${logBytes}.checkpoint`;

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function writeWhole(path: string, content: Buffer): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    for (let done = 0; done < content.length; ) done += writeSync(file, content, done);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // It was never made.
  }
}
