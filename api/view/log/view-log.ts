/**
 * The view of a log at any entry. Built on demand, in slices between event-loop turns, and stored
 * in chunks that begin with a snapshot.
 */

import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { ServedNetwork } from '../../../engine/node/kept-network.js';
import { DerivedFolder } from '../../../engine/store/derived-folder.js';
import { viewRangeError } from '../messages.js';
import type { RowBatch, Snapshot } from '../model.js';
import { applyRowBatch } from '../reducer.js';
import { encodeRowBatch, firstRow, sliceRowBatch } from '../row-batch.js';
import { addRow, Builder, EventCache, logError, Roster } from './builder.js';
import {
  type Chunk,
  Chunks,
  createInitialSnapshot,
  decodeSnapshot,
  encodeSnapshot,
  type ViewWork,
} from './chunks.js';

/** A chunk ends at the first of these limits. */
const CHUNK_ROWS = 32_768;
const CHUNK_CHARACTERS = 1_000_000;
/** Work per event-loop turn. */
const TURN_MS = 4;
/** Rows applied to a snapshot per turn, and entries whose index rows are read together. */
const ROWS_AT_ONCE = 1_000;
const INDEX_ROWS = 250;

export interface ViewLogOptions {
  /** Default: `view` in the network's folder. Null to write no files. */
  folder?: string | null;
  /** Rows after which a chunk ends. */
  chunkRows?: number;
}

/** The rows since the last chunk. */
interface Tail {
  /** The encoded snapshot before the rows. */
  before: string;
  builder: Builder;
  /** The snapshot after the rows. Until it is read, it can be some rows behind the builder. */
  head: Snapshot;
  /** Number of the builder's rows that are applied to `head`. */
  folded: number;
}

export class ViewLog {
  readonly #network: ServedNetwork;
  readonly #folder: DerivedFolder;
  readonly #chunkRows: number;
  readonly #roster: Roster;
  readonly #cache: EventCache;
  readonly #chunks: Chunks;
  readonly #queue = new SerialQueue();
  #tail: Tail | null = null;
  #text: { digest: string; json: string } | null = null;
  #opened = false;
  #closed = false;

