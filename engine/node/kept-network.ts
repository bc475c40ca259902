/**
 * A network in a folder that is only read: what is there, and what another process still adds to
 * it. It takes no lock and writes nothing.
 */

import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Admitted } from '../admit/admit.js';
import { Verification, type Verified } from '../admit/verify.js';
import type { Summary } from '../core/engine.js';
import type { Outcome } from '../core/state.js';
import { createVerifier } from '../crypto/create-verifier.js';
import { createOffVerifier, type Verifier } from '../crypto/verifier.js';
import { limits } from '../protocol/limits.js';
import { splitStored } from '../protocol/log.js';
import type { CommandKind } from '../protocol/schema/command.js';
import type { Genesis } from '../protocol/schema/genesis.js';
import { type Refusal, refuse } from '../protocol/schema/reason.js';
import { type RecordOf, SCHEMA_VERSION, type Table, tables } from '../protocol/schema/record.js';
import { agentId } from '../protocol/signing.js';
import { openLmdbStore } from '../store/lmdb.js';
import { type Store, StoreError, type StoreMeta } from '../store/store.js';
import type { PublishedEvent } from './encode.js';
import { Followers, type Network } from './network.js';
import { type Applied, readGenesis } from './open-store.js';
import { type CommittedView, Views } from './views.js';

/** Which folder is read, and who is told when it is lost. */
export interface KeptOptions {
  /** The folder of a network: another process may write to it. */
  path: string;
  /** Whether a look at the data comes first, and refuses what is damaged. Default: true. */
  whole?: boolean;
  /** Called once when the folder is deleted, replaced or damaged: what was read stays readable. */
  onLost?: (why: string) => void;
}

/** How often the folder is looked at, and how many new events are told at a time. */
const LOOK_MS = 100;
const PAGE = 1_024;

const advice = 'whoever holds the network takes writes: folkmoot serve --data FOLDER';

