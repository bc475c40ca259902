/** A read-only network in a folder that others may extend. Takes no lock and writes nothing. */

import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Admitted } from '../admit/admit.js';
import { Verification, type Verified } from '../admit/verify.js';
import type { Summary } from '../core/engine.js';
import type { Outcome } from '../core/state.js';
import { createVerifier } from '../crypto/pool.js';
import { createOffVerifier, type Verifier } from '../crypto/verifier.js';
import { limits } from '../protocol/limits.js';
import { splitStored } from '../protocol/log.js';
import type { CommandKind } from '../protocol/schema/command.js';
import type { Genesis } from '../protocol/schema/genesis.js';
import { type Refusal, refuse } from '../protocol/schema/reason.js';
import { type RecordOf, SCHEMA_VERSION, type Table, tables } from '../protocol/schema/record.js';
import { agentId } from '../protocol/signing.js';
import { openLmdbStore } from '../store/lmdb.js';
import { storeError } from '../store/messages.js';
import type { Store, StoreMeta } from '../store/store.js';
import { newCounts } from './commit-queue.js';
import type { PublishedEvent } from './encode.js';
import { Followers, type Network } from './network.js';
import { type Applied, readGenesis } from './open-store.js';
import type { CommittedView } from './state-views.js';
import { Views } from './views.js';

/** Options of a read-only network in a folder. */
export interface KeptOptions {
  /** The network's folder. A different process may write to it. */
  path: string;
  /** Checks the data on opening, and refuses damaged data. Default: true. */
  whole?: boolean;
  /** Called once if the folder is deleted, replaced or damaged. Earlier data stays readable. */
  onLost?: (why: string) => void;
}

/** Poll interval for the folder, and number of events per page. */
const LOOK_MS = 100;
const PAGE = 1_024;

/**
 * A read-only network in a folder: a finished run, or a network that a different process writes and
 * this one follows. Refuses all writes.
 *
 * @example
 * ```ts
 * import { KeptNetwork } from 'folkmoot';
 * import { startServer } from 'folkmoot/api';
 * import { completeScenario, simulate } from 'folkmoot/sim';
 *
 * const agents = [{ group: 'town', count: 20, producers: 2 }];
 * const scenario = completeScenario({ title: 'Small', agents, length: { blocks: 2 } });
 * await simulate(scenario, { out: 'run' });
 * const network = KeptNetwork.open({ path: 'run/network' });
 * const server = await startServer({ network, port: 0, version: '1.0.0' });
 * const answer = await fetch(`${server.url}/api/v1/network/state`);
 * console.log(answer.status, network.read.networkState().block_height); // 200 2
 * await server.close();
 * await network.close();
 * ```
 */
export class KeptNetwork implements ServedNetwork {
  readonly #store: Store;
  readonly #verifier: Verifier;
  readonly #followers = new Followers();
  readonly #lookout: FolderPoll;
  /** Number of the last event that was published to followers. */
  #notified: number;
  /** Network parameters, from entry 0. */
  readonly genesis: Genesis;
  /** The folder's random id. */
  readonly epoch: string;
  readonly folder: string;
  readonly durableOnDisk = true;
  /** Verifies registered keys' signatures over any text. */
  readonly verification: Verification;
  /** Reads of committed state. */
  readonly read: Views;
  /** Message with which writes are refused. */
  readonly readOnly: string;
  readonly backlog = 0;

