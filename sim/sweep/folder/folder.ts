/** The folder of a sweep: sweep.json says what it is, runs/ holds a file for each finished run. */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { lockFolder, makeFolder, StoreError } from '../../../engine/internal.js';
import { refuseNetwork, syncFolder } from '../../../report/folder.js';
import { removeParts, writeWhole } from '../../../report/whole-file.js';
import { sweepTables } from '../../measure/dictionary.js';
import type { RunRecord } from '../record.js';
import { partedBy, type SweepHead } from './head.js';

/** A folder that cannot be used as it was asked: a user can mend it. */
export class SweepError extends Error {
  override name = 'SweepError';
}

/** What is made of the runs at the end. */
const made = ['report.html', ...Object.keys(sweepTables)];

export class SweepFolder {
  readonly path: string;
  /** The replicates that are there, by the key of their cell. */
  readonly #there = new Map<string, Set<number>>();
  readonly #release: () => void;

  private constructor(path: string, release: () => void) {
    this.path = path;
    this.#release = release;
  }

  /**
   * @param resume whether to go on with what is there; a folder without a sweep begins one.
   * @throws {SweepError} when another process has it, or it holds something else.
   * @throws {StoreError} where a network has its data.
   */
  static async open(path: string, head: SweepHead, resume: boolean): Promise<SweepFolder> {
    refuseNetwork(path);
    const folder = new SweepFolder(path, lock(path));
    try {
      await folder.#begin(head, resume);
      return folder;
    } catch (error) {
      folder.close();
      throw error;
    }
  }

  /** Whether no run is there yet. */
  get isEmpty(): boolean {
    return this.#there.size === 0;
  }

  has(key: string, replicate: number): boolean {
    return this.#there.get(key)?.has(replicate) ?? false;
  }

  save(key: string, record: RunRecord): void {
    const text = `${JSON.stringify(record, null, 2)}\n`;
    writeWhole(this.path, nameOf(key, record.replicate), text);
    this.#note(key, record.replicate);
  }

  read(key: string, replicate: number): RunRecord {
    const file = join(this.path, nameOf(key, replicate));
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as RunRecord;
    } catch (cause) {
      const advice = 'remove it, and --resume runs it again';
      throw new StoreError('CORRUPT', `${file} cannot be read; ${advice}`, { cause });
    }
  }

  close(): void {
    this.#release();
  }

  async #begin(head: SweepHead, resume: boolean): Promise<void> {
    const runs = join(this.path, 'runs');
    const text = `${JSON.stringify(head, null, 2)}\n`;
    if (existsSync(join(this.path, 'sweep.json'))) this.#goOn(text, resume);
    else if (existsSync(runs)) {
      throw new SweepError(`${this.path} holds runs of something else; expected a new folder`);
    } else writeWhole(this.path, 'sweep.json', text);
    makeFolder(runs);
    await syncFolder(this.path);
    for (const folder of [this.path, runs]) await removeParts(folder);
    for (const name of readdirSync(runs)) {
      const [, key, replicate] = /^([0-9a-f]{16})-([1-9]\d*)\.json$/.exec(name) ?? [];
      if (key !== undefined) this.#note(key, Number(replicate));
    }
  }

  /** With the same sweep, or the same with more of something. */
  #goOn(text: string, resume: boolean): void {
    if (!resume) {
      const advice = 'expected a new folder, or --resume to go on with it';
      throw new SweepError(`${this.path} holds a sweep already; ${advice}`);
    }
    const there = readText(join(this.path, 'sweep.json'));
    if (there === text) return;
    const parted = partedBy(parsed(there, this.path), JSON.parse(text) as SweepHead);
    if (parted !== null) {
      throw new SweepError(`${this.path} holds another sweep: ${parted}; nothing was changed`);
    }
    // First, so that at no time tables of fewer runs lie beside what says that there are more.
    for (const name of made) rmSync(join(this.path, name), { force: true });
    writeWhole(this.path, 'sweep.json', text);
  }

  #note(key: string, replicate: number): void {
    const there = this.#there.get(key) ?? new Set();
    this.#there.set(key, there.add(replicate));
  }
}

const nameOf = (key: string, replicate: number): string => join('runs', `${key}-${replicate}.json`);

function lock(path: string): () => void {
  try {
    makeFolder(path);
    return lockFolder(path);
  } catch (error) {
    if (error instanceof StoreError && error.code === 'LOCKED') {
      throw new SweepError(`${path}: another process is at work on this sweep`);
    }
    throw new SweepError(`${path} cannot be used: ${(error as Error).message}`);
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new SweepError(`${file} cannot be read: ${(error as Error).message}`);
  }
}

function parsed(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new SweepError(`${path}/sweep.json cannot be read: ${(error as Error).message}`);
  }
}
