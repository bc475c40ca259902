/**
 * Group commit without timers. Entries applied during a commit form the next batch. Callers get
 * their outcomes, and events are published, only after the batch is durable.
 */

import type { Change } from '../core/changes.js';
import { type Outcome, refusedOutcome } from '../core/state.js';
import { assertInvariant } from '../protocol/invariants.js';
import { countSize, Durations, limits } from '../protocol/limits.js';
import { splitStored } from '../protocol/log.js';
import { sha256Hex } from '../protocol/signing.js';
import { commitWhenRoom } from '../store/environment.js';
import type { HostClock } from '../store/host-clock.js';
import { crashPoint } from '../store/process-end.js';
import type { Batch, Store, StoreMeta } from '../store/store.js';
import type { EncodedStep, PublishedEvent } from './encode.js';
import { type IndexItem, IndexWriter } from './entry-index.js';

interface Content extends Omit<Batch, 'meta' | 'events' | 'index' | 'changes'> {
  events: PublishedEvent[];
  changes: Change[];
  indexed: IndexItem[];
}

interface Owner<V> {
  /** Returns the state at the end of the batch. Called when the commit of the batch begins. */
  snapshot(): { meta: StoreMeta; view: V };
  /** Verifies what the batch still needs before its commit; null if everything is verified. */
  settle(): Promise<void> | null;
  /** Called when a batch is durable and its events can be published. */
  committed(view: V, batch: Pick<Content, 'events' | 'changes'>): void;
  /** Called when a commit's result is unknown. The owner must stop responding and publishing. */
  failed(error: Error): void;
}

interface Pending extends Content {
  /** True if the batch must be committed even if it only moves the end of the log. */
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

// Promise.withResolvers needs Node 22.
function withResolvers() {
  let resolve!: () => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<void>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  // Prevents an unhandled rejection if no caller is waiting.
  promise.catch(() => {});
  return { promise, resolve, reject };
}

export const newCounts = () => ({
  entries: 0,
  commitMs: 0,
  commitSizes: [] as number[],
  commitTimes: new Durations(),
});

export class CommitQueue<V> {
  readonly #store: Store;
  readonly #host: HostClock;
  readonly #owner: Owner<V>;
  readonly #index: IndexWriter;
  #next = newPending();
  #inFlight: Pending | null = null;
  #failure: Promise<void> | null = null;
  /** Number of durable entries, and the durations and the sizes of their commits. */
  readonly #committed = newCounts();

  constructor(store: Store, host: HostClock, owner: Owner<V>) {
    this.#store = store;
    this.#host = host;
    this.#owner = owner;
    this.#index = new IndexWriter(store, store.meta());
  }

  /** Number of entries that are applied but not yet durable. */
  get backlog(): number {
    return this.#next.entries.length + (this.#inFlight?.entries.length ?? 0);
  }

  /** Commits since the network was opened. */
  get stats() {
    return { commits: this.#store.commits, ...this.#committed };
  }

  /** Returns a refusal if no entry can be added, or null. */
  unable(): Outcome | null {
    if (!this.#hasRoom()) return refusedOutcome('DISK_FULL').outcome;
    const { backlog } = this;
    const full = backlog >= limits.pendingEntries || this.#next.bytes >= limits.pendingBytes;
    return full ? refusedOutcome('COMMIT_QUEUE_FULL', { backlog }).outcome : null;
  }

  /** Returns true if the disk has room beyond the backlog. Unknown free space fails the queue. */
  #hasRoom(): boolean {
    try {
      return this.#store.hasRoom(this.#next.bytes + (this.#inFlight?.bytes ?? 0));
    } catch (error) {
      this.#fail(this.#next, error as Error);
      return false;
    }
  }

  /** Resolves when all added entries are durable. Rejects if their durability is unknown. */
  get durable(): Promise<void> {
    if (this.#failure) return this.#failure;
    if (this.#next.begun) return this.#next.durable;
    return this.#inFlight?.durable ?? Promise.resolve();
  }

  /** Adds an encoded entry, and a meme's file. */
  add(bytes: Uint8Array, { events, changes }: EncodedStep, item: IndexItem, file?: Uint8Array) {
    const next = this.#next;
    next.entries.push({ seq: item.seq, bytes });
    next.bytes += bytes.length;
    for (const event of events) next.events.push(event);
    for (const change of changes) next.changes.push(change);
    next.indexed.push(item);
    if (file) {
      next.blobs.push({ hash: sha256Hex(file), bytes: file });
      next.bytes += file.length;
    }
    this.begin();
  }

  /** Begins a batch, which is committed after this turn or after the running commit. */
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
    const unsettled = this.#owner.settle();
    if (unsettled) await unsettled;
    if (this.#failure) return this.#failure;
    assertHeads(entries, meta);
    const start = this.#host.monotonic();
    const index = this.#index.rows(indexed);
    const content = { entries, events, changes, blobs, index, meta };
    await commitWhenRoom(this.#store, content, this.#host);
    assertStored(this.#store, entries.at(-1));
    this.#committed.entries += entries.length;
    if (entries.length > 0) countSize(this.#committed.commitSizes, entries.length);
    const ms = this.#host.monotonic() - start;
    this.#committed.commitMs += ms;
    this.#committed.commitTimes.add(ms);
    this.#owner.committed(view, { events, changes });
    batch.resolve();
    crashPoint('publish.after');
  }

  /** Rejects all waiting and future callers. No further batch is committed. */
  stop(error: Error): void {
    if (this.#failure) return;
    this.#inFlight?.reject(error);
    this.#next.reject(error);
    this.#failure = Promise.reject(error);
    this.#failure.catch(() => {});
  }

  #fail(batch: Pending, error: Error): void {
    batch.reject(error);
    this.stop(error);
    this.#owner.failed(error);
  }
}

/** Asserts that the last entry of a batch carries the heads of both digest chains. */
function assertHeads(entries: Content['entries'], meta: StoreMeta): void {
  const last = entries.at(-1);
  if (!last) return;
  const { logDigest, digest } = splitStored(last.bytes);
  assertInvariant(logDigest === meta.log_digest, 'LOG_HEAD', logDigest, meta.log_digest);
  assertInvariant(digest === meta.digest, 'STATE_HEAD', digest, meta.digest);
}

/** Asserts that the last entry of a batch is on disk in full, before it is published. */
function assertStored(store: Store, last: Content['entries'][number] | undefined): void {
  // Some stores in memory keep no log.
  if (!last || store.kind !== 'lmdb') return;
  const found = store.entry(last.seq)?.length;
  assertInvariant(found === last.bytes.length, 'STORED_LENGTH', found, last.bytes.length);
}