  private constructor(store: Store, meta: StoreMeta, { path, onLost = () => {} }: KeptOptions) {
    this.#store = store;
    this.genesis = readGenesis(store);
    this.epoch = meta.epoch;
    this.folder = path;
    this.readOnly = refuse('NETWORK_READ_ONLY', { folder: path }).message;
    const signed = this.genesis.signatures !== 'none';
    this.#verifier = signed ? createVerifier('inline') : createOffVerifier();
    this.verification = new Verification(this.#verifier, this.knows);
    const clock = { now: () => this.time };
    this.read = new Views(store, this.genesis, clock, this.#viewOf(meta));
    this.#notified = meta.event_seq;
    this.#lookout = new FolderPoll(path, LOOK_MS, () => this.#poll(), onLost);
  }

  /**
   * Opens a folder for reading, after a quick check of its data. Only `replay` checks all data.
   *
   * @throws {StoreError} if the folder contains no network, or its data is damaged or unreadable.
   */
  static open(options: KeptOptions): KeptNetwork {
    const { path, whole = true } = options;
    const folder = { path, tables, schemaVersion: SCHEMA_VERSION };
    const store = openLmdbStore({ ...folder, readOnly: true, whole });
    try {
      const end = store.meta();
      if (!end) throw storeError('NO_NETWORK', { path });
      if (whole) assertWhole(store, end, path);
      return new KeptNetwork(store, end, options);
    } catch (error) {
      void store.close();
      throw error;
    }
  }

  /** Reason why the folder is no longer read, or null. */
  get lost(): string | null {
    return this.#lookout.lost;
  }

  /** Time of the last entry, in milliseconds since 1970. */
  get time(): number {
    return this.read.position.at;
  }

  /** Returns true for a registered key (hex, lower case). */
  knows = (publicKey: string): boolean =>
    this.#store.get('agents', agentId(publicKey)) !== undefined;

  /** Refuses every request. */
  precheck(): Outcome {
    return { result: 'refused', refusal: refuse('NETWORK_READ_ONLY', { folder: this.folder }) };
  }

  /** Refuses every request. */
  apply(): Applied {
    return { outcome: this.precheck(), events: [], durable: this.durable };
  }

  /** Does nothing, because the process that writes to the folder fires deadlines. */
  fireDeadlines(): readonly [] {
    return [];
  }

  votesUntilClose = (): number => 0;

  get durable(): Promise<void> {
    return Promise.resolve();
  }

  /** Counters for operators. */
  get stats() {
    return { ...this.#verifier.stats, commits: 0, ...newCounts() };
  }

  /** Calls back with events from the writing process. Returns a function that unsubscribes. */
  onEvents = (listener: (events: readonly PublishedEvent[]) => void): (() => void) =>
    this.#followers.listen(listener);

  /** Stops polling and closes the folder. */
  async close(): Promise<void> {
    this.#lookout.close();
    this.#followers.end();
    await this.#store.close();
    await this.#verifier.close();
  }

  /** Publishes events that the writing process has added. */
  #poll(): void {
    const meta = this.#store.meta()!;
    if (meta.seq !== this.read.position.seq) this.read.swap(this.#viewOf(meta));
    while (this.#notified < meta.event_seq) {
      const events = this.#events(
        this.#notified + 1,
        Math.min(meta.event_seq, this.#notified + PAGE),
      );
      this.#notified += PAGE;
      this.#followers.publish(events);
    }
    this.#notified = meta.event_seq;
  }

  /** Computes the summary on demand, because computing it reads all agents. */
  #viewOf(meta: StoreMeta): CommittedView {
    const store = this.#store;
    let summary: CommittedView['summary'] | undefined;
    return {
      meta,
      get summary() {
        summary ??= summaryOf(store, meta.at);
        return summary;
      },
    };
  }

  #events(from: number, to: number): PublishedEvent[] {
    return [...this.read.eventTexts(from, to)].map((event) => {
      const closes = event.type === 'block_status';
      return { ...event, status: closes ? JSON.parse(event.json).data.status : null };
    });
  }
}

/** @throws {StoreError} if the archive is incomplete, or the last entry's digests differ. */
function assertWhole(store: Store, end: StoreMeta, path: string): void {
  const [problem] = store.archive?.problems() ?? [];
  if (problem !== undefined) throw storeError('ARCHIVE_PROBLEM', { problem });
  const last = store.entry(end.seq);
  const { digest, logDigest } = last ? splitStored(last) : { digest: '', logDigest: '' };
  if (digest === end.digest && logDigest === end.log_digest) return;
  if (!last) throw storeError('ENTRY_MISSING', { seq: end.seq });
  throw storeError('LAST_ENTRY_MISMATCH', { seq: end.seq, path });
}

class FolderPoll {
  readonly #file: string;
  readonly #opened: number;
  readonly #timer: NodeJS.Timeout;
  readonly #poll: () => void;
  readonly #onLost: (why: string) => void;
  /** Problem of the last poll. Reported only if it persists: the folder may be being renamed. */
  #found: string | null = null;
  /** Reason why polling has stopped, or null. */
  lost: string | null = null;

  /** `look` throws if the folder cannot be read. The timer does not keep the process alive. */
  constructor(folder: string, everyMs: number, look: () => void, onLost: (why: string) => void) {
    this.#file = join(folder, 'data.mdb');
    this.#opened = statSync(this.#file).ino;
    this.#poll = look;
    this.#onLost = onLost;
    this.#timer = setInterval(() => this.#watch(folder), everyMs);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #watch(folder: string): void {
    const why = this.#problem();
    const lasts = why === this.#found;
    this.#found = why;
    if (why === null || !lasts) return;
    this.close();
    this.lost = `${folder} ${why}; no new data is read`;
    this.#onLost(this.lost);
  }

