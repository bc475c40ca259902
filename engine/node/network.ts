/**
 * The embedded network: orders requests, applies them, commits in groups, then answers callers and
 * publishes events, never before they are durable. An error in between ends the process, and
 * restart is the recovery, because the state on disk always equals the end of the log.
 */
import { type Admitted, admit, copyRequest } from '../admit/admit.js';
import { isVerified, Verification, type Verified } from '../admit/verify.js';
import type { Engine, Step } from '../core/engine.js';
import { type Outcome, refusedOutcome } from '../core/state.js';
import { createOffVerifier, type Verifier } from '../crypto/verifier.js';
import { Digests } from '../protocol/log.js';
import { createEntry, type Entry, type SignedRequest } from '../protocol/schema/entry.js';
import type { Event } from '../protocol/schema/event.js';
import type { Genesis } from '../protocol/schema/genesis.js';
import { type Refusal, refuse } from '../protocol/schema/reason.js';
import { sha256Hex } from '../protocol/signing.js';
import type { Batch, OrderMark, Store, StoreMeta } from '../store/store.js';
import { type Clock, systemClock, Timekeeper } from './clock.js';
import { CommitQueue } from './commit-queue.js';
import { encodeStep, type PublishedEvent } from './encode.js';
import { toIndexItem } from './entry-index.js';
import {
  type Applied,
  endProcess,
  type NetworkOptions,
  type OpenedStore,
  openStore,
} from './open-store.js';
import { type CommittedView, type Overlay, Views } from './views.js';

/**
 * A network in this process: requests are verified, applied in order, committed in groups, and then
 * answered and published. Its state always equals the end of its log.
 *
 * @example
 * ```ts
 * import { composeRegister, createVerifier, generateKeyPair, Network, signatory } from 'folkmoot';
 *
 * const verifier = createVerifier('inline');
 * const genesis = { network_id: 'demo' };
 * const network = await Network.open({ memory: true, genesis, verifier });
 * const ada = { name: 'Ada', personality: 'lawful', capabilities: ['validator'] as const };
 * const request = composeRegister(signatory(generateKeyPair()), new Date().toISOString(), ada);
 * const outcome = await network.submit(await network.verify(request));
 * console.log(outcome.result, network.read.networkState().active_validators); // accepted 1
 * await network.close();
 * await verifier.close();
 * ```
 */
export class Network {
  readonly #store: Store;
  readonly #verifier: Verifier;
  readonly #engine: Engine;
  readonly #overlay: Overlay;
  readonly #digests: Digests;
  readonly #queue: CommitQueue<CommittedView>;
  readonly #onFatal: (error: Error) => void;
  readonly #followers = new Followers();
  /** Its parameters, as entry 0 has them. */
  readonly genesis: Genesis;
  /** Whether what is published survives the process. */
  readonly durableOnDisk: boolean;
  /** Where it is kept; null in memory. */
  readonly folder: string | null;
  /** Drawn once per folder: event numbers of another epoch belong to another history. */
  readonly epoch: string;
  /** Its time, which whoever runs it may hold. */
  readonly time: Timekeeper;
  /** Signatures, all at once or one after the other. */
  readonly verification: Verification;
  /** Reads of what is committed. */
  readonly read: Views;
  #mark: OrderMark | undefined;
  #closing: Promise<void> | null = null;
  #state: 'open' | 'closing' | 'failed' = 'open';

