/** The folder of a sweep: sweep.json says what it is, runs/ holds a file for each finished run. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lockFolder, makeFolder, StoreError } from '../../engine/internal.js';
import { syncFolder } from '../../report/folder.js';
import type { Provenance } from '../../report/provenance.js';
import { removeParts, writeWhole } from '../../report/whole-file.js';
import { jsonDifference } from '../compare/index.js';
import type { Plan } from './plan.js';
import type { RunRecord } from './record.js';

/** A folder that cannot be used as it was asked: a user can mend it. */
export class SweepError extends Error {
  override name = 'SweepError';
}

/** sweep.json: the same again, or the runs in the folder are of another sweep. */
export type SweepHead = Provenance &
  Pick<Plan, 'cells' | 'runs' | 'modules' | 'scenario' | 'design'>;

export class SweepFolder {
  readonly path: string;
  /** 1 where the run is there, by its number. */
  readonly #there: Uint8Array;
  #count = 0;
  readonly #release: () => void;

  private constructor(path: string, runs: number, release: () => void) {
    this.path = path;
    this.#there = new Uint8Array(runs + 1);
    this.#release = release;
  }

  /**
   * @param resume whether to go on with what is there; a folder without a sweep begins one.
   * @throws {SweepError} when another process has it, or it holds something else.
   */
  static async open(path: string, head: SweepHead, resume: boolean): Promise<SweepFolder> {
    const folder = new SweepFolder(path, head.runs, lock(path));
    try {
      await folder.#begin(head, resume);
      return folder;
    } catch (error) {
      folder.close();
      throw error;
    }
  }

  /** How many runs are there. */
  get count(): number {
    return this.#count;
  }

  has(run: number): boolean {
    return this.#there[run] === 1;
  }

  save(record: RunRecord): void {
    const name = join('runs', `${record.run}.json`);
    writeWhole(this.path, name, `${JSON.stringify(record, null, 2)}\n`);
    this.#note(record.run);
  }

  read(run: number): RunRecord {
    const file = this.#fileOf(run);
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
    const file = join(this.path, 'sweep.json');
    const runs = join(this.path, 'runs');
    if (existsSync(file)) {
      if (!resume) {
        const advice = 'expected a new folder, or --resume to go on with it';
        throw new SweepError(`${this.path} holds a sweep already; ${advice}`);
      }
      const found = jsonDifference(readHead(file), JSON.parse(JSON.stringify(head)));
      if (found) {
        const what = `${found.path} is ${found.a} there and ${found.b} now`;
        throw new SweepError(`${this.path} holds another sweep: ${what}; nothing was changed`);
      }
    } else if (existsSync(runs)) {
      throw new SweepError(`${this.path} holds runs of something else; expected a new folder`);
    } else {
      writeWhole(this.path, 'sweep.json', `${JSON.stringify(head, null, 2)}\n`);
    }
    makeFolder(runs);
    await syncFolder(this.path);
    for (const folder of [this.path, runs]) await removeParts(folder);
    for (const name of readdirSync(runs)) {
      const run = Number(/^([1-9]\d*)\.json$/.exec(name)?.[1]);
      if (run <= head.runs) this.#note(run);
    }
  }

  #note(run: number): void {
    this.#count += 1 - this.#there[run]!;
    this.#there[run] = 1;
  }

  #fileOf(run: number): string {
    return join(this.path, 'runs', `${run}.json`);
  }
}

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

function readHead(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new SweepError(`${file} cannot be read: ${(error as Error).message}`);
  }
}