  constructor(network: ServedNetwork, options: ViewLogOptions = {}) {
    const { folder, chunkRows = CHUNK_ROWS } = options;
    const own = network.folder === null ? null : join(network.folder, 'view');
    this.#network = network;
    this.#chunkRows = chunkRows;
    this.#folder = new DerivedFolder(folder === undefined ? own : folder, network.folder);
    this.#roster = new Roster(network.read);
    this.#cache = new EventCache(network);
    this.#chunks = new Chunks(network, this.#folder, this.#roster, (before, last) =>
      this.#remake(before, last),
    );
  }

  /** Last indexed entry; -1 before the first entry is indexed. */
  get end(): number {
    return this.#tail?.builder.to ?? -1;
  }

  /** Progress of the current work; null when idle. */
  get progress(): { entry: number; to: number } | null {
    return this.#queue.progress;
  }

  /** Resolves when the current work is done; undefined when idle. */
  making(): Promise<void> | undefined {
    return this.#queue.progress ? this.#queue.idle : undefined;
  }

  /** Reason why files cannot be written, or null. Reads work anyway. */
  get problem(): string | null {
    return this.#folder.problem;
  }

  /** Caches published events, to avoid parsing them again. Returns the release function. */
  watch(): () => void {
    return this.#cache.retain();
  }

  /** Indexes committed entries in slices. @throws {StoreError} for an unreadable or damaged log. */
  catchUp(work: ViewWork = {}): Promise<void> {
    return this.#queue.take((noting) => this.#catchUp(noting), work);
  }

  /**
   * Returns a snapshot of the network after an entry. Default: the last entry.
   *
   * @throws {RangeError} if the log does not contain the entry.
   */
  async readSnapshot(at?: number, work: ViewWork = {}): Promise<Snapshot> {
    const entry = await this.#reach(at, work);
    return this.#isHead(entry) ? structuredClone(this.#tail!.head) : this.#past(entry, work);
  }

  /**
   * Returns a snapshot as JSON. The text for the last entry is cached. No rows are added meanwhile,
   * and `making` includes this work.
   */
  async pictureText(at?: number): Promise<string> {
    if (at !== undefined) return textOf(await this.#past(await this.#reach(at, {}), {}));
    let text = '';
    await this.#queue.take(async (noting) => {
      await this.#catchUp(noting);
      const tail = this.#tail!;
      await setImmediate();
      this.#fold(tail);
      const { head } = tail;
      noting.onProgress?.(head.entry, head.entry);
      if (this.#text?.digest !== head.digest) {
        this.#text = { digest: head.digest, json: await textOf(head) };
      }
      text = this.#text.json;
    }, {});
    return text;
  }

  /** Returns true if `entry` is the last entry in the tail. The tail's head is then up to date. */
  #isHead(entry: number): boolean {
    const tail = this.#tail;
    if (!tail || entry <= this.#chunks.end) return false;
    this.#fold(tail);
    return tail.head.entry === entry;
  }

  async #past(entry: number, work: ViewWork): Promise<Snapshot> {
    const tail = this.#tail;
    // A concurrent read failed and reset the tail.
    if (!tail) return this.readSnapshot(entry, work);
    if (entry > this.#chunks.end) {
      const before = decodeSnapshot(tail.before, this.#roster);
      await setImmediate();
      return this.#signed(await inTurns(before, this.#tailBatch(tail), entry));
    }
    const chunk = await this.#chunks.of(entry);
    const before = this.#chunks.before(chunk);
    await setImmediate();
    return this.#signed(await inTurns(before, chunk.batch, entry));
  }

  /**
   * Returns the rows for the entries from `from` to `to`, both inclusive, within the bounds. The
   * batch's `to` is its last entry.
   *
   * @throws {RangeError} if the log does not contain the entries.
   */
  async readRowBatch(from: number, to?: number, bounds: BatchBounds = {}): Promise<RowBatch> {
    const last = Math.min(await this.#reach(to === undefined ? to : Math.max(from, to)), this.end);
    if (!isEntry(from) || from > last) throw unknownEntry(from, this.end);
    const tail = this.#tail;
    if (!tail) return this.readRowBatch(from, to, bounds);
    const source =
      from > this.#chunks.end ? this.#tailBatch(tail) : (await this.#chunks.of(from)).batch;
    const { rows = Number.POSITIVE_INFINITY, said = Number.POSITIVE_INFINITY } = bounds;
    const part = this.#completed(sliceRowBatch(source, from, within(source, from, last, rows)));
    if (part.said.length <= said) return part;
    const omitted = part.omitted + part.said.length - said;
    return { ...part, said: part.said.slice(-said), omitted };
  }

  /** Returns the encoded batch, with at most about `most.bytes` bytes but at least one entry. */
  async spanBytes(
    from: number,
    to: number | undefined,
    most: Required<BatchBounds> & { bytes: number },
  ) {
    let batch = await this.readRowBatch(from, to, most);
    await setImmediate();
    let bytes = encodeRowBatch(batch);
    while (bytes.length > most.bytes && batch.to > batch.from) {
      const half = batch.from + Math.floor((batch.to - batch.from) / 2);
      batch = this.#completed(sliceRowBatch(batch, batch.from, half));
      await setImmediate();
      bytes = encodeRowBatch(batch);
    }
    return bytes;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#queue.idle;
  }

  async #reach(at: number | undefined, work: ViewWork = {}): Promise<number> {
    const { seq } = this.#network.read.position;
    const entry = at ?? seq;
    if (!isEntry(entry) || entry > seq) {
      throw unknownEntry(entry, seq);
    }
    if (entry > this.end) await this.catchUp(work);
    return entry;
  }

  async #catchUp(work: ViewWork): Promise<void> {
    try {
      this.#tail ??= await this.#openTail();
      const to = this.#network.read.position.seq;
      while (this.#tail.builder.to < to) {
        if (this.#closed) throw new Error('the view is closed');
        this.#tail = await this.#add(this.#tail, to);
        if (this.#tail.builder.to >= to) break;
        work.onProgress?.(this.#tail.builder.to, to);
        await setImmediate();
        work.signal?.throwIfAborted();
      }
    } catch (error) {
      // The tail may contain part of an entry, so it is rebuilt from the last chunk.
      this.#tail = null;
      throw error;
    }
  }

  async #openTail(): Promise<Tail> {
    if (!this.#opened) await this.#chunks.open();
    this.#opened = true;
    return this.#tailAfter((await this.#chunks.last()) ?? createInitialSnapshot(this.#network));
  }

  #tailAfter(head: Snapshot): Tail {
    const { read, genesis } = this.#network;
    const builder = new Builder(read, genesis, this.#roster, head);
    return { before: encodeSnapshot(head), builder, head, folded: 0 };
  }

  /** Adds entries for one turn. Writes the chunk if it is full. */
  async #add(tail: Tail, to: number): Promise<Tail> {
    const { builder } = tail;
    const end = performance.now() + TURN_MS;
    for (const row of this.#some(builder.to + 1, to)) {
      addRow(builder, this.#network, this.#cache, { row, to });
      if (builder.rows >= this.#chunkRows || builder.characters >= CHUNK_CHARACTERS) {
        return this.#putAway(tail);
      }
      if (performance.now() > end) break;
    }
    if (builder.rows - tail.folded >= ROWS_AT_ONCE) this.#fold(tail);
    return tail;
  }

  /** Reads all index rows at once, so that no store reader stays open across turns. */
  #some(from: number, to: number) {
    return [...this.#network.read.log.rows(from, Math.min(to, from + INDEX_ROWS))];
  }

  async #putAway(tail: Tail): Promise<Tail> {
    this.#fold(tail);
    const next = this.#tailAfter(tail.head);
    await this.#chunks.add({ before: tail.before, batch: this.#tailBatch(tail) });
    return next;
  }

  #fold(tail: Tail): void {
    if (tail.head.entry === tail.builder.to) return;
    tail.folded = tail.builder.rows;
    const part = sliceRowBatch(this.#tailBatch(tail), tail.head.entry + 1, tail.builder.to);
    try {
      applyRowBatch(tail.head, part);
    } catch (cause) {
      const { from, to } = part;
      const reason = (cause as Error).message;
      throw logError('ENTRIES_INCONSISTENT', { from, to, reason }, { cause });
    }
  }

  #tailBatch({ builder }: Tail): RowBatch {
    return builder.toRowBatch(this.#digestsOf(builder.to));
  }

  #digestsOf(seq: number): { digest: string; log_digest: string } {
    const { position } = this.#network.read;
    const { digest, log_digest } =
      position.seq === seq ? position : this.#network.read.log.entry(seq)!;
    return { digest, log_digest };
  }

  /** Restores the time and digests of the last entry, which slicing removed. */
  #completed(batch: RowBatch): RowBatch {
    if (batch.digest !== '' || batch.to < batch.from) return batch;
    return { ...batch, ...this.#endOf(batch.to) };
  }

  #signed = (snapshot: Snapshot): Snapshot => Object.assign(snapshot, this.#endOf(snapshot.entry));

  #endOf(entry: number): Pick<Snapshot, 'at' | 'digest' | 'log_digest'> {
    const { at, digest, log_digest } = this.#network.read.log.entry(entry)!;
    return { at, digest, log_digest };
  }

  async #remake(before: Snapshot, last: number): Promise<Chunk> {
    const tail = this.#tailAfter(before);
    while (tail.builder.to < last) {
      const end = performance.now() + TURN_MS;
      for (const row of this.#some(tail.builder.to + 1, last)) {
        addRow(tail.builder, this.#network, this.#cache, { row, to: last });
        if (performance.now() > end) break;
      }
      await setImmediate();
      if (this.#closed) throw new Error('the view is closed');
    }
    return { before: tail.before, batch: this.#tailBatch(tail) };
  }
}

/** Items serialized per turn. */
const TEXTS_AT_ONCE = 200;

/** Serializes a snapshot in slices. */
async function textOf(snapshot: Snapshot): Promise<string> {
  const members: string[] = [];
  for (const [name, value] of Object.entries(snapshot)) {
    if (!Array.isArray(value)) {
      members.push(`"${name}":${JSON.stringify(value)}`);
      continue;
    }
    const parts: string[] = [];
    for (let at = 0; at < value.length; at += TEXTS_AT_ONCE) {
      parts.push(JSON.stringify(value.slice(at, at + TEXTS_AT_ONCE)).slice(1, -1));
      await setImmediate();
    }
    members.push(`"${name}":[${parts.join(',')}]`);
  }
  return `{${members.join(',')}}`;
}

async function inTurns(snapshot: Snapshot, batch: RowBatch, upTo: number): Promise<Snapshot> {
  const { entry } = batch.rows;
  for (;;) {
    const row = firstRow(batch, snapshot.entry + 1) + ROWS_AT_ONCE;
    const next = row < entry.length ? batch.from + entry[row]! - 1 : upTo;
    applyRowBatch(snapshot, batch, Math.min(upTo, Math.max(snapshot.entry + 1, next)));
    if (snapshot.entry >= upTo) return snapshot;
    await setImmediate();
  }
}

const unknownEntry = (entry: number, last: number) =>
  viewRangeError('UNKNOWN_ENTRY', { entry, last });

const isEntry = (value: number) => Number.isSafeInteger(value) && value >= 0;

interface BatchBounds {
  /** Maximum number of rows. A batch contains at least the rows for one entry. */
  rows?: number;
  /** Maximum number of messages. The last messages are kept. */
  said?: number;
}

/** Returns the last entry for which the part from `from` contains at most `rows` rows. */
function within(batch: RowBatch, from: number, to: number, rows: number): number {
  const last = Math.min(to, batch.to);
  const start = firstRow(batch, from);
  if (firstRow(batch, last + 1) - start <= rows) return last;
  const beyond = batch.from + batch.rows.entry[start + rows]!;
  return Math.max(from, beyond - 1);
}

class SerialQueue {
  /** Progress of the current work; null when idle. */
  progress: { entry: number; to: number } | null = null;
  readonly #limit = pLimit(1);

  /** Runs work after all earlier work, regardless of its errors. */
  take(act: (work: ViewWork) => Promise<void>, work: ViewWork): Promise<void> {
    const onProgress = (entry: number, to: number) => {
      this.progress = { entry, to };
      work.onProgress?.(entry, to);
    };
    return this.#limit(async () => {
      try {
        await act({ ...work, onProgress });
      } finally {
        this.progress = null;
      }
    });
  }

  /** Resolves when all work is done. */
  get idle(): Promise<void> {
    return this.#limit(() => {});
  }
}