  #problem(): string | null {
    try {
      const now = statSync(this.#file, { throwIfNoEntry: false });
      if (!now) return 'was deleted';
      if (now.ino !== this.#opened) return 'was replaced';
      this.#poll();
      return null;
    } catch (error) {
      return `cannot be read (${(error as Error).message})`;
    }
  }
}

/**
 * A request that a different node admitted, or whose client has disconnected, with its outcome. The
 * request's cost is charged here too.
 *
 * @internal
 */
export interface Spent {
  kind: CommandKind;
  /** Hex, lower case. */
  publicKey: string;
  /** Hex. */
  signature: string;
  /** Total size of the body and the file. */
  bytes: number;
  /** Client address as counted by the limits; empty if unknown. */
  spender: string;
  outcome: Outcome;
  /** Time since the outcome. */
  ageMs: number;
}

/** The network behind a server: a live network, a cluster node, or a read-only folder. */
export interface ServedNetwork
  extends Pick<
    Network,
    | 'genesis'
    | 'durableOnDisk'
    | 'folder'
    | 'epoch'
    | 'verification'
    | 'read'
    | 'knows'
    | 'fireDeadlines'
    | 'votesUntilClose'
    | 'backlog'
    | 'stats'
    | 'durable'
    | 'onEvents'
  > {
  /** As {@link Network.precheck}; a promise in a cluster. */
  precheck(admitted: Admitted): Outcome | null | Promise<Outcome | null>;
  /**
   * As {@link Network.apply}; a promise in a cluster. Cluster nodes charge `spender`, the client
   * address as counted by the limits.
   */
  apply(verified: Verified, spender?: string): Applied | Promise<Applied>;
  /**
   * Calls back with the costs of requests at other nodes. The first listener receives earlier costs
   * too. Absent outside a cluster.
   *
   * @internal
   */
  onSpent?(listener: (spent: Spent) => void): void;
  /**
   * Resolves with null once all state that any node has returned to a client so far is durable
   * here. Resolves with a refusal if the durability is unknown. Absent outside a cluster.
   */
  readonly barrier?: () => Promise<Refusal | null>;
  /** Time without contact with the cluster, in ms; 0 while connected. Absent outside a cluster. */
  readonly cutOffMs?: () => number;
  /** Message with which writes are refused; absent if the network is writable. */
  readonly readOnly?: string;
}

/** Computes the summary that an engine would return if restored from the records. */
function summaryOf(store: Store, at: number): Summary {
  const head = read(store, 'network', 'head');
  return {
    block_height: head.height,
    head_hash: head.head_hash,
    ...activeIn(store),
    pending_transactions: pendingIn(store),
    recent: recentIn(store, at),
  };
}

function read<T extends Table>(store: Store, table: T, key: string): RecordOf[T] {
  const json = store.get(table, key);
  if (json === undefined) throw storeError('RECORD_MISSING', { table, key });
  return JSON.parse(json) as RecordOf[T];
}

function activeIn(store: Store) {
  const active = { active_validators: 0, active_producers: 0 };
  for (const { key, json } of store.range('agents')) {
    if (read(store, 'agent_states', key as string).state !== 'active') continue;
    const { capabilities } = JSON.parse(json) as RecordOf['agents'];
    if (capabilities.includes('validator')) active.active_validators += 1;
    if (capabilities.includes('producer')) active.active_producers += 1;
  }
  return active;
}

function pendingIn(store: Store): number {
  let pending = 0;
  for (const { key } of store.range('open')) {
    const [what, id] = key as readonly [string, string];
    if (what === 'block') pending += read(store, 'blocks', id).context.transactions;
  }
  return pending;
}

/** Counts the transactions finalized in the last minute, one row per instant in ascending order. */
function recentIn(store: Store, at: number): { at: number; count: number }[] {
  const recent: { at: number; count: number }[] = [];
  for (const { json } of store.range('heights', { reverse: true })) {
    const { block_hash } = JSON.parse(json) as RecordOf['heights'];
    const { closed_at, transactions } = read(store, 'blocks', block_hash).context;
    if (closed_at <= at - limits.throughputWindowMs) break;
    if (transactions === 0) continue;
    if (recent[0]?.at === closed_at) recent[0].count += transactions;
    else recent.unshift({ at: closed_at, count: transactions });
  }
  return recent;
}
