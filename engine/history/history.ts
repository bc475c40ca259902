/**
 * Reads a network's state after any entry. The first read replays the log and writes checkpoints,
 * from which later reads start.
 */
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Summary } from '../core/engine.js';
import { readGenesis, readProposal } from '../node/open-store.js';
import { LogReads, Views } from '../node/views.js';
import type { Genesis } from '../protocol/schema/genesis.js';
import { type RecordKey, SCHEMA_VERSION, tables } from '../protocol/schema/record.js';
import { storedLines } from '../replay/lines.js';
import { type LogLine, Recompute, type RecomputedHead } from '../replay/recompute.js';
import { prepareRule } from '../rules/sandbox.js';
import { DerivedFolder, type DerivedFrom } from '../store/derived-folder.js';
import { openLmdbStore } from '../store/lmdb.js';
import { defineStoreErrors, storeError } from '../store/messages.js';
import type { RecordChange, Store, StoreMeta } from '../store/store.js';
import { RecordsAt } from './records.js';

/** Errors of a history that does not follow from its log. */
const historyError = defineStoreErrors({
  CORRUPT: {
    ENTRY_DIVERGES: `stored data of entry {seq} does not follow from the log: {reason};
      run folkmoot replay on the folder for details`,
  },
});

/** Options of {@link History.open}. */
export interface HistoryOptions {
  /** The network's folder. This process or another one may have it open. */
  path: string;
  /** Folder for checkpoints, or false for none. Default: `history` in the network's folder. */
  checkpoints?: string | false | undefined;
  /** Minimum number of entries between two checkpoints. Default: 512. */
  spacing?: number | undefined;
  /** Size limit for all checkpoints together, as a share of the log's size. Default: 0.2. */
  share?: number | undefined;
}

