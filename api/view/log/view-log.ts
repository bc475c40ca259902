/**
 * What a page is shown of a network, at any entry: made of its log when somebody asks, a bit each
 * turn of the event loop, and kept in chunks with the picture that each begins with.
 */
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { DerivedFolder, type ServedNetwork, StoreError } from '../../../engine/internal.js';
import { applySpan, cutSpan, encodeSpan, firstRow, type Picture, type Span } from '../index.js';
import { type SpanBounds, within } from './bounds.js';
import { type Chunk, decodePicture, encodePicture } from './kept/chunk.js';
import { Chunks, nothingOf } from './kept/chunks.js';
import { IndexSource, type ViewWork } from './kept/index-source.js';
import { addRow } from './make/add-row.js';
import { Builder } from './make/builder.js';
import { EventCache } from './make/event-cache.js';
import { Roster } from './make/roster.js';
import { Turns } from './turns.js';

/** A chunk ends with whichever comes first: rows, characters of texts. */
const CHUNK_ROWS = 32_768;
const CHUNK_CHARACTERS = 1_000_000;
/** How long one turn of the event loop works. */
const TURN_MS = 4;
/** Rows that are folded into a picture at once, and entries whose index is read at once. */
const ROWS_AT_ONCE = 1_000;
const INDEX_ROWS = 250;

/** Where a view keeps its files, and how large one may be. */
export interface ViewLogOptions {
  /** By default `view` in the network's folder; null for none. */
  folder?: string | null;
  /** Rows after which a chunk ends. */
  chunkRows?: number;
}

/** What is being added to: the rows since the last chunk. */
interface Tail {
  /** The picture that it begins with, as text. */
  before: string;
  builder: Builder;
  /** The picture after `entry`. It may be some rows behind until the last picture is read. */
  head: Picture;
  /** Rows of the builder that are in the head. */
  folded: number;
}