/**
 * A network in a folder, only to be read and served: a finished run, or one that another process
 * goes on with, which is followed. Whatever would write is refused.
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
  /** The last event that followers were told. */
  #notified: number;
  /** Its parameters, as entry 0 has them. */
  readonly genesis: Genesis;
  /** Drawn once per folder. */
  readonly epoch: string;
  /** Where it is kept. */
  readonly folder: string;
  /** It is on disk. */
  readonly durableOnDisk = true;
  /** Signatures, of known keys over any text. */
  readonly verification: Verification;
  /** Reads of what is committed. */
  readonly read: Views;
  /** Why nothing can be written, and what to do instead. */
  readonly readOnly: string;
  /** Nothing waits for the disk here. */
  readonly backlog = 0;

  private constructor(store: Store, meta: StoreMeta, { path, onLost = () => {} }: KeptOptions) {
    this.#store = store;
    this.genesis = readGenesis(store);
    this.epoch = meta.epoch;
    this.folder = path;
    this.readOnly = `${path} is only read here; ${advice}`;
    const signed = this.genesis.signatures !== 'none';
    this.#verifier = signed ? createVerifier('inline') : createOffVerifier();
    this.verification = new Verification(this.#verifier, this.knows);
    const clock = { now: () => this.time };
    this.read = new Views(store, this.genesis, clock, this.#viewOf(meta));
    this.#notified = meta.event_seq;
    this.#lookout = new FolderPoll(path, LOOK_MS, () => this.#poll(), onLost);
  }

  /**
   * Opens a folder for reading, and looks whether its data is whole, as far as that is quick:
   * `replay` says whether all of it follows from its log.
   *
   * @throws {StoreError} when no network is there, or it is damaged or unreadable.
   */
  static open(options: KeptOptions): KeptNetwork {
    const { path, whole = true } = options;
    const folder = { path, tables, schemaVersion: SCHEMA_VERSION };
    const store = openLmdbStore({ ...folder, readOnly: true, whole });
    try {
      const end = store.meta();
      if (!end) throw new StoreError('NO_NETWORK', { path });
      if (whole) assertWhole(store, end, path);
      return new KeptNetwork(store, end, options);
    } catch (error) {
      void store.close();
      throw error;
    }
  }

  /** Why nothing new is read any more, or null. */
  get lost(): string | null {
    return this.#lookout.lost;
  }

  /** Its time, in milliseconds since 1970: where its log ends. */
  get time(): number {
    return this.read.position.at;
  }

  /** Whether an agent has this key (hex, lower case). */
  knows = (publicKey: string): boolean =>
    this.#store.get('agents', agentId(publicKey)) !== undefined;

  /** Refused, as all that would write. */
  precheck(): Outcome {
    return { result: 'refused', refusal: refuse('READ_ONLY', this.readOnly) };
  }

  /** Refused, as all that would write. */
  apply(): Applied {
    return { outcome: this.precheck(), events: [], durable: this.durable };
  }

  /** Deadlines are for whoever goes on with it. */
  fireDeadlines(): readonly [] {
    return [];
  }

  /** Nobody votes here. */
  votesUntilClose = (): number => 0;

  /** What it shows is durable. */
  get durable(): Promise<void> {
    return Promise.resolve();
  }

  /** What an operator watches: signatures that were checked, and no commits. */
  get stats() {
    const none = { commits: 0, entries: 0, commitMs: 0, commitSizes: [] as number[] };
    return { ...this.#verifier.stats, ...none };
  }

  /** Calls back with events that another process adds; returns how to stop that. */
  onEvents = (listener: (events: readonly PublishedEvent[]) => void): (() => void) =>
    this.#followers.listen(listener);

  /** Looks no more, and closes the folder. */
  async close(): Promise<void> {
    this.#lookout.close();
    this.#followers.end();
    await this.#store.close();
    await this.#verifier.close();
  }

  /** What another process has added meanwhile. */
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

  /** Counted when it is asked for: agents are many. */
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

/** @throws {StoreError} when an archive lacks something, or the last entry is not the log's end. */
function assertWhole(store: Store, end: StoreMeta, path: string): void {
  const [problem] = store.archive?.problems() ?? [];
  if (problem !== undefined) throw new StoreError('ARCHIVE_PROBLEM', { problem });
  const last = store.entry(end.seq);
  const { digest, logDigest } = last ? splitStored(last) : { digest: '', logDigest: '' };
  if (digest === end.digest && logDigest === end.log_digest) return;
  if (!last) throw new StoreError('ENTRY_MISSING', { seq: end.seq });
  throw new StoreError('LAST_ENTRY_MISMATCH', { seq: end.seq, path });
}

class FolderPoll {
  readonly #file: string;
  readonly #opened: number;
  readonly #timer: NodeJS.Timeout;
  readonly #poll: () => void;
  readonly #onLost: (why: string) => void;
  /** What the last look found. A folder may be between two names: only what lasts is told. */
  #found: string | null = null;
  /** Why it is looked at no more, or null. */
  lost: string | null = null;

  /** `look` may throw: then what is there cannot be read. It never holds the process. */
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
    this.lost = `${folder} ${why}: what was read before is still shown, and nothing new`;
    this.#onLost(this.lost);
  }

  #problem(): string | null {
    try {
      const now = statSync(this.#file, { throwIfNoEntry: false });
      if (!now) return 'was deleted';
      if (now.ino !== this.#opened) return 'was replaced by another';
      this.#poll();
      return null;
    } catch (error) {
      return `cannot be read any more (${(error as Error).message})`;
    }
  }
}

/**
 * A request that was let in elsewhere, or nobody waits for here any more, and what became of it:
 * what it costs its agent is counted here as well.
 *
 * @internal
 */
export interface Spent {
  kind: CommandKind;
  /** Hex, lower case. */
  publicKey: string;
  /** Hex. */
  signature: string;
  /** Of its body and its file. */
  bytes: number;
  /** The address that it came from, as limits count it; empty where nobody said. */
  spender: string;
  outcome: Outcome;
  /** How long ago it was done, in ms. */
  ageMs: number;
}

/**
 * What a server needs of a network: one that goes on in this process, or one in a folder that is
 * only read.
 */
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
  /** As {@link Network.precheck}; a promise where others may know more. */
  precheck(admitted: Admitted): Outcome | null | Promise<Outcome | null>;
  /**
   * As {@link Network.apply}; a promise where others fix the order. They count it for `spender`,
   * the address that it came from as limits count it.
   */
  apply(verified: Verified, spender?: string): Applied | Promise<Applied>;
  /**
   * Calls back with what is spent elsewhere; whoever is the first is told what was read so far.
   * Absent where all is asked here.
   *
   * @internal
   */
  onSpent?(listener: (spent: Spent) => void): void;
  /**
   * Resolves once all is durable here that any node of the network has told anybody so far, or with
   * why that is not known. Absent where nobody else tells anything.
   */
  readonly barrier?: () => Promise<Refusal | null>;
  /** For how long, in ms, it has not heard what others do; 0 as long as it does. Absent without. */
  readonly cutOffMs?: () => number;
  /** Why nothing can be written to it, and what to do instead; absent where it can. */
  readonly readOnly?: string;
}

/** The same that an engine gives which goes on where the records end, at that time. */
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
  if (json === undefined) throw new StoreError('RECORD_MISSING', { table, key });
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

/** What the last minute finalized, ascending; what is finalized at one instant as one. */
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