  private constructor(options: NetworkOptions, opened: OpenedStore, clock: Clock) {
    this.#store = opened.store;
    this.#verifier = opened.genesis.signatures === 'none' ? createOffVerifier() : options.verifier;
    this.durableOnDisk = opened.store.kind === 'lmdb';
    this.folder = options.memory ? null : (options.path ?? null);
    this.#engine = opened.engine;
    this.time = new Timekeeper(clock, this.#engine, () => this.fireDeadlines());
    this.verification = new Verification(this.#verifier, this.knows);
    this.#overlay = opened.overlay;
    this.#onFatal = options.onFatal ?? endProcess;
    this.genesis = opened.genesis;
    this.epoch = opened.meta.epoch;
    this.#mark = opened.meta.order;
    this.#digests = new Digests(opened.meta.log_digest, opened.meta.digest);
    this.read = new Views(opened.store, opened.genesis, this.time.clock, this.#view(opened.meta));
    this.#queue = new CommitQueue(opened.store, {
      snapshot: () => {
        const meta = this.#meta();
        return { meta, view: this.#view(meta) };
      },
      committed: (view, batch) => this.#committed(view, batch),
      failed: (error) => this.#fail(error),
    });
    this.time.setAlarm();
  }

  /**
   * Opens a network, new or where it was left.
   * @throws {StoreError} when the folder is locked, of another network, damaged or unreadable.
   * @throws {TypeError} when neither `path` nor `memory` is given, or a parameter is out of bounds.
   */
  static async open(options: NetworkOptions): Promise<Network> {
    const opened = await openStore(options, options.clock ?? systemClock());
    return new Network(options, opened, options.clock ?? systemClock(opened.meta.at));
  }

  /**
   * Checks form and signatures; whether the timestamp is recent is for the caller to check. A
   * request of any form is refused, never thrown at; it is copied, so that the caller may change it
   * afterwards.
   */
  async verify(request: SignedRequest): Promise<Verified | { refusal: Refusal }> {
    const admitted = admit(copyRequest(request), this.genesis.network_id);
    return 'refusal' in admitted ? admitted : this.verifyAdmitted(admitted);
  }

  /** The second half of `verify`, for callers that look at the command in between. */
  async verifyAdmitted(admitted: Admitted): Promise<Verified | { refusal: Refusal }> {
    if (this.#state !== 'open') return { refusal: refuse('NETWORK_CLOSED') };
    return this.verification.all(admitted);
  }

  /** Whether an agent has this key (hex, lower case). */
  knows = (publicKey: string): boolean => this.#engine.hasKey(publicKey);

  /**
   * The outcome of a request that would change nothing, or null: a cheap look ahead, before anybody
   * pays for its signatures. Deadlines that are due must have fired (`fireDeadlines`).
   */
  precheck(admitted: Admitted): Outcome | null {
    return this.unable() ?? this.#engine.precheck(admitted.command, this.time.now);
  }

  /**
   * Applies a request now; what it did is durable when `durable` resolves. What `verify` did not
   * give is refused.
   */
  apply(verified: Verified): Applied {
    const unable = this.unable() ?? (isVerified(verified) ? null : unverified());
    if (unable) return { outcome: unable, events: [], durable: Promise.resolve() };
    return this.#apply(verified);
  }

  /**
   * Applies, in one turn, what an order has at `mark`, whose time its clock shows.
   *
   * @internal
   */
  applyOrdered(requests: readonly Verified[], mark: OrderMark): Applied[] {
    this.#mark = mark;
    this.#fireUntil(this.time.now);
    this.#queue.begin();
    return requests.map((verified) => this.#apply(verified));
  }

  #apply({ request, command }: Verified): Applied {
    const at = this.time.now;
    const ticked = this.#fireUntil(at);
    const seq = this.#engine.position.seq + 1;
    const step = this.#guard(() => this.#engine.apply({ seq, at, command }));
    const { outcome } = step;
    if (outcome?.result === 'accepted' || outcome?.result === 'equivocation') {
      const file = request.kind === 'meme' ? request.file : undefined;
      this.#append(createEntry(seq, at, request), step, file);
    }
    this.time.setAlarm();
    const events = ticked.length === 0 ? step.events : [...ticked, ...step.events];
    return { outcome: outcome!, events, durable: this.#queue.durable };
  }

  /**
   * Applies what `verify` gave and waits until the outcome rests on durable state only. A request
   * that `verify` refused stays refused, and so is what `verify` did not give.
   */
  async submit(verified: Verified | { refusal: Refusal }): Promise<Outcome> {
    if (typeof verified !== 'object' || verified === null) return unverified();
    if ('refusal' in verified) return { result: 'refused', refusal: verified.refusal };
    const { outcome, durable } = this.apply(verified);
    await durable;
    return outcome;
  }

  /**
   * Fires all deadlines before `now`, each as an entry of its own; a live clock does so by itself.
   * @returns the events that they caused.
   */
  fireDeadlines(): readonly Event[] {
    const events = this.unable() ? [] : this.#fireUntil(this.time.now);
    if (this.#state === 'open') this.time.setAlarm();
    return events;
  }

  /** When something happens by itself next, or null. */
  nextDeadline = (): number | null => this.#engine.nextDeadline();

  /** The overall reputation of the agent with this key, of 1,000,000, as of what is applied. */
  reputationOf = (publicKey: string): number => this.#engine.reputationOf(publicKey);

  /** How many further votes close the block at the earliest; 0 when it is not open. */
  votesUntilClose = (blockHash: string): number => this.#engine.votesUntilClose(blockHash);

  /** The last entry that is applied, durable or not. */
  get applied(): number {
    return this.#engine.position.seq;
  }

  /** Entries applied but not yet durable. */
  get backlog(): number {
    return this.#queue.backlog;
  }

  /** What an operator watches; counted since the network was opened. */
  get stats() {
    return { ...this.#verifier.stats, ...this.#queue.stats };
  }

  /** Resolves when all that was applied so far is durable. */
  get durable(): Promise<void> {
    return this.#queue.durable;
  }

  /** Committed events after `since` (default: from now on), in order, until the network closes. */
  follow(since = this.read.position.event_seq): AsyncGenerator<Event, void> {
    return this.#followers.follow(this.read, since);
  }

  /** Calls back with the events of each commit, encoded; returns how to stop that. */
  onEvents = (listener: (events: readonly PublishedEvent[]) => void): (() => void) =>
    this.#followers.listen(listener);

  /** Commits and publishes what was applied, and closes the store; the verifier stays open. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#state === 'open') this.#state = 'closing';
    this.time.stop();
    try {
      if (this.#state === 'closing') await this.#queue.durable;
    } finally {
      this.#followers.end();
      await this.#store.close();
    }
  }

  /** Why nothing can be done now, or null. */
  unable(): Outcome | null {
    if (this.#state === 'failed') return refusedOutcome('NETWORK_FAILED').outcome;
    if (this.#state !== 'open') return refusedOutcome('NETWORK_CLOSED').outcome;
    if (this.time.held) return refusedOutcome('NETWORK_PAUSED').outcome;
    return this.#queue.unable();
  }

  /** One tick for each deadline, one millisecond after it. */
  #fireUntil(at: number): Event[] {
    const events: Event[] = [];
    for (;;) {
      const due = this.#engine.nextDeadline();
      if (due === null || due >= at) return events;
      const tick = { seq: this.#engine.position.seq + 1, at: due + 1 };
      const step = this.#guard(() => this.#engine.apply({ ...tick, command: null }));
      this.#append(createEntry(tick.seq, tick.at), step);
      events.push(...step.events);
    }
  }

  /** A step that cannot be logged leaves the engine ahead of the log: that stops the network. */
  #append(entry: Entry, step: Step, file?: Uint8Array): void {
    this.#guard(() => this.#log(entry, step, file));
  }

  #log(entry: Entry, step: Step, file?: Uint8Array): void {
    const { events, changes, results } = encodeStep(step);
    const entries = [{ seq: entry.seq, bytes: this.#digests.advance(entry, results) }];
    this.#overlay.add(entry.seq, step.changes);
    const blobs = file ? [{ hash: sha256Hex(file), bytes: file }] : [];
    this.#queue.add({ entries, events, changes, blobs, indexed: [toIndexItem(entry, step)] });
  }

  #meta(): StoreMeta {
    const { seq, at, event_seq } = this.#engine.position;
    const { logDigest, digest } = this.#digests;
    const { network_id, epoch, schema_version } = this.read.position;
    const end = { seq, at, event_seq, log_digest: logDigest, digest };
    return { schema_version, network_id, epoch, ...end, ...(this.#mark && { order: this.#mark }) };
  }

  #view(meta: StoreMeta): CommittedView {
    return { meta, summary: this.#engine.summary() };
  }

  #committed(
    view: CommittedView,
    { events, changes }: { events: readonly PublishedEvent[]; changes: Batch['changes'] },
  ): void {
    this.read.swap(view, changes);
    this.#overlay.remove(view.meta.seq);
    this.#followers.publish(events);
    this.time.setAlarm();
  }

  /** A throw in here is a bug: the engine's state cannot be trusted any more. */
  #guard<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      this.#fail(error as Error);
      throw error;
    }
  }

  #fail(error: Error): void {
    if (this.#state === 'failed') return;
    this.#state = 'failed';
    this.time.stop();
    this.#followers.end();
    this.#onFatal(error);
  }
}

const unverified = (): Outcome => refusedOutcome('REQUEST_NOT_VERIFIED').outcome;

type Listener = (events: readonly PublishedEvent[]) => void;

export class Followers {
  readonly #waiting = new Set<() => void>();
  readonly #listeners = new Set<Listener>();
  #ended = false;

  /** Calls back at each commit, in order, after it is durable. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Hands on events that were committed. */
  publish(events: readonly PublishedEvent[]): void {
    for (const listener of this.#listeners) listener(events);
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const resume of waiting) resume();
  }

  /** The store is about to close: who follows goes on where it was after the next opening. */
  end(): void {
    this.#ended = true;
    this.publish([]);
  }

  /** Committed events after `since`, read as fast as they are taken. */
  async *follow(read: Views, since: number): AsyncGenerator<Event, void> {
    let next = Math.max(0, since) + 1;
    while (!this.#ended) {
      const head = read.position.event_seq;
      if (head < next) {
        // Nothing awaits between this check and the wait: no commit can slip through.
        await new Promise<void>((resolve) => this.#waiting.add(resolve));
        continue;
      }
      // Read in whole pages: the store may close while a slow consumer holds one.
      const last = Math.min(head, next + PAGE - 1);
      const page = [...read.events(next, last)];
      next = last + 1;
      yield* page;
    }
  }
}

const PAGE = 256;