export class ViewLog {
  readonly #network: ServedNetwork;
  readonly #folder: DerivedFolder;
  readonly #chunkRows: number;
  readonly #index: IndexSource;
  readonly #roster: Roster;
  readonly #cache: EventCache;
  readonly #chunks: Chunks;
  readonly #turns = new Turns();
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
    this.#index = new IndexSource(network, this.#folder);
    this.#roster = new Roster(network.read);
    this.#cache = new EventCache(network);
    this.#chunks = new Chunks(network, this.#folder, this.#roster, (before, last) =>
      this.#remake(before, last),
    );
  }

  /** The last entry that is made; -1 before the first. */
  get end(): number {
    return this.#tail?.builder.to ?? -1;
  }

  /** How far it has come with what is asked for; null while nothing is being made. */
  get progress(): { entry: number; to: number } | null {
    return this.#turns.progress;
  }

  /** Resolves when all is made that is asked for by now; undefined while nothing is being made. */
  making(): Promise<void> | undefined {
    return this.#turns.progress ? this.#turns.over : undefined;
  }

  /** Why its files cannot be written, if so; all else goes on. */
  get problem(): string | null {
    return this.#folder.problem;
  }

  /** The index from entries to events, whole after `catchUp`. */
  get index(): IndexSource {
    return this.#index;
  }

  /** While held, events are taken as they are published, not parsed. Returns how to let go. */
  watch(): () => void {
    return this.#cache.hold();
  }

  /** Makes the index alone, where an older program left none. */
  prepareIndex(work: ViewWork = {}): Promise<void> {
    return this.#turns.take((noting) => this.#index.prepare(noting), work);
  }

  /**
   * Makes what is committed by now, a bit each turn.
   *
   * @throws {StoreError} when something of the log cannot be read, or is damaged.
   */
  catchUp(work: ViewWork = {}): Promise<void> {
    return this.#turns.take((noting) => this.#catchUp(noting), work);
  }

  /**
   * The network after an entry, by default the last one: whoever gets it may change it.
   *
   * @throws {RangeError} when the log has no such entry.
   */
  async picture(at?: number, work: ViewWork = {}): Promise<Picture> {
    const entry = await this.#reach(at, work);
    return this.#isHead(entry) ? structuredClone(this.#tail!.head) : this.#past(entry, work);
  }

  /**
   * The same as JSON; that of the last entry is made once. Nothing is added to the rows meanwhile,
   * and a run that waits for what is being made waits for the text, too.
   */
  async pictureText(at?: number): Promise<string> {
    if (at !== undefined) return textOf(await this.#past(await this.#reach(at, {}), {}));
    let text = '';
    await this.#turns.take(async (noting) => {
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

  /** True when the tail ends with the entry. Its head is the picture after the entry then. */
  #isHead(entry: number): boolean {
    const tail = this.#tail;
    if (!tail || entry <= this.#chunks.end) return false;
    this.#fold(tail);
    return tail.head.entry === entry;
  }

  async #past(entry: number, work: ViewWork): Promise<Picture> {
    const tail = this.#tail;
    // What somebody else asked for meanwhile has failed.
    if (!tail) return this.picture(entry, work);
    if (entry > this.#chunks.end) {
      const before = decodePicture(tail.before, this.#roster);
      await setImmediate();
      return this.#signed(await inTurns(before, this.#tailSpan(tail), entry));
    }
    const chunk = await this.#chunks.of(entry);
    const before = this.#chunks.before(chunk);
    await setImmediate();
    return this.#signed(await inTurns(before, chunk.span, entry));
  }

  /**
   * Rows of the entries from `from` to `to`, both inclusive, as far as the bounds let them: the
   * span's own `to` says how far.
   *
   * @throws {RangeError} when the log has no such entries.
   */
  async span(from: number, to?: number, bounds: SpanBounds = {}): Promise<Span> {
    const last = Math.min(await this.#reach(to === undefined ? to : Math.max(from, to)), this.end);
    if (!isEntry(from) || from > last) throw new RangeError(`there is no entry ${from}`);
    const tail = this.#tail;
    if (!tail) return this.span(from, to, bounds);
    const source =
      from > this.#chunks.end ? this.#tailSpan(tail) : (await this.#chunks.of(from)).span;
    const { rows = Number.POSITIVE_INFINITY, said = Number.POSITIVE_INFINITY } = bounds;
    const part = this.#completed(cutSpan(source, from, within(source, from, last, rows)));
    if (part.said.length <= said) return part;
    const omitted = part.omitted + part.said.length - said;
    return { ...part, said: part.said.slice(-said), omitted };
  }

  /** The same as bytes, of about so many at the most; one entry at the least. */
  async spanBytes(
    from: number,
    to: number | undefined,
    most: Required<SpanBounds> & { bytes: number },
  ) {
    let span = await this.span(from, to, most);
    await setImmediate();
    let bytes = encodeSpan(span);
    while (bytes.length > most.bytes && span.to > span.from) {
      const half = span.from + Math.floor((span.to - span.from) / 2);
      span = this.#completed(cutSpan(span, span.from, half));
      bytes = encodeSpan(span);
    }
    return bytes;
  }

  /** Ends what is under way. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#turns.over;
  }

  async #reach(at: number | undefined, work: ViewWork = {}): Promise<number> {
    const { seq } = this.#network.read.position;
    const entry = at ?? seq;
    if (!isEntry(entry) || entry > seq) {
      throw new RangeError(`there is no entry ${entry}: the log has entries 0 to ${seq}`);
    }
    if (entry > this.end) await this.catchUp(work);
    return entry;
  }

  async #catchUp(work: ViewWork): Promise<void> {
    try {
      await this.#index.prepare(work);
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
      // Some of an entry may be in it: begun anew from the last chunk.
      this.#tail = null;
      throw error;
    }
  }

  async #openTail(): Promise<Tail> {
    if (!this.#opened) await this.#chunks.open();
    this.#opened = true;
    return this.#tailAfter((await this.#chunks.last()) ?? nothingOf(this.#network));
  }

  #tailAfter(head: Picture): Tail {
    const { read, genesis } = this.#network;
    const builder = new Builder(read, genesis, this.#roster, head);
    return { before: encodePicture(head), builder, head, folded: 0 };
  }

  /** One turn's work; a chunk that is full is put away. */
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

  /** Rows of the index, taken at once: no reader of the data stays open over turns. */
  #some(from: number, to: number) {
    return [...this.#index.rows(from, Math.min(to, from + INDEX_ROWS))];
  }

  async #putAway(tail: Tail): Promise<Tail> {
    this.#fold(tail);
    const next = this.#tailAfter(tail.head);
    await this.#chunks.add({ before: tail.before, span: this.#tailSpan(tail) });
    return next;
  }

  #fold(tail: Tail): void {
    if (tail.head.entry === tail.builder.to) return;
    tail.folded = tail.builder.rows;
    const part = cutSpan(this.#tailSpan(tail), tail.head.entry + 1, tail.builder.to);
    try {
      applySpan(tail.head, part);
    } catch (cause) {
      const text = `entries ${part.from} to ${part.to} do not fit together`;
      throw new StoreError('CORRUPT', `${text}: ${(cause as Error).message}`, { cause });
    }
  }

  #tailSpan({ builder }: Tail): Span {
    return builder.span(this.#digestsOf(builder.to));
  }

  #digestsOf(seq: number): { digest: string; log_digest: string } {
    const { position } = this.#network.read;
    const { digest, log_digest } =
      position.seq === seq ? position : this.#network.read.log.entry(seq)!;
    return { digest, log_digest };
  }

  /** What a cut took away: time and digests of its last entry. */
  #completed(span: Span): Span {
    if (span.digest !== '' || span.to < span.from) return span;
    return { ...span, ...this.#endOf(span.to) };
  }

  #signed = (picture: Picture): Picture => Object.assign(picture, this.#endOf(picture.entry));

  #endOf(entry: number): Pick<Picture, 'at' | 'digest' | 'log_digest'> {
    const { at, digest, log_digest } = this.#network.read.log.entry(entry)!;
    return { at, digest, log_digest };
  }

  async #remake(before: Picture, last: number): Promise<Chunk> {
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
    return { before: tail.before, span: this.#tailSpan(tail) };
  }
}

/** Agents, blocks and other rows of which a text is made in one turn. */
const TEXTS_AT_ONCE = 200;

/** A picture as JSON, a part each turn of the event loop. */
async function textOf(picture: Picture): Promise<string> {
  const members: string[] = [];
  for (const [name, value] of Object.entries(picture)) {
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

/** Takes a picture on by a span, some rows each turn of the event loop. */
async function inTurns(picture: Picture, span: Span, upTo: number): Promise<Picture> {
  const { entry } = span.rows;
  for (;;) {
    const row = firstRow(span, picture.entry + 1) + ROWS_AT_ONCE;
    const next = row < entry.length ? span.from + entry[row]! - 1 : upTo;
    applySpan(picture, span, Math.min(upTo, Math.max(picture.entry + 1, next)));
    if (picture.entry >= upTo) return picture;
    await setImmediate();
  }
}

const isEntry = (value: number) => Number.isSafeInteger(value) && value >= 0;
