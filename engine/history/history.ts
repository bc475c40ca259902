/** The past of a kept network: state and reads at any entry, by checkpoints made at first use. */
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { LogReads } from '../node/log-reads.js';
import { genesisOf } from '../node/open-store.js';
import { Views } from '../node/views.js';
import { type Genesis, SCHEMA_VERSION, tables } from '../protocol/schema/index.js';
import { storedLines } from '../replay/index.js';
import {
  DerivedFolder,
  openLmdbStore,
  type Store,
  StoreError,
  type StoreMeta,
} from '../store/index.js';
import { CHECKPOINT_FORMAT } from './checkpoint.js';
import { CheckpointFolder, type CheckpointStats } from './folder.js';
import { storeAt } from './store-at.js';
import { Walk } from './walk.js';

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
    this.genesis = genesisOf(store);
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
    const look = this.#turn.then(() => this.#look(seq, work));
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

  async #look(seq: number, work: HistoryWork): Promise<Moment> {
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
