/**
 * Group commit without timers: whatever was applied during one commit is the next batch. Callers
 * and followers are told after a batch is durable, never before.
 */
import { crashPoint } from './crash.js';
import type { ToldEvent } from './encode.js';
import { limits } from './limits.js';
import type { Batch, Store, StoreMeta } from './store/store.js';

type Content = Omit<Batch, 'meta' | 'events'> & { events: ToldEvent[] };

/** What the queue asks of its owner. */
interface Owner<V> {
  /** The state that the batch ends in: taken together with the batch. */
  snapshot(): { meta: StoreMeta; view: V };
  /** The batch is durable: its events may be told. */
  committed(view: V, events: readonly ToldEvent[]): void;
  /** The outcome of a commit is unknown: nothing may be told any more. */
  failed(error: Error): void;
}

interface Pending extends Content {
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
  #next = newPending();
  #running: Promise<void> | null = null;
  #inFlight = 0;
  /** Durable entries, and the time that their commits took. */
  readonly committed = { entries: 0, milliseconds: 0 };

  constructor(store: Store, owner: Owner<V>) {
    this.#store = store;
    this.#owner = owner;
  }

  /** Entries that are applied but not durable. */
  get backlog(): number {
    return this.#next.entries.length + this.#inFlight;
  }

  get full(): boolean {
    return this.backlog >= limits.pendingEntries || this.#next.bytes >= limits.pendingBytes;
  }

  /** Resolves when everything added so far is durable; rejects when that is unknown. */
  get durable(): Promise<void> {
    if (this.#next.entries.length > 0) return this.#next.durable;
    return this.#running ?? Promise.resolve();
  }

  add(content: Content): void {
    const next = this.#next;
    for (const entry of content.entries) {
      next.entries.push(entry);
      next.bytes += entry.bytes.length;
    }
    for (const event of content.events) next.events.push(event);
    for (const change of content.changes) next.changes.push(change);
    for (const blob of content.blobs) {
      next.blobs.push(blob);
      next.bytes += blob.bytes.length;
    }
    if (!this.#running) {
      this.#running = this.#run();
      this.#running.catch(() => {});
    }
  }

  async #run(): Promise<void> {
    try {
      // The first batch takes what is applied in this turn of the event loop, not one entry.
      await null;
      while (this.#next.entries.length > 0) await this.#commit();
    } finally {
      this.#running = null;
    }
  }

  async #commit(): Promise<void> {
    const { durable: _, resolve, reject, bytes: __, ...content } = this.#next;
    this.#next = newPending();
    this.#inFlight = content.entries.length;
    const { meta, view } = this.#owner.snapshot();
    const start = performance.now();
    try {
      await this.#store.commit({ ...content, meta });
    } catch (cause) {
      const error = cause instanceof Error ? cause : new Error(String(cause));
      reject(error);
      this.#next.reject(error);
      this.#owner.failed(error);
      throw error;
    }
    this.#inFlight = 0;
    this.committed.entries += content.entries.length;
    this.committed.milliseconds += performance.now() - start;
    this.#owner.committed(view, content.events);
    resolve();
    crashPoint('tell.after');
  }
}