/** Progress and cancellation of a historical read. */
export interface HistoryWork {
  /** Called with the last replayed entry and the target entry. */
  onProgress?: ((seq: number, to: number) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** A network's state after an entry. */
export interface Moment {
  /** The entry, its time, and both digests after it, as computed by `replay`. */
  readonly position: StoreMeta;
  readonly genesis: Genesis;
  /**
   * Reads of that state. One exception: the table `requests`, used to detect duplicates, lacks
   * requests that expired and were later accepted again.
   */
  readonly read: Views;
}

/** Default number of entries between checkpoints. Replaying an entry takes about 0.07 ms. */
const SPACING = 512;
const SHARE = 0.2;
/** Entries per event-loop turn. */
const TURN = 128;

/**
 * Reads a network's state and digests after any entry, from its folder. A writer in this or a
 * different process can have the folder open. The first read replays the log and writes checkpoints
 * (at most a fifth of the log's size), from which later reads start. Checkpoints can be deleted at
 * any time.
 *
 * @example
 * ```ts
 * import { History } from 'folkmoot';
 * import { completeScenario, simulate } from 'folkmoot/sim';
 *
 * const agents = [{ group: 'town', count: 20, producers: 2 }];
 * const scenario = completeScenario({ title: 'Small', agents, length: { blocks: 2 } });
 * const { digest } = await simulate(scenario, { out: 'run' });
 * const history = History.open({ path: 'run/network' });
 * const early = await history.at(10);
 * const late = await history.at(history.end.seq);
 * console.log([...early.read.agents()].length, late.read.networkState().block_height); // 10 2
 * console.log(late.position.digest === digest); // true
 * await history.close();
 * ```
 */
export class History {
  readonly #store: Store;
  readonly #folder: CheckpointFolder;
  readonly #spacing: number;
  /** Network parameters, from entry 0. */
  readonly genesis: Genesis;
  /** Serializes reads, because two concurrent reads would write the same checkpoints. */
  #turn: Promise<unknown> = Promise.resolve();
  #closed = false;
  /** Size of the last checkpoint in bytes. */
  #size = 0;

  private constructor(store: Store, options: HistoryOptions) {
    const { path, checkpoints, spacing = SPACING, share = SHARE } = options;
    this.#store = store;
    this.genesis = readGenesis(store);
    this.#spacing = spacing;
    const folder =
      checkpoints === false ? null : new DerivedFolder(checkpoints ?? join(path, 'history'), path);
    const log = new LogReads(store, () => this.end.seq);
    this.#folder = new CheckpointFolder(folder, share, (seq) =>
      log.sourceOf(CHECKPOINT_FORMAT, this.end, seq),
    );
  }

  /**
   * Opens a folder for historical reads. Writes only checkpoints.
   *
   * @throws {StoreError} if the folder holds no network, is damaged or is unreadable.
   */
  static open(options: HistoryOptions): History {
    const { path } = options;
    const store = openLmdbStore({ path, tables, schemaVersion: SCHEMA_VERSION, readOnly: true });
    try {
      if (!store.meta()) throw storeError('NO_NETWORK', { path });
      return new History(store, options);
    } catch (error) {
      void store.close();
      throw error;
    }
  }

  /** Current end of the log. */
  get end(): StoreMeta {
    return this.#store.meta()!;
  }

  /** Statistics about the checkpoints. */
  get checkpoints(): CheckpointStats {
    return this.#folder.stats;
  }

  /**
   * Returns the network's state after an entry. Writes missing checkpoints on the way, which takes
   * about a minute per million entries on an idle machine.
   *
   * @throws {RangeError} if the log does not contain the entry.
   * @throws {StoreError} `CORRUPT` if the stored data does not follow from the log.
   * @throws the reason of `signal` if it is aborted.
   */
  async at(seq: number, work: HistoryWork = {}): Promise<Moment> {
    const look = this.#turn.then(() => this.#openMoment(seq, work));
    this.#turn = look.catch(() => undefined);
    return look;
  }

  /** Writes missing checkpoints up to the end of the log. */
  async prepare(work: HistoryWork = {}): Promise<CheckpointStats> {
    await this.at(this.end.seq, work);
    return this.checkpoints;
  }

  /** Waits for running reads, then closes the store. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#turn;
    await this.#store.close();
  }

  async #openMoment(seq: number, work: HistoryWork): Promise<Moment> {
    if (this.#closed) throw new Error('the history is closed');
    const { end } = this;
    if (!Number.isSafeInteger(seq) || seq < 0 || seq > end.seq) {
      throw new RangeError(`entry not found: ${seq} (the log has entries 0 to ${end.seq})`);
    }
    work.signal?.throwIfAborted();
    await prepareRule(this.genesis);
    this.#folder.refresh();
    const from = await this.#folder.before(seq);
    const walk = new Walk(this.#store, this.genesis, from);
    await this.#go(walk, seq, work);
    const position = { ...end, ...walk.head };
    const store = storeAt(this.#store, walk.records, position);
    const clock = { now: () => position.at };
    const view = { meta: position, summary: walk.summary };
    return { position, genesis: this.genesis, read: new Views(store, this.genesis, clock, view) };
  }

  /** Replays up to an entry and writes checkpoints. */
  async #go(walk: Walk, to: number, { onProgress, signal }: HistoryWork): Promise<void> {
    let last = walk.seq;
    while (walk.seq < to) {
      const first = walk.seq + 1;
      const until = Math.min(to, first + Math.min(TURN, this.#spacing) - 1);
      // Reads all lines at once, so that no read transaction stays open across event-loop turns.
      for (const line of [...storedLines(this.#store, first, until)]) walk.step(line);
      if (walk.seq < until) throw storeError('ENTRY_MISSING', { seq: walk.seq + 1 });
      if (walk.seq - last >= this.#spacing && this.#folder.hasRoom(walk.logBytes, this.#size)) {
        this.#size = await this.#folder.write(walk.seq, walk.logBytes, walk.checkpoint());
        last = walk.seq;
      }
      if (walk.seq === to) return;
      onProgress?.(walk.seq, to);
      await setImmediate();
      signal?.throwIfAborted();
    }
  }
}

/* A checkpoint as text: one JSON line with its position in the log, then one line per record. */

interface Checkpoint {
  head: RecomputedHead;
  records: RecordChange[];
}

/** Must change with the encoding and with the set of records. */
export const CHECKPOINT_FORMAT = 'checkpoint 2';

function encodeCheckpoint(
  head: RecomputedHead,
  records: Iterable<RecordChange & { json: string }>,
): Buffer {
  const lines = [JSON.stringify(head)];
  // Canonical JSON contains neither tabs nor line feeds.
  for (const { table, key, json } of records)
    lines.push(`${table}\t${JSON.stringify(key)}\t${json}`);
  return Buffer.from(lines.join('\n'));
}

/** Returns null for invalid bytes. */
function decodeCheckpoint(bytes: Buffer): Checkpoint | null {
  try {
    const [first = '', ...lines] = bytes.toString().split('\n');
    return { head: JSON.parse(first) as RecomputedHead, records: lines.map(recordOf) };
  } catch {
    return null;
  }
}

function recordOf(line: string): RecordChange {
  const [table = '', key = '', json = ''] = line.split('\t');
  return { table, key: JSON.parse(key) as RecordKey, json };
}

/** A checkpoint file, with its entry and the size of the log up to that entry. */
interface File {
  seq: number;
  logBytes: number;
  bytes: number;
  inMemory: boolean;
}

/** Statistics of the checkpoint files. */
export interface CheckpointStats {
  count: number;
  bytes: number;
  /** Reason why checkpoints are no longer written, such as a missing permission; otherwise null. */
  problem: string | null;
}

const pattern = /^(\d{16})-(\d{1,16})\.checkpoint$/;

/** Identifies the log up to an entry. */
type SourceOf = (seq: number) => DerivedFrom | null;

class CheckpointFolder {
  readonly #folder: DerivedFolder | null;
  readonly #share: number;
  readonly #sourceOf: SourceOf;
  /** By entry, ascending. */
  #files: File[] = [];

  /** `share` limits the total size relative to the log. Without a folder, nothing is stored. */
  constructor(folder: DerivedFolder | null, share: number, sourceOf: SourceOf) {
    this.#folder = folder;
    this.#share = share;
    this.#sourceOf = sourceOf;
    this.refresh();
  }

  /** Returns statistics about files on disk, excluding files in memory. */
  get stats(): CheckpointStats {
    const files = this.#files.filter(({ inMemory }) => !inMemory);
    return { count: files.length, bytes: bytesOf(files), problem: this.#folder?.problem ?? null };
  }

  /** Reloads the list, because other processes can add and delete files. */
  refresh(): void {
    this.#files = [];
    for (const { name, bytes, inMemory } of this.#folder?.list() ?? []) {
      const [, seq, logBytes] = pattern.exec(name) ?? [];
      if (seq === undefined) continue;
      this.#files.push({ seq: Number(seq), logBytes: Number(logBytes), bytes, inMemory });
    }
    this.#files.sort((a, b) => a.seq - b.seq);
  }

  /** Returns the last valid checkpoint up to an entry. Removes invalid files. */
  async before(seq: number): Promise<{ checkpoint: Checkpoint; logBytes: number } | null> {
    for (;;) {
      const file = this.#files.findLast((one) => one.seq <= seq);
      if (!file) return null;
      const from = this.#sourceOf(file.seq);
      const content = from && (await this.#folder!.read(nameOf(file), from));
      const checkpoint = content && decodeCheckpoint(content);
      if (checkpoint) return { checkpoint, logBytes: file.logBytes };
      this.#files = this.#files.filter((one) => one !== file);
      if (content || !from) this.#folder!.remove(nameOf(file));
    }
  }

  /** Returns true if a checkpoint of about this size stays within the share. */
  hasRoom(logBytes: number, bytes: number): boolean {
    return this.#folder !== null && bytes <= this.#room(logBytes);
  }

  /** Writes a checkpoint if there is room. Returns the checkpoint's size. */
  async write(seq: number, logBytes: number, content: Buffer): Promise<number> {
    const from = this.#sourceOf(seq);
    if (!from || !this.#folder) return 0;
    const room = this.#room(logBytes);
    const bytes = await this.#folder.write(nameOf({ seq, logBytes }), from, content, room);
    this.refresh();
    return bytes;
  }

  #room(logBytes: number): number {
    const log = Math.max(logBytes, this.#files.at(-1)?.logBytes ?? 0);
    return this.#share * log - bytesOf(this.#files);
  }
}

const bytesOf = (files: readonly File[]) => files.reduce((sum, { bytes }) => sum + bytes, 0);

const nameOf = ({ seq, logBytes }: Pick<File, 'seq' | 'logBytes'>) =>
  `${String(seq).padStart(16, '0')}-${logBytes}.checkpoint`;

function storeAt(live: Store, records: RecordsAt, meta: StoreMeta): Store {
  const { seq: last, event_seq: lastEvent } = meta;
  return {
    kind: live.kind,
    commits: 0,
    meta: () => ({ ...meta }),
    get: (table, key) => records.get(table, key),
    range: (table, options) => records.range(table, options),
    entry: (seq) => (seq <= last ? live.entry(seq) : undefined),
    entries: (from, to) => live.entries(from, Math.min(to, last)),
    event: (seq) => (seq <= lastEvent ? live.event(seq) : undefined),
    events: (from, to) => live.events(from, Math.min(to, lastEvent)),
    blob: (hash) => live.blob(hash),
    *index(options) {
      for (const row of live.index(options)) if (row.seq <= last) yield row;
    },
    commit: () => Promise.reject(new TypeError('historical state is read-only')),
    hasRoom: () => false,
    close: async () => undefined,
    ...(live.archive ? { archive: live.archive } : {}),
  };
}

/** Entries after which write-once records are read from the store again, to bound memory. */
const REBASE = 256;

class Walk {
  readonly records: RecordsAt;
  readonly #recompute: Recompute;
  #unbased = 0;
  /** Size of all stored entries so far. */
  logBytes: number;

  /** Creates a walk that starts before entry 0 or after a checkpoint. */
  constructor(
    live: Store,
    genesis: Genesis,
    from: { checkpoint: Checkpoint; logBytes: number } | null,
  ) {
    const head = from?.checkpoint.head;
    this.records = new RecordsAt(live, head ?? null, from?.checkpoint.records);
    this.logBytes = from?.logBytes ?? 0;
    this.#recompute = new Recompute({
      records: this.records,
      after: head ? { head, genesis } : null,
      proposal: (entry) => readProposal(live, genesis, entry),
    });
  }

  /** Last applied entry; -1 before the first entry. */
  get seq(): number {
    return this.#recompute.entries - 1;
  }

  get summary(): Summary {
    return this.#recompute.engine!.summary();
  }

  /** Position and digests after the last applied entry. */
  get head(): RecomputedHead {
    const { engine, digest, logDigest: log_digest } = this.#recompute;
    return { ...engine!.position, log_digest, digest };
  }

  /** @throws {StoreError} `CORRUPT` if the stored entry does not follow from the log. */
  step(line: LogLine): void {
    const divergence = this.#recompute.apply(this.#recompute.admit([line]));
    if (divergence) {
      const { seq, what, expected, found } = divergence;
      const reason = `${what}: ${found} instead of ${expected}`;
      throw historyError('ENTRY_DIVERGES', { seq, reason });
    }
    this.logBytes += line.stored!.length;
    this.#unbased += 1;
    if (this.#unbased >= REBASE) this.#rebase();
  }

  checkpoint(): Buffer {
    this.#rebase();
    const { seq, at, event_seq, log_digest, digest } = this.head;
    const head = { seq, at, event_seq, log_digest, digest };
    return encodeCheckpoint(head, this.records.keptRows());
  }

  #rebase(): void {
    this.records.rebase(this.head);
    this.#unbased = 0;
  }
}
