/**
 * Moves a live network's old entries into archive segments, one small step per event-loop turn.
 * Moves only durable entries that the engine no longer reads.
 */
import { limits } from '../protocol/limits.js';
import { hostClock, sleep } from '../store/host-clock.js';
import { StoreError, storeError } from '../store/messages.js';
import { type Batch, keysUnder, type Store, type StoreArchive } from '../store/store.js';

/** Options for archiving old entries into compressed segments. See docs/archives.md. */
export interface ArchiveOptions {
  /** Approximate number of recent entries to keep in the store. Default: no archiving. */
  archiveAfter?: number;
  /** Called after each new segment. */
  onArchived?: (moved: { first: number; last: number; file: string }) => void;
  /** Called if a segment cannot be written. Nothing is lost, and the archiver retries later. */
  onArchiveFault?: (error: Error) => void;
}

/** Delay before a retry after a fault. */
const RETRY_MS = 60_000;

/**
 * Returns the first entry that must stay in the store. Opening a network reads the proposals for
 * open blocks, and the last entry's time.
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
 * Wraps a store so that it archives in the background after commits, until it is closed. After an
 * archiver transaction fails, every commit fails.
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

/** Reports the first missing segment, and the number of further missing segments. */
function noteProblems(archive: StoreArchive, onFault: (error: Error) => void): void {
  const problems = archive.problems();
  const [problem] = problems;
  if (problem === undefined) return;
  const count = problems.length;
  const one = storeError('ARCHIVE_PROBLEM', { problem });
  onFault(count === 1 ? one : storeError('ARCHIVE_PROBLEMS', { count, problem }));
}

class Archiver {
  readonly #store: Store;
  readonly #archive: StoreArchive;
  readonly #options: ArchiveOptions;
  /** Set after a failed transaction, whose result is unknown. */
  failure: StoreError | null = null;
  /** Minimum number of entries in a segment. */
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
    // An earlier process may have ended before it deleted archived entries.
    if (archive.end.entry > 0) this.#start();
  }

  /** Starts archiving after a commit if there are enough entries for a segment. */
  committed(seq: number): void {
    if (this.#running || this.#stopped || this.failure || this.#due(seq) === null) return;
    if (hostClock.monotonic() >= this.#restUntil) this.#start();
  }

  /** Stops after the current segment or transaction. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  #start(): void {
    // Starts in the next turn, so that callers waiting for the commit continue first.
    this.#running = sleep(hostClock, 0)
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
      this.#restUntil = hostClock.monotonic() + RETRY_MS;
      if (error instanceof StoreError && error.code === 'FAILED') this.failure = error;
      (this.#options.onArchiveFault ?? noteFault)(error);
    }
  }

  /** Deletes some archived entries, or writes a segment. Returns false if nothing is due. */
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

  /** Returns the end (exclusive) of the entries to archive; null if there are too few entries. */
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
