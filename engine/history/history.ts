/** The past of a kept network: state and reads at any entry, by checkpoints made at first use. */
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { admit } from '../admit/admit.js';
import { Engine, type Step, type Summary } from '../core/engine.js';
import { encodeStep } from '../node/encode.js';
import { type IndexItem, IndexWriter, toIndexItem } from '../node/entry-index.js';
import { LogReads } from '../node/log-reads.js';
import { readGenesis, readProposal } from '../node/open-store.js';
import { Overlay, Views } from '../node/views.js';
import { Digests } from '../protocol/log.js';
import type { Genesis } from '../protocol/schema/genesis.js';
import { type RecordKey, SCHEMA_VERSION, tables } from '../protocol/schema/record.js';
import { storedLines } from '../replay/lines.js';
import type { LogLine } from '../replay/recompute.js';
import { DerivedFolder, type DerivedFrom } from '../store/derived-folder.js';
import { openLmdbStore } from '../store/lmdb.js';
import { type RecordChange, type Store, StoreError, type StoreMeta } from '../store/store.js';
import { RecordsAt } from './records.js';

/** Which network to look into, and where checkpoints go. */
export interface HistoryOptions {
  /** The folder of a network: it may be open, here or in another process. */
  path: string;
  /** A folder for checkpoints; false for none. Default: `history` in the network's folder. */
  checkpoints?: string | false | undefined;
  /** Entries between two checkpoints at the least. Default: 512. */
  spacing?: number | undefined;
  /** Of the log's size, at most so much for all checkpoints. Default: 0.2. */
  share?: number | undefined;
}

