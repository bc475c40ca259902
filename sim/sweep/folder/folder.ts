/** The folder of a sweep: sweep.json says what it is, runs/ holds a file for each finished run. */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  fileBounds,
  lockFolder,
  makeFolder,
  readBounded,
  StoreError,
} from '../../../engine/internal.js';
import { refuseNetwork, syncFolder } from '../../../report/folder.js';
import { removeParts, writeWhole } from '../../../report/whole-file.js';
import { sweepTables } from '../../measure/dictionary.js';
import type { RunRecord } from '../record.js';
import { type Share, shardText } from '../shard.js';
import { headText, partedBy, type SweepHead } from './head.js';
import { type RunName, runNamed, runPath } from './names.js';
import { SEAL } from './seal.js';

/** A folder that cannot be used as it was asked: a user can mend it. */
export class SweepError extends Error {
  override name = 'SweepError';
}

/** What is made of the runs at the end. */
const made = ['report.html', 'scenario.json', SEAL, ...Object.keys(sweepTables)];

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
   * @param share what may be there: of a shard, its own runs.
   * @throws {SweepError} when another process has it, or it holds something else.
   * @throws {StoreError} where a network has its data.
   */
  static async open(
    path: string,
    head: SweepHead,
    resume: boolean,
    share: Share,
  ): Promise<SweepFolder> {
    refuseNetwork(path);
    const folder = new SweepFolder(path, lock(path));
    try {
      await folder.#begin(head, resume, share);
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
    const { replicate } = record;
    writeWhole(this.path, runPath({ key, replicate }), `${JSON.stringify(record, null, 2)}\n`);
    this.note({ key, replicate });
  }

  /** Where it is wanted, it will be made again. */
  remove(key: string, replicate: number): void {
    rmSync(join(this.path, runPath({ key, replicate })), { force: true });
    this.#there.get(key)?.delete(replicate);
  }

  /** The file of this run is there. */
  note({ key, replicate }: RunName): void {
    const there = this.#there.get(key) ?? new Set();
    this.#there.set(key, there.add(replicate));
  }

  read(key: string, replicate: number): RunRecord {
    const file = join(this.path, runPath({ key, replicate }));
    try {
      return JSON.parse(readBounded(file, fileBounds.result).toString()) as RunRecord;
    } catch (cause) {
      const advice = 'remove it, and --resume runs it again';
      throw new StoreError('CORRUPT', `${file} cannot be read; ${advice}`, { cause });
    }
  }

  close(): void {
    this.#release();
  }

  async #begin(head: SweepHead, resume: boolean, share: Share): Promise<void> {
    const runs = join(this.path, 'runs');
    const isThere = existsSync(join(this.path, 'sweep.json'));
    if (!isThere && existsSync(runs)) {
      throw new SweepError(`${this.path} holds runs of something else; expected a new folder`);
    }
    const isGrown = isThere && this.#isGrown(head, resume);
    if (isThere) this.#look(runs, head, share);
    // First, so that at no time tables of fewer runs lie beside what says that there are more.
    if (isGrown) for (const name of made) rmSync(join(this.path, name), { force: true });
    if (isGrown || !isThere) writeWhole(this.path, 'sweep.json', headText(head));
    makeFolder(runs);
    await syncFolder(this.path);
    for (const folder of [this.path, runs]) await removeParts(folder);
  }

  /** Whether there is more of it now; what is another sweep is refused. */
  #isGrown(head: SweepHead, resume: boolean): boolean {
    if (!resume) {
      const advice = 'expected a new folder, or --resume to go on with it';
      throw new SweepError(`${this.path} holds a sweep already; ${advice}`);
    }
    const there = readText(join(this.path, 'sweep.json'));
    if (there === headText(head)) return false;
    const parted = partedBy(parsed(there, this.path), head);
    if (parted === null) return true;
    throw new SweepError(`${this.path} holds another sweep: ${parted}; nothing was changed`);
  }

  /** Notes what is there. With more of some things, runs are dealt to other shards than before. */
  #look(runs: string, { shard }: SweepHead, share: Share): void {
    for (const file of existsSync(runs) ? readdirSync(runs) : []) {
      const run = runNamed(file);
      if (!run) continue;
      if (shard && !share(run.key, run.replicate)) {
        const dealt = `which is none of shard ${shardText(shard)} as it is dealt now`;
        const advice = 'expected a new folder; replicates can be added, where until is not used';
        const what = `${this.path} holds the run ${file}, ${dealt}`;
        throw new SweepError(`${what}; nothing was changed; ${advice}`);
      }
      this.note(run);
    }
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

function readText(file: string): string {
  try {
    return readBounded(file, fileBounds.result).toString();
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
