/**
 * Group commit without timers: whatever was applied during one commit is the next batch. Callers
 * and events are published after a batch is durable, never before.
 */
import { type Outcome, refusedOutcome } from '../core/state.js';
import { countSize, limits } from '../protocol/limits.js';
import { commitWhenRoom } from '../store/environment.js';
import { crashPoint } from '../store/process-end.js';
import type { Batch, Store, StoreMeta } from '../store/store.js';
import type { PublishedEvent } from './encode.js';
import { type IndexItem, IndexWriter } from './entry-index.js';

type Content = Omit<Batch, 'meta' | 'events' | 'index'> & {
  events: PublishedEvent[];
  indexed: IndexItem[];
};

/** What the queue asks of its owner. */
interface Owner<V> {
  /** The state that the batch ends in: taken together with the batch. */
  snapshot(): { meta: StoreMeta; view: V };
  /** The batch is durable: its events may be published. */
  committed(view: V, batch: Pick<Content, 'events' | 'changes'>): void;
  /** It is unknown whether the commit holds: nothing may be answered or published any more. */
  failed(error: Error): void;
}

interface Pending extends Content {
  /** Whether there is anything to commit, be it only where the batch ends. */
  begun: boolean;
  bytes: number;
  durable: Promise<void>;
  resolve: () => void;
  reject: (error: Error) => void;
}

function newPending(): Pending {
  const { promise, resolve, reject } = withResolvers();
  return {
    entries: [],
    events: [],
    changes: [],
    blobs: [],
    indexed: [],
    begun: false,
    bytes: 0,
    durable: promise,
    resolve,
    reject,
  };
}

// Promise.withResolvers comes with Node 22.
function withResolvers() {
  let resolve!: () => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<void>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  // Whoever awaits it sees the failure; nobody may be waiting.
  promise.catch(() => {});
  return { promise, resolve, reject };
}

export class CommitQueue<V> {
  readonly #store: Store;
  readonly #owner: Owner<V>;
  readonly #index: IndexWriter;
  #next = newPending();
  #inFlight: Pending | null = null;
  #failure: Promise<void> | null = null;
  /** Durable entries, the time that their commits took, and the sizes of these. */
  readonly #committed = { entries: 0, commitMs: 0, commitSizes: [] as number[] };

  constructor(store: Store, owner: Owner<V>) {
    this.#store = store;
    this.#owner = owner;
    this.#index = new IndexWriter(store, store.meta());
  }

  /** Entries that are applied but not durable. */
  get backlog(): number {
    return this.#next.entries.length + (this.#inFlight?.entries.length ?? 0);
  }

  /** What became durable since it was opened. */
  get stats() {
    return { commits: this.#store.commits, ...this.#committed };
  }

  /** Why nothing more can be added, or null. */
  unable(): Outcome | null {
    if (!this.#hasRoom()) return refusedOutcome('DISK_FULL').outcome;
    const { backlog } = this;
    const full = backlog >= limits.pendingEntries || this.#next.bytes >= limits.pendingBytes;
    return full ? refusedOutcome('COMMIT_QUEUE_FULL', { backlog }).outcome : null;
  }

  /** Whether the disk has room for more than what waits. A disk that does not say has failed. */
  #hasRoom(): boolean {
    try {
      return this.#store.hasRoom(this.#next.bytes + (this.#inFlight?.bytes ?? 0));
    } catch (error) {
      this.#fail(this.#next, error as Error);
      return false;
    }
  }

  /** Resolves when everything added so far is durable; rejects when that is unknown. */
  get durable(): Promise<void> {
    if (this.#failure) return this.#failure;
    if (this.#next.begun) return this.#next.durable;
    return this.#inFlight?.durable ?? Promise.resolve();
  }

  add(content: Content): void {
    const next = this.#next;
    for (const entry of content.entries) {
      next.entries.push(entry);
      next.bytes += entry.bytes.length;
    }
    for (const event of content.events) next.events.push(event);
    for (const change of content.changes) next.changes.push(change);
    for (const one of content.indexed) next.indexed.push(one);
    for (const blob of content.blobs) {
      next.blobs.push(blob);
      next.bytes += blob.bytes.length;
    }
    this.begin();
  }

  /** What comes first in a batch starts it, after this turn; a running commit starts the next. */
  begin(): void {
    if (this.#next.begun) return;
    this.#next.begun = true;
    if (!this.#inFlight) queueMicrotask(() => void this.#run());
  }

  async #run(): Promise<void> {
    while (this.#next.begun && !this.#inFlight && !this.#failure) {
      const batch = this.#next;
      this.#next = newPending();
      this.#inFlight = batch;
      try {
        await this.#commit(batch);
      } catch (cause) {
        this.#fail(batch, cause instanceof Error ? cause : new Error(String(cause)));
      }
      this.#inFlight = null;
    }
  }

  async #commit(batch: Pending): Promise<void> {
    const { entries, events, changes, blobs, indexed } = batch;
    const { meta, view } = this.#owner.snapshot();
    const start = performance.now();
    const index = this.#index.rows(indexed);
    await commitWhenRoom(this.#store, { entries, events, changes, blobs, index, meta });
    this.#committed.entries += entries.length;
    if (entries.length > 0) countSize(this.#committed.commitSizes, entries.length);
    this.#committed.commitMs += performance.now() - start;
    this.#owner.committed(view, { events, changes });
    batch.resolve();
    crashPoint('publish.after');
  }

  /** Nothing may be answered any more: whoever waits, or will, is refused. */
  #fail(batch: Pending, error: Error): void {
    batch.reject(error);
    this.#next.reject(error);
    this.#failure = Promise.reject(error);
    this.#failure.catch(() => {});
    this.#owner.failed(error);
  }
}