/** How long work is watched, and ended. */
export interface HistoryWork {
  /** Told of entries that are gone through, and where that ends. */
  onProgress?: ((seq: number, to: number) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** A network as it was after an entry. */
export interface Moment {
  /** The entry, its time, and both digests after it: those that `replay` computes. */
  readonly position: StoreMeta;
  readonly genesis: Genesis;
  /**
   * The reads that a network has, of that time. The table `requests`, by which repeats are known,
   * lacks what was accepted once more later, after it had been forgotten.
   */
  readonly read: Views;
}

/** What is gone through again costs some 0.07 ms an entry. */
const SPACING = 512;
const SHARE = 0.2;
/** Entries between two turns of the event loop. */
const TURN = 128;

/**
 * Looks into the past of a network in a folder: state, reads and digest at any entry, also while it
 * is written, by this process or another. The first look goes through the log and leaves
 * checkpoints, at most a fifth of the log's size, from which later ones begin; they may be deleted
 * at any time.
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
  /** Its parameters, as entry 0 has them. */
  readonly genesis: Genesis;
  /** One look at a time: two would make the same checkpoints twice. */
  #turn: Promise<unknown> = Promise.resolve();
  #closed = false;
  /** What the last checkpoint took. */
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
   * Opens a folder for looking, which changes nothing in it but checkpoints.
   *
   * @throws {StoreError} when no network is there, or it is damaged or unreadable.
   */
  static open(options: HistoryOptions): History {
    const { path } = options;
    const store = openLmdbStore({ path, tables, schemaVersion: SCHEMA_VERSION, readOnly: true });
    try {
      if (!store.meta()) throw new StoreError('MISSING', `${path}: no network is stored here`);
      return new History(store, options);
    } catch (error) {
      void store.close();
      throw error;
    }
  }

  /** Where the log ends now. */
  get end(): StoreMeta {
    return this.#store.meta()!;
  }

  /** The checkpoints there are. */
  get checkpoints(): CheckpointStats {
    return this.#folder.stats;
  }

  /**
   * The network as it was after an entry. Where checkpoints are missing they are made on the way,
   * which takes a minute for a million entries on a quiet machine.
   *
   * @throws {RangeError} when the log has no such entry.
   * @throws {StoreError} `CORRUPT` when what is stored does not follow from the log.
   * @throws the signal's reason, when it is aborted.
   */
  async at(seq: number, work: HistoryWork = {}): Promise<Moment> {
    const look = this.#turn.then(() => this.#openMoment(seq, work));
    this.#turn = look.catch(() => undefined);
    return look;
  }

  /** Makes the checkpoints that are missing, up to the end. */
  async prepare(work: HistoryWork = {}): Promise<CheckpointStats> {
    await this.at(this.end.seq, work);
    return this.checkpoints;
  }

  /** Waits for looks under way. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#turn;
    await this.#store.close();
  }

  async #openMoment(seq: number, work: HistoryWork): Promise<Moment> {
    if (this.#closed) throw new Error('the history is closed');
    const { end } = this;
    if (!Number.isSafeInteger(seq) || seq < 0 || seq > end.seq) {
      throw new RangeError(`there is no entry ${seq}: the log has entries 0 to ${end.seq}`);
    }
    work.signal?.throwIfAborted();
    this.#folder.refresh();
    const from = await this.#folder.before(seq);
    const walk = new Walk(this.#store, this.genesis, from);
    await this.#go(walk, seq, work);
    const position = walk.meta(end);
    const store = storeAt(this.#store, walk.records, position);
    const clock = { now: () => position.at };
    const view = { meta: position, summary: walk.summary };
    return { position, genesis: this.genesis, read: new Views(store, this.genesis, clock, view) };
  }

  /** On to an entry, leaving checkpoints. */
  async #go(walk: Walk, to: number, { onProgress, signal }: HistoryWork): Promise<void> {
    let last = walk.seq;
    while (walk.seq < to) {
      const first = walk.seq + 1;
      const until = Math.min(to, first + Math.min(TURN, this.#spacing) - 1);
      // Taken at once: no reader of the data stays open over turns.
      for (const line of [...storedLines(this.#store, first, until)]) walk.step(line);
      if (walk.seq < until) {
        throw new StoreError('CORRUPT', `the log has no entry ${walk.seq + 1}`);
      }
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

/*
 * A checkpoint as text: a line of JSON that says where it is in the log, and a line for each
 * record.
 */

/** Where a checkpoint is in its log, with the digests that the log has there. */
interface CheckpointHead {
  seq: number;
  at: number;
  event_seq: number;
  log_digest: string;
  digest: string;
}

interface Checkpoint {
  head: CheckpointHead;
  records: RecordChange[];
}

/** Another encoding, or other records, are another format. */
export const CHECKPOINT_FORMAT = 'checkpoint 2';

function encodeCheckpoint(
  head: CheckpointHead,
  records: Iterable<RecordChange & { json: string }>,
): Buffer {
  const lines = [JSON.stringify(head)];
  // Canonical JSON has neither tabs nor line feeds in it.
  for (const { table, key, json } of records)
    lines.push(`${table}\t${JSON.stringify(key)}\t${json}`);
  return Buffer.from(lines.join('\n'));
}

/** Null for bytes that are no checkpoint. */
function decodeCheckpoint(bytes: Buffer): Checkpoint | null {
  try {
    const [first = '', ...lines] = bytes.toString().split('\n');
    return { head: JSON.parse(first) as CheckpointHead, records: lines.map(recordOf) };
  } catch {
    return null;
  }
}

function recordOf(line: string): RecordChange {
  const [table = '', key = '', json = ''] = line.split('\t');
  return { table, key: JSON.parse(key) as RecordKey, json };
}

/*
 * Checkpoints as sealed files of a folder that may be deleted at any time. Together they take a
 * share of the log's size at most.
 */

/** A file of the folder: its entry, and how large the log was up to that. */
interface File {
  seq: number;
  logBytes: number;
  bytes: number;
  inMemory: boolean;
}

/** What there is for a quick look into the past. */
export interface CheckpointStats {
  count: number;
  bytes: number;
  /** Why no more are written, if so: no right, no room, no key. */
  problem: string | null;
}

const pattern = /^(\d{16})-(\d{1,16})\.checkpoint$/;

/** The log up to an entry. */
type SourceOf = (seq: number) => DerivedFrom | null;

class CheckpointFolder {
  readonly #folder: DerivedFolder | null;
  readonly #share: number;
  readonly #sourceOf: SourceOf;
  /** By entry, ascending. */
  #files: File[] = [];

  /** `share` of the log's size is the most for all; without a folder there are none. */
  constructor(folder: DerivedFolder | null, share: number, sourceOf: SourceOf) {
    this.#folder = folder;
    this.#share = share;
    this.#sourceOf = sourceOf;
    this.refresh();
  }

  /** Of the files on the disk. */
  get stats(): CheckpointStats {
    const files = this.#files.filter(({ inMemory }) => !inMemory);
    return { count: files.length, bytes: bytesOf(files), problem: this.#folder?.problem ?? null };
  }

  /** Looks again: files may come and go by other hands. */
  refresh(): void {
    this.#files = [];
    for (const { name, bytes, inMemory } of this.#folder?.list() ?? []) {
      const [, seq, logBytes] = pattern.exec(name) ?? [];
      if (seq === undefined) continue;
      this.#files.push({ seq: Number(seq), logBytes: Number(logBytes), bytes, inMemory });
    }
    this.#files.sort((a, b) => a.seq - b.seq);
  }

  /** The last whole one up to an entry that this installation wrote of this log. */
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

  /** Whether one of about this many bytes may be kept: no more than their share in all. */
  hasRoom(logBytes: number, bytes: number): boolean {
    return this.#folder !== null && bytes <= this.#room(logBytes);
  }

  /** Keeps one if there is room, and gives the bytes that it takes. */
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
    commit: () => Promise.reject(new TypeError('the past cannot be written')),
    hasRoom: () => false,
    close: async () => undefined,
    ...(live.archive ? { archive: live.archive } : {}),
  };
}

/** Entries after which what was written once is read out of the folder: memory stays bounded. */
const REBASE = 256;

class Walk {
  readonly #genesis: Genesis;
  readonly records: RecordsAt;
  readonly #overlay: Overlay;
  readonly #digests: Digests;
  #engine: Engine | null = null;
  #unbased = 0;
  /** Of all entries so far, as they are stored. */
  logBytes: number;

  /** Begins before entry 0, or after a checkpoint's. */
  constructor(
    live: Store,
    genesis: Genesis,
    from: { checkpoint: Checkpoint; logBytes: number } | null,
  ) {
    this.#genesis = genesis;
    const head = from?.checkpoint.head;
    this.records = new RecordsAt(live, head ?? null, from?.checkpoint.records);
    this.#overlay = new Overlay(this.records, (entry) => readProposal(live, genesis, entry));
    this.#digests = new Digests(head?.log_digest, head?.digest);
    this.logBytes = from?.logBytes ?? 0;
    if (!head) return;
    const { seq, at, event_seq } = head;
    this.#engine = Engine.restore(genesis, this.#overlay, { seq, at, event_seq });
  }

  /** The last entry that was applied; -1 before the first. */
  get seq(): number {
    return this.#engine?.position.seq ?? -1;
  }

  get summary(): Summary {
    return this.#engine!.summary();
  }

  /** Where the log would end if it ended here. */
  meta(end: StoreMeta): StoreMeta {
    const { digest, logDigest: log_digest } = this.#digests;
    return { ...end, ...this.#engine!.position, digest, log_digest };
  }

  /** @throws {StoreError} `CORRUPT` when the entry does not give the digests stored with it. */
  step(line: LogLine): Step {
    const { entry } = line;
    const step = this.#apply(line);
    const { changes, results } = encodeStep(step);
    this.logBytes += this.#digests.advance(entry, results).length;
    if (line.digest !== this.#digests.digest || line.logDigest !== this.#digests.logDigest) {
      throw damaged(entry.seq, 'its digests are others');
    }
    this.records.write(changes);
    this.#unbased += 1;
    if (this.#unbased >= REBASE) this.#rebase();
    return step;
  }

  checkpoint(): Buffer {
    this.#rebase();
    const { seq, at, event_seq } = this.#engine!.position;
    const { digest, logDigest: log_digest } = this.#digests;
    const head = { seq, at, event_seq, log_digest, digest };
    return encodeCheckpoint(head, this.records.keptRows());
  }

  #rebase(): void {
    this.records.rebase(this.#engine!.position);
    this.#unbased = 0;
  }

  #apply({ entry, file }: LogLine): Step {
    const { seq, at, kind } = entry;
    if (kind === 'genesis') {
      const { engine, step } = Engine.create(this.#genesis, at, this.#overlay);
      this.#engine = engine;
      return step;
    }
    if (!this.#engine) throw damaged(seq, 'the log does not begin with genesis');
    if (kind === 'tick') return this.#done(seq, this.#engine.apply({ seq, at, command: null }));
    const request = { ...entry, kind, ...(file ? { file } : {}) };
    const admitted = admit(request, this.#genesis.network_id);
    if ('refusal' in admitted) throw damaged(seq, admitted.refusal.message);
    return this.#done(seq, this.#engine.apply({ seq, at, command: admitted.command }));
  }

  #done(seq: number, step: Step): Step {
    const result = step.outcome?.result;
    if (result !== 'refused' && result !== 'duplicate') return step;
    throw damaged(seq, `it is ${result}`);
  }
}

function damaged(seq: number, why: string): StoreError {
  const advice = 'folkmoot replay says more';
  return new StoreError('CORRUPT', `entry ${seq} does not follow from the log: ${why}; ${advice}`);
}

/** Entries of a row, and between two turns of the event loop. */
const INDEX_TURN = 128;

/**
 * The rows of entries 0 to `to` of a folder, which is only read.
 *
 * @throws {StoreError} `CORRUPT` when what is stored does not follow from the log.
 * @throws the signal's reason, when it is aborted.
 */
export async function replayedIndex(
  path: string,
  to: number,
  work: HistoryWork = {},
): Promise<{ seq: number; bytes: Uint8Array }[]> {
  const store = openLmdbStore({ path, tables, schemaVersion: SCHEMA_VERSION, readOnly: true });
  try {
    return await goThrough(store, to, work);
  } finally {
    await store.close();
  }
}

async function goThrough(store: Store, to: number, { onProgress, signal }: HistoryWork) {
  const rows: { seq: number; bytes: Uint8Array }[] = [];
  const writer = new IndexWriter({ index: () => [] }, null);
  const walk = new Walk(store, readGenesis(store), null);
  while (walk.seq < to) {
    const until = Math.min(to, walk.seq + INDEX_TURN);
    const some: IndexItem[] = [];
    for (const line of [...storedLines(store, walk.seq + 1, until)]) {
      some.push(toIndexItem(line.entry, walk.step(line)));
    }
    if (walk.seq < until) throw new StoreError('CORRUPT', `the log has no entry ${walk.seq + 1}`);
    rows.push(...writer.rows(some));
    onProgress?.(walk.seq, to);
    await setImmediate();
    signal?.throwIfAborted();
  }
  return rows;
}
