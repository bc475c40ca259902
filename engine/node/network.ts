/**
 * The embedded network orders requests, applies them, commits them in groups, and only then
 * resolves outcomes and publishes events. An error between these steps ends the process. The state
 * on disk always matches the end of the log, so a restart recovers the network.
 */

import { type Admitted, admit, copyRequest } from '../admit/admit.js';
import { isVerified, Verification, type Verified } from '../admit/verify.js';
import type { Change } from '../core/changes.js';
import type { Engine, Input, Step } from '../core/engine.js';
import { type Outcome, refusedOutcome } from '../core/state.js';
import { createOffVerifier, type Verifier } from '../crypto/verifier.js';
import { assertInvariant } from '../protocol/invariants.js';
import { Digests } from '../protocol/log.js';
import { createEntry, type NewEntry, type SignedRequest } from '../protocol/schema/entry.js';
import type { Event } from '../protocol/schema/event.js';
import type { Genesis } from '../protocol/schema/genesis.js';
import { type Refusal, refuse } from '../protocol/schema/reason.js';
import { hostClock } from '../store/host-clock.js';
import type { OrderMark, Store, StoreMeta } from '../store/store.js';
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
import type { CommittedView } from './state-views.js';
import { type Overlay, Views } from './views.js';

/**
 * A network in this process. Verifies requests, applies them in order and commits them in groups.
 * The network's state always matches the end of its log.
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
  /** Network parameters, from entry 0. */
  readonly genesis: Genesis;
  /** True if published events survive process exit. */
  readonly durableOnDisk: boolean;
  /** The network's folder; null if the network is in memory. */
  readonly folder: string | null;
  /** The folder's random id. Event numbers from a different epoch belong to a different history. */
  readonly epoch: string;
  /** The network's time, which the operator can hold. */
  readonly time: Timekeeper;
  /** Verifies signatures, in one call or in steps. */
  readonly verification: Verification;
  /** Reads of committed state. */
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
    this.#queue = new CommitQueue(opened.store, options.host ?? hostClock, {
      snapshot: () => {
        const meta = this.#meta();
        return { meta, view: this.#view(meta) };
      },
      committed: (view, batch) => this.#committed(view, batch),
      settle: () => this.verification.settle(),
      failed: (error) => this.#fail(error),
    });
    this.time.setAlarm();
  }

  /**
   * Opens a new or existing network.
   * @throws {StoreError} if the folder is locked, damaged, unreadable or from a different network.
   * @throws {TypeError} if neither `path` nor `memory` is set, or a parameter is out of range.
   */
  static async open(options: NetworkOptions): Promise<Network> {
    const opened = await openStore(options, options.clock ?? systemClock());
    return new Network(options, opened, options.clock ?? systemClock(opened.meta.at));
  }

  /**
   * Checks a request's form and signatures, but not the freshness of its timestamp. Returns a
   * refusal for any invalid value and never throws. The request is copied, so the caller can reuse
   * its buffers.
   */
  async verify(request: SignedRequest): Promise<Verified | { refusal: Refusal }> {
    const admitted = admit(copyRequest(request), this.genesis.network_id);
    return 'refusal' in admitted ? admitted : this.verifyAdmitted(admitted);
  }

  /** Verifies an admitted request. This is the second half of `verify`. */
  async verifyAdmitted(admitted: Admitted): Promise<Verified | { refusal: Refusal }> {
    if (this.#state !== 'open') return { refusal: refuse('NETWORK_CLOSED') };
    return this.verification.all(admitted);
  }

  /** Returns true for a registered key (hex, lower case). */
  knows = (publicKey: string): boolean => this.#engine.hasKey(publicKey);

  /**
   * Returns the outcome if the request would change nothing, or null. Serves as a cheap check
   * before signatures are verified. Call `fireDeadlines` first.
   */
  precheck(admitted: Admitted): Outcome | null {
    return this.unable() ?? this.#engine.precheck(admitted.command, this.time.now);
  }

  /**
   * Applies a verified request now. Its effects are durable when `durable` resolves. Refuses a
   * value that is not a result of `verify`.
   */
  apply(verified: Verified): Applied {
    const unable = this.unable() ?? (isVerified(verified) ? null : unverified());
    if (unable) return { outcome: unable, events: [], durable: Promise.resolve() };
    return this.#apply(verified);
  }

  /**
   * Applies the requests at `mark` in a cluster's order, in one turn. The clock shows the mark's
   * time.
   *
   * @internal
   */
  applyOrdered(requests: readonly Verified[], mark: OrderMark): Applied[] {
    try {
      assertNext(mark, this.#mark);
    } catch (error) {
      throw this.#fail(error as Error);
    }
    this.#mark = mark;
    this.#fireUntil(this.time.now);
    this.#queue.begin();
    return requests.map((verified) => this.#apply(verified));
  }

  #apply(verified: Verified): Applied {
    const { request, command } = verified;
    const at = this.time.now;
    const ticked = this.#fireUntil(at);
    const seq = this.#engine.position.seq + 1;
    const step = this.#step({ seq, at, command });
    const { outcome } = step;
    if (outcome?.result === 'accepted' || outcome?.result === 'equivocation') {
      const file = request.kind === 'meme' ? request.file : undefined;
      this.#append(createEntry(seq, at, request), step, file);
      this.verification.recordApplied(verified);
    }
    this.time.setAlarm();
    const events = ticked.length === 0 ? step.events : [...ticked, ...step.events];
    return { outcome: outcome!, events, durable: this.#queue.durable };
  }

  /**
   * Applies a result of `verify`, and waits until all state that the outcome depends on is durable.
   * Returns a given refusal unchanged, and refuses any other value.
   */
  async submit(verified: Verified | { refusal: Refusal }): Promise<Outcome> {
    if (typeof verified !== 'object' || verified === null) return unverified();
    if ('refusal' in verified) return { result: 'refused', refusal: verified.refusal };
    const { outcome, durable } = this.apply(verified);
    await durable;
    return outcome;
  }

  /**
   * Fires all deadlines before `now`, with one tick for each instant that has deadlines. A system
   * clock does this automatically.
   * @returns the events that the deadlines emit.
   */
  fireDeadlines(): readonly Event[] {
    const events = this.unable() ? [] : this.#fireUntil(this.time.now);
    if (this.#state === 'open') this.time.setAlarm();
    return events;
  }

  /** Returns the time of the next deadline, or null. */
  nextDeadline = (): number | null => this.#engine.nextDeadline();

  /** Returns an agent's overall reputation by key, 0 to 1,000,000, as of the last applied entry. */
  reputationOf = (publicKey: string): number => this.#engine.reputationOf(publicKey);

  /** Returns the minimum number of further votes that close a block; 0 if the block is not open. */
  votesUntilClose = (blockHash: string): number => this.#engine.votesUntilClose(blockHash);

  /** Number of the last applied entry, even if not yet durable. */
  get applied(): number {
    return this.#engine.position.seq;
  }

  /** Number of entries that are applied but not yet durable. */
  get backlog(): number {
    return this.#queue.backlog;
  }

  /** Counters since the network was opened, for operators. */
  get stats() {
    return { ...this.#verifier.stats, ...this.#queue.stats };
  }

  /** Resolves when all applied entries are durable. */
  get durable(): Promise<void> {
    return this.#queue.durable;
  }

  /** Yields committed events after `since` (default: new events), until the network closes. */
  follow(since = this.read.position.event_seq): AsyncGenerator<Event, void> {
    return this.#followers.follow(this.read, since);
  }

  /** Calls back with each commit's encoded events. Returns a function that unsubscribes. */
  onEvents = (listener: (events: readonly PublishedEvent[]) => void): (() => void) =>
    this.#followers.listen(listener);

  /** Commits and publishes all applied entries, then closes the store. The verifier stays open. */
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

  /** Returns a refusal if no request can be applied now, or null. */
  unable(): Outcome | null {
    if (this.#state === 'failed') return refusedOutcome('NETWORK_FAILED').outcome;
    if (this.#state !== 'open') return refusedOutcome('NETWORK_CLOSED').outcome;
    if (this.time.held) return refusedOutcome('NETWORK_PAUSED').outcome;
    return this.#queue.unable();
  }

  /** Applies a tick for each deadline, one millisecond after it. */
  #fireUntil(at: number): Event[] {
    const events: Event[] = [];
    for (;;) {
      const due = this.#engine.nextDeadline();
      if (due === null || due >= at) return events;
      const tick = { seq: this.#engine.position.seq + 1, at: due + 1 };
      const step = this.#step({ ...tick, command: null });
      this.#append(createEntry(tick.seq, tick.at), step);
      events.push(...step.events);
    }
  }

  /** Stops the network if the engine throws, because its state is then unknown. */
  #step(input: Input): Step {
    try {
      return this.#engine.apply(input);
    } catch (error) {
      throw this.#fail(error as Error);
    }
  }

  /** Stops the network if a step cannot be logged, because the engine is then ahead of the log. */
  #append(entry: NewEntry, step: Step, file?: Uint8Array): void {
    try {
      this.#log(entry, step, file);
    } catch (error) {
      throw this.#fail(error as Error);
    }
  }

  #log(entry: NewEntry, step: Step, file?: Uint8Array): void {
    const encoded = encodeStep(step);
    const { events, results } = encoded;
    const { seq, at, event_seq } = this.#engine.position;
    assertInvariant(entry.seq === seq, 'LOGGED_ENTRY', entry.seq, seq);
    assertInvariant(entry.at === at, 'LOGGED_TIME', entry.at, at);
    const last = events.at(-1)?.seq ?? event_seq;
    assertInvariant(last === event_seq, 'LOGGED_EVENTS', last, event_seq);
    const bytes = this.#digests.advance(entry, results);
    this.#overlay.add(seq, step.changes);
    this.#queue.add(bytes, encoded, toIndexItem(entry, step), file);
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
    { events, changes }: { events: readonly PublishedEvent[]; changes: readonly Change[] },
  ): void {
    const { position } = this.read;
    assertInvariant(view.meta.seq >= position.seq, 'COMMIT_ORDER', view.meta.seq, position.seq);
    const first = events[0]?.seq ?? position.event_seq + 1;
    const expected = position.event_seq + 1;
    assertInvariant(first === expected, 'PUBLISHED_EVENT', first, expected);
    this.read.swap(view, changes);
    this.#overlay.remove(view.meta.seq, changes);
    this.#followers.publish(events);
    this.time.setAlarm();
  }

  /** Stops the network. Returns the error. */
  #fail(error: Error): Error {
    if (this.#state === 'failed') return error;
    this.#state = 'failed';
    this.time.stop();
    this.#followers.end();
    this.#queue.stop(error);
    this.#onFatal(error);
    return error;
  }
}

/** Asserts that a batch is the next one in the order. */
function assertNext(mark: OrderMark, last: OrderMark | undefined): void {
  if (!last) return;
  assertInvariant(mark.version === last.version + 1, 'ORDER_POSITION', mark.version, last.version);
  assertInvariant(mark.time >= last.time, 'ORDER_TIME', mark.time, last.time);
}

const unverified = (): Outcome => refusedOutcome('REQUEST_NOT_VERIFIED').outcome;

type Listener = (events: readonly PublishedEvent[]) => void;

export class Followers {
  readonly #waiting = new Set<() => void>();
  readonly #listeners = new Set<Listener>();
  #ended = false;

  /** Calls back after each durable commit, in order. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Publishes committed events. */
  publish(events: readonly PublishedEvent[]): void {
    for (const listener of this.#listeners) listener(events);
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const resume of waiting) resume();
  }

  /** Ends all followers before the store closes. They can resume after the next opening. */
  end(): void {
    this.#ended = true;
    this.publish([]);
  }

  /** Yields committed events after `since`, at the consumer's pace. */
  async *follow(read: Views, since: number): AsyncGenerator<Event, void> {
    let next = Math.max(0, since) + 1;
    while (!this.#ended) {
      const head = read.position.event_seq;
      if (head < next) {
        // No await comes between this check and the wait, so no commit is missed.
        await new Promise<void>((resolve) => this.#waiting.add(resolve));
        continue;
      }
      // Reads whole pages, because the store may close while a slow consumer holds a page.
      const last = Math.min(head, next + PAGE - 1);
      const page = [...read.events(next, last)];
      next = last + 1;
      yield* page;
    }
  }
}

const PAGE = 256;
