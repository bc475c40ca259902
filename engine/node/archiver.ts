/**
 * Moves a network's past into segments while it serves: the last entries stay in the store, older
 * ones go, a bit each turn. Never touches what is not durable, nor what the engine may read.
 */
import { setImmediate } from 'node:timers/promises';
import { limits } from '../protocol/limits.js';
import {
  type Batch,
  keysUnder,
  type Store,
  type StoreArchive,
  StoreError,
} from '../store/store.js';

/** How a network moves its past into compressed segments while it serves: see docs/archives.md. */
export interface ArchiveOptions {
  /** Moves the past into segments, all but about this many of the last entries. Default: none. */
  archiveAfter?: number;
  /** Told of each segment. */
  onArchived?: (moved: { first: number; last: number; file: string }) => void;
  /** What keeps one from being made: nothing is lost, and it is tried again later. */
  onArchiveFault?: (error: Error) => void;
}

/** How long after a fault it is tried again. */
const RETRY_MS = 60_000;

/**
 * The first entry that has to stay: an opening reads the proposals of blocks in voting, and the
 * last entry says when the log ended.
 */
export function findFirstKept(store: Store): number {
  let first = store.meta()?.seq ?? 0;
  for (const { key } of store.range('open', keysUnder('block'))) {
    const record = store.get('blocks', (key as readonly [string, string])[1]);
    const { context } = JSON.parse(record!) as { context: { entry: number } };
    first = Math.min(first, context.entry);
  }
  return first;
}

/**
 * A store that archives in the background, after its commits and until it is closed. Once a
 * transaction of its own has failed, so does every commit.
 */
export function archiving(store: Store, options: ArchiveOptions): Store {
  if (!store.archive) return store;
  noteProblems(store.archive, options.onArchiveFault ?? noteFault);
  const archiver = new Archiver(store, store.archive, options);
  return Object.assign(Object.create(store) as Store, {
    async commit(batch: Batch) {
      if (archiver.failure) throw archiver.failure;
      await store.commit(batch);
      archiver.committed(batch.meta.seq);
    },
    async close() {
      await archiver.stop();
      await store.close();
    },
  });
}

/** The first of the segments that are not there, as a copy without its archive has none of them. */
function noteProblems(archive: StoreArchive, onFault: (error: Error) => void): void {
  const problems = archive.problems();
  const [problem] = problems;
  if (problem === undefined) return;
  const count = problems.length;
  const one = new StoreError('ARCHIVE_PROBLEM', { problem });
  onFault(count === 1 ? one : new StoreError('ARCHIVE_PROBLEMS', { count, problem }));
}

class Archiver {
  readonly #store: Store;
  readonly #archive: StoreArchive;
  readonly #options: ArchiveOptions;
  /** It is not known what was written. */
  failure: StoreError | null = null;
  /** Fewer are not worth a segment. */
  readonly #atLeast: number;
  #running: Promise<void> | null = null;
  #stopped = false;
  #restUntil = 0;

  constructor(store: Store, archive: StoreArchive, options: ArchiveOptions) {
    this.#store = store;
    this.#archive = archive;
    this.#options = options;
    const quarter = Math.ceil((options.archiveAfter ?? 0) / 4);
    this.#atLeast = Math.min(limits.archiveSegmentEntries, Math.max(1, quarter));
    // What an earlier process recorded and did not live to delete.
    if (archive.end.entry > 0) this.#start();
  }

  /** Something was committed: there may be enough for a segment. */
  committed(seq: number): void {
    if (this.#running || this.#stopped || this.failure || this.#due(seq) === null) return;
    if (performance.now() >= this.#restUntil) this.#start();
  }

  /** Ends after what is under way: a segment, or one transaction of deletes. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  #start(): void {
    // Not in the turn of a commit: whoever waits for it is told first.
    this.#running = setImmediate()
      .then(() => this.#run())
      .finally(() => {
        this.#running = null;
      });
  }

  async #run(): Promise<void> {
    try {
      while (!this.#stopped && (await this.#step()));
    } catch (cause) {
      const error = cause instanceof Error ? cause : new Error(String(cause));
      this.#restUntil = performance.now() + RETRY_MS;
      if (error instanceof StoreError && error.code === 'FAILED') this.failure = error;
      (this.#options.onArchiveFault ?? noteFault)(error);
    }
  }

  /** Deletes some of what segments hold, or makes a segment; false when there is nothing to do. */
  async #step(): Promise<boolean> {
    if (await this.#archive.trim()) return true;
    const due = this.#due(this.#store.meta()?.seq ?? 0);
    if (due === null || !this.#store.hasRoom()) return false;
    const before = Math.min(due, findFirstKept(this.#store));
    if (before - this.#archive.end.entry - 1 < this.#atLeast) return false;
    const moved = await this.#archive.move(before);
    if (moved === null) return false;
    const { first, last, file } = moved;
    this.#options.onArchived?.({ first, last, file });
    return true;
  }

  /** Entries below this may go, or null while there are too few of them. */
  #due(seq: number): number | null {
    const { archiveAfter } = this.#options;
    if (archiveAfter === undefined) return null;
    const before = seq - archiveAfter + 1;
    return before - this.#archive.end.entry - 1 >= this.#atLeast ? before : null;
  }
}

function noteFault(error: Error): void {
  process.stderr.write(`folkmoot: archive: ${error.message}\n`);
}
