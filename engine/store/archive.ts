/**
 * A folder's archive: old entries and events in compressed segments. The cache of unpacked blocks
 * is bounded. A random read of an old entry unpacks at most one block.
 */

import { createHash } from 'node:crypto';
import {
  chmodSync,
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { limits } from '../protocol/limits.js';
import { commitFailed, type Database, type Environment, readMeta } from './environment.js';
import {
  compactedName,
  copiedName,
  dataFileName,
  freeBytes,
  OWNER_FILE,
  putInPlace,
  receivedName,
  syncFile,
  syncFolderLater,
} from './folder.js';
import { assertDataFile } from './lmdb-pages.js';
import { StoreError, storeError } from './messages.js';
import { crashPoint } from './process-end.js';
import {
  ArchiveError,
  archiveFolder,
  assertRecord,
  type Block,
  differingNetworks,
  findOuterProblem,
  type Item,
  parseSegment,
  rangeOfName,
  readBlock,
  readHead,
  readIndex,
  type SegmentIndex,
  type SegmentNetwork,
  SegmentWriter,
  segmentPath,
  unfinishedName,
} from './segment.js';
import type { Segment, Store, StoreArchive } from './store.js';

type Kind = 'entries' | 'events';

interface Unpacked {
  first: number;
  items: Buffer[];
  bytes: number;
}

class Archive {
  readonly #environment: Environment;
  #segments: Segment[] = [];
  /** Indexes, least recently used first, as in `#blocks`. */
  readonly #indexes = new Map<string, SegmentIndex>();
  readonly #blocks = new Map<string, Unpacked>();
  #keptBytes = 0;
  /** Total size of the blocks unpacked since the folder was opened. */
  unpackedBytes = 0;

  constructor(environment: Environment) {
    this.#environment = environment;
    this.refresh();
  }

  /** Ascending, without gaps. */
  get segments(): readonly Segment[] {
    return this.#segments;
  }

  /** Last archived entry and event; 0 if nothing is archived. */
  get end(): { entry: number; event: number } {
    const last = this.#segments.at(-1);
    return { entry: last?.last ?? 0, event: last?.last_event ?? 0 };
  }

  /** Reloads the list of segments, because a different process may have added some. */
  refresh(): void {
    const { archive, folder } = this.#environment;
    this.#segments = [];
    for (const { value } of archive.getRange({})) {
      this.#segments.push(parseSegment(folder, value));
    }
  }

  /** Adds a segment that has just been recorded. */
  add(segment: Segment): void {
    this.#segments.push(segment);
  }

  /** Returns an entry as stored. @throws {ArchiveError} if its segment cannot be read. */
  entry(seq: number): Buffer | undefined {
    const segment = this.find('entries', seq);
    return segment && this.item('entries', segment, seq);
  }

  /** Returns an event's canonical JSON. @throws {ArchiveError} */
  event(seq: number): string | undefined {
    const segment = this.find('events', seq);
    return segment && this.item('events', segment, seq).toString();
  }

  find(kind: Kind, seq: number): Segment | undefined {
    const found = lastAtMost(this.#segments, seq, (segment) => rangeOf(kind, segment)[0]);
    return found !== undefined && seq <= rangeOf(kind, found)[1] ? found : undefined;
  }

  /** Returns the segments that overlap a range, both ends inclusive. */
  holding(kind: Kind, from: number, to: number): Segment[] {
    return this.#segments.filter((segment) => {
      const [first, last] = rangeOf(kind, segment);
      return first <= to && from <= last;
    });
  }

  /** @throws {ArchiveError} */
  item(kind: Kind, segment: Segment, seq: number): Buffer {
    const blocks = this.#index(segment)[kind];
    const { first, items } = this.#unpack(segment, blockOf(blocks, seq));
    return items[seq - first]!;
  }

  /** Checks the names and lengths of all files. Returns one message per problem. */
  problems(): string[] {
    const { folder } = this.#environment;
    return this.#segments.flatMap((segment) => findOuterProblem(folder, segment)?.message ?? []);
  }

  #index(segment: Segment): SegmentIndex {
    const known = this.#indexes.get(segment.file);
    if (known !== undefined) return touch(this.#indexes, segment.file, known);
    const read = readIndex(this.#environment.folder, segment);
    this.#indexes.set(segment.file, read);
    if (this.#indexes.size > limits.archiveIndexes) dropOldest(this.#indexes);
    return read;
  }

  #unpack(segment: Segment, block: Block): Unpacked {
    const id = `${segment.file} ${block.offset}`;
    const known = this.#blocks.get(id);
    if (known !== undefined) return touch(this.#blocks, id, known);
    const items = readBlock(this.#environment.folder, segment, block);
    const unpacked = { first: block.first, items, bytes: block.raw_bytes };
    this.unpackedBytes += unpacked.bytes;
    this.#blocks.set(id, unpacked);
    this.#keptBytes += unpacked.bytes;
    while (this.#keptBytes > limits.archiveCacheBytes && this.#blocks.size > 1) {
      this.#keptBytes -= dropOldest(this.#blocks)!.bytes;
    }
    return unpacked;
  }
}

/** Always finds a block, because the index is sorted and was checked for gaps. */
const blockOf = (blocks: readonly Block[], seq: number) =>
  lastAtMost(blocks, seq, ({ first }) => first)!;

/** First and last number, both inclusive. */
const rangeOf = (kind: Kind, segment: Segment): readonly [number, number] =>
  kind === 'entries' ? [segment.first, segment.last] : [segment.first_event, segment.last_event];

/** Returns the last item that begins at or before `seq`. Items are ascending. */
function lastAtMost<Item>(
  items: readonly Item[],
  seq: number,
  firstOf: (item: Item) => number,
): Item | undefined {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (firstOf(items[middle]!) <= seq) low = middle + 1;
    else high = middle;
  }
  return items[low - 1];
}

/** Moves an item to the most recently used position. */
function touch<Value>(map: Map<string, Value>, id: string, value: Value): Value {
  map.delete(id);
  map.set(id, value);
  return value;
}

function dropOldest<Value>(map: Map<string, Value>): Value | undefined {
  const [oldest] = map;
  if (oldest !== undefined) map.delete(oldest[0]);
  return oldest?.[1];
}

/*
 * Compaction. LMDB reuses freed pages and never shrinks its file, so the data is copied into a new
 * file. Requires exclusive use of the folder.
 */

/** Writes a copy without free pages. The copy replaces the data when `environment` closes. */
async function prepareCompaction(environment: Environment): Promise<void> {
  const { folder } = environment;
  const copyFolder = join(folder, compactedName);
  rmSync(copyFolder, { recursive: true, force: true });
  mkdirSync(copyFolder, { mode: 0o700 });
  await environment.copyTo(copyFolder);
  const copy = join(copyFolder, dataFileName);
  assertDataFile(copy);
  chmodSync(copy, statSync(join(folder, dataFileName)).mode);
  syncFile(copy);
  crashPoint('compact.copied');
  environment.beforeRelease = () => {
    putInPlace(folder, copy);
    crashPoint('compact.swapped');
    rmSync(join(copyFolder, 'lock.mdb'), { force: true });
    rmdirSync(copyFolder);
  };
}

/*
 * Cleanup after a process that was killed while it archived, copied or received data. A segment is
 * removed only if LMDB still contains everything in it. Any other segment without a record belongs
 * to another network, or to a later state of this network, so nothing may be written here.
 */

/** @throws {StoreError} `UNREADABLE`, or `ARCHIVE` for a segment that must not be removed. */
function removeLeftovers(environment: Environment, archive: Archive): void {
  try {
    remove(environment, archive);
  } catch (cause) {
    if (cause instanceof StoreError) throw cause;
    // Omits the cause, because its system code would make the CLI report a wrong path (exit code
    // 2).
    throw storeError('LEFTOVERS_STUCK', { path: environment.folder, reason: String(cause) });
  }
}

function remove(environment: Environment, archive: Archive): void {
  const { folder } = environment;
  const unrecorded = findUnrecorded(environment, archive);
  const problem = unrecorded.find((one) => one.problem !== null)?.problem;
  if (problem) throw problem;
  for (const name of [compactedName, copiedName, receivedName]) {
    rmSync(join(folder, name), { recursive: true, force: true });
  }
  for (const { path } of unrecorded) rmSync(path);
  rmSync(join(archiveFolder(folder), unfinishedName), { force: true });
}

interface Unrecorded {
  path: string;
  /** Null for a segment whose rows are all in LMDB, which the next writer removes. */
  problem: StoreError | null;
}

/** Finds segment files without a record. */
function findUnrecorded(environment: Environment, archive: Archive): Unrecorded[] {
  const path = archiveFolder(environment.folder);
  if (!existsSync(path)) return [];
  const recorded = new Set(archive.segments.map(({ file }) => file));
  const names = readdirSync(path).filter((name) => !recorded.has(name) && rangeOfName(name));
  return names.map((name) => {
    const file = join(path, name);
    return { path: file, problem: problemOf(environment, file, rangeOfName(name)!) };
  });
}

/**
 * A segment that was named but not recorded is one whose rows are all in the log. The digest after
 * its last entry proves that, because the digest commits to all entries before.
 */
function problemOf(
  environment: Environment,
  path: string,
  { first, last }: { first: number; last: number },
): StoreError | null {
  const { log } = environment;
  if (statSync(path).size === 0) return null;
  const head = readHead(path);
  const network = networkOf(environment);
  if (head === null || network === null) return storeError('SEGMENT_UNRECORDED', { path });
  const networks = differingNetworks(head, network);
  if (networks !== null) return storeError('SEGMENT_FOREIGN', { path, ...networks });
  const row = log.get(last);
  const isWhole = row !== undefined && log.get(first) !== undefined;
  const { log_digest, digest } = isWhole ? storedDigests(row) : { log_digest: '', digest: '' };
  const isOfLog = log_digest === head.log_digest && digest === head.digest;
  return isOfLog ? null : storeError('SEGMENT_UNRECORDED', { path });
}

/** Returns the network that the folder holds, or null for a new folder. */
function networkOf(environment: Environment): Required<SegmentNetwork> | null {
  const meta = readMeta(environment);
  if (meta === null) return null;
  const { log_digest: genesis_digest } = storedDigests(storedRow(environment, 0));
  return { network_id: meta.network_id, genesis_digest };
}

/*
 * Moves old entries out of LMDB. The order is: write a segment, sync the file, record the segment
 * in LMDB, delete the archived rows in small transactions. A crash at any point leaves each entry
 * in at least one place, because a segment is used only after it is recorded, and rows that are not
 * yet deleted hold the same bytes.
 */

/**
 * Moves entries below `before`, up to one segment, and the events older than the first entry that
 * remains. Returns null if there is nothing to move.
 * @throws {StoreError} `CORRUPT` if the rows are damaged. The rows then remain in LMDB.
 */
async function moveSegment(
  environment: Environment,
  archive: Archive,
  before: number,
): Promise<Segment | null> {
  const { folder } = environment;
  const meta = readMeta(environment);
  const first = archive.end.entry + 1;
  // The last entry remains, because its time decides which events can be moved.
  if (meta === null || first >= Math.min(before, meta.seq)) return null;
  const digests = archive.segments.at(-1) ?? storedDigests(storedRow(environment, 0));
  const run = new EntryRun(environment, first, Math.min(before, meta.seq), digests);
  const segment = await named(folder, async () => {
    await mkdir(archiveFolder(folder), { recursive: true, mode: 0o700 });
    await syncFolderLater(folder);
    const written = await writeSegment(environment, archive, run);
    crashPoint('archive.written');
    await giveName(folder, written);
    return written;
  });
  const record = JSON.stringify(segment);
  await inTransaction(environment, (rows) => {
    rows.put(environment.archive, segment.first, record);
  });
  archive.add(segment);
  crashPoint('archive.recorded');
  return segment;
}

/** Maps file system errors to `FULL` or `UNREADABLE`. An unrecorded segment changes nothing. */
async function named<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (cause instanceof StoreError || code === undefined) throw cause;
    const failure = { path: archiveFolder(folder), reason: code };
    const noRoom = code === 'ENOSPC' || code === 'EDQUOT';
    if (noRoom) throw storeError('ARCHIVE_NO_SPACE', failure, { cause });
    throw storeError('ARCHIVE_UNWRITABLE', failure, { cause });
  }
}

/** Writes and syncs the file under its temporary name. */
async function writeSegment(
  environment: Environment,
  archive: Archive,
  run: EntryRun,
): Promise<Segment> {
  const writer = await SegmentWriter.begin(environment.folder);
  try {
    const { first, digests: before } = run;
    const entries = await writer.pack(run);
    const cutAt = storedAt(storedRow(environment, run.last + 1));
    const first_event = archive.end.event + 1;
    const events = await writer.pack(eventsBefore(environment, first_event, cutAt));
    const newest = events.at(-1);
    return await writer.finish({
      format: 1,
      ...networkOf(environment)!,
      first,
      last: run.last,
      first_event,
      last_event: newest ? newest.first + newest.count - 1 : first_event - 1,
      log_digest_before: before.log_digest,
      digest_before: before.digest,
      ...run.digests,
      entries,
      events,
    });
  } finally {
    await writer.close();
  }
}

/**
 * Verifies the written file, then gives it its final name. An empty file reserves the name first,
 * because a rename would replace a file of that name.
 * @throws {StoreError} `ARCHIVE` if the name is taken.
 */
async function giveName(folder: string, segment: Segment): Promise<void> {
  const unfinished = join(archiveFolder(folder), unfinishedName);
  await assertFile(folder, segment, unfinished);
  const path = segmentPath(folder, segment);
  try {
    await (await open(path, 'wx', OWNER_FILE)).close();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
    throw storeError('SEGMENT_EXISTS', { path }, { cause });
  }
  try {
    await rename(unfinished, path);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
  await syncFolderLater(archiveFolder(folder));
  crashPoint('archive.named');
}

/**
 * Deletes some archived rows from LMDB. Returns false if no archived rows are left. Each segment is
 * verified in full before its rows are deleted.
 * @throws {ArchiveError} if a segment is damaged. The segment's rows then remain.
 */
async function trimStep(
  environment: Environment,
  archive: Archive,
  whole: Set<string>,
): Promise<boolean> {
  const { folder, log, history } = environment;
  const rows = [
    { database: log, kind: 'entries', ...heldUntil(log, archive.end.entry) },
    { database: history, kind: 'events', ...heldUntil(history, archive.end.event) },
  ] as const;
  const held = rows.filter(({ first, last }) => first <= last);
  for (const { kind, first, last } of held) {
    for (const segment of archive.holding(kind, first, last)) {
      if (!whole.has(segment.file)) await assertFile(folder, segment);
      whole.add(segment.file);
    }
  }
  if (held.length === 0) return false;
  await inTransaction(environment, (rows) => {
    for (const { database, first, last } of held) {
      for (let seq = first; seq <= last; seq += 1) rows.remove(database, seq);
    }
  });
  crashPoint('archive.trimmed');
  return true;
}

interface Rows {
  getRange(options: object): Iterable<{ key: unknown }>;
}

/** Range of the lowest rows up to `end` that one transaction deletes. Never includes genesis. */
function heldUntil(database: Rows, end: number): { first: number; last: number } {
  for (const { key } of database.getRange({ start: 1, end, inclusiveEnd: true, limit: 1 })) {
    const first = key as number;
    return { first, last: Math.min(end, first + limits.archiveTrimRows - 1) };
  }
  return { first: 1, last: 0 };
}

/** Compares the SHA-256 of a segment file with its record. @throws {ArchiveError} */
async function assertFile(
  folder: string,
  segment: Segment,
  path = segmentPath(folder, segment),
): Promise<void> {
  const hash = createHash('sha256');
  try {
    for await (const bytes of createReadStream(path)) hash.update(bytes as Buffer);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? String(cause);
    const problem = code === 'ENOENT' ? 'SEGMENT_MISSING' : 'SEGMENT_UNREADABLE';
    throw new ArchiveError(path, segment, problem, code, { cause });
  }
  const found = hash.digest('hex');
  if (found !== segment.sha256) {
    throw new ArchiveError(path, segment, 'SEGMENT_DAMAGED', `its sha256 is ${found}`);
  }
}

function storedRow({ log }: Environment, seq: number): Uint8Array {
  const row = log.get(seq);
  if (row === undefined) throw storeError('ENTRY_MISSING', { seq });
  return row;
}

async function inTransaction(
  environment: Environment,
  write: Parameters<Environment['transaction']>[0],
): Promise<void> {
  try {
    await environment.transaction(write);
  } catch (cause) {
    throw commitFailed(environment.folder, cause);
  }
}

/*
 * Sources of a segment's rows. Rows are read in small batches, so that no LMDB read transaction
 * stays open across event-loop turns. Each entry is checked against the digest chain.
 */

const digestBytes = 32;
/** A stored entry consists of its log digest, its digest, then the frame with its parts. */
const frameAt = 2 * digestBytes;
const lengthBytes = 8;

interface ChainDigests {
  log_digest: string;
  digest: string;
}

function storedDigests(stored: Uint8Array): ChainDigests {
  const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength);
  return {
    log_digest: bytes.toString('hex', 0, digestBytes),
    digest: bytes.toString('hex', digestBytes, frameAt),
  };
}

/** Reads a stored entry's time, which is the second part of its frame. */
function storedAt(stored: Uint8Array): number {
  const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength);
  const seqLength = Number(bytes.readBigUInt64BE(frameAt));
  const atHead = frameAt + lengthBytes + seqLength;
  const atLength = Number(bytes.readBigUInt64BE(atHead));
  return Number(bytes.toString('latin1', atHead + lengthBytes, atHead + lengthBytes + atLength));
}

/** Iterates over entries from `first` to below `before` until a segment is full. */
class EntryRun implements Iterator<Item> {
  readonly #folder: string;
  readonly #rows: Iterator<{ seq: number; value: Uint8Array }>;
  readonly first: number;
  #bytes = 0;
  /** Last entry returned so far; `digests` are the digests after that entry. */
  last: number;
  digests: ChainDigests;

  constructor(environment: Environment, first: number, before: number, digests: ChainDigests) {
    this.#folder = environment.folder;
    this.#rows = rowsFrom(environment.log, first, before - 1, ({ length }) => length);
    this.first = first;
    this.last = first - 1;
    this.digests = digests;
  }

  next(): IteratorResult<Item> {
    const full =
      this.#bytes >= limits.archiveSegmentBytes ||
      this.last - this.first + 1 >= limits.archiveSegmentEntries;
    const row = full ? { done: true as const, value: undefined } : this.#rows.next();
    if (row.done) return { done: true, value: undefined };
    const { seq, value: bytes } = row.value;
    const expected = createHash('sha256')
      .update(this.digests.log_digest, 'hex')
      .update(bytes.subarray(frameAt))
      .digest('hex');
    const found = storedDigests(bytes);
    if (seq !== this.last + 1 || found.log_digest !== expected) {
      throw storeError('ENTRY_NOT_CHAINED', { seq: this.last + 1, path: this.#folder });
    }
    this.last = seq;
    this.digests = found;
    this.#bytes += bytes.length;
    return { done: false, value: { seq, bytes } };
  }
}

/** Yields events, starting at `first`, that are older than `cutAt`, in milliseconds. */
function* eventsBefore(
  { history }: Environment,
  first: number,
  cutAt: number,
): Generator<Item, void> {
  const last = Number.MAX_SAFE_INTEGER;
  for (const { seq, value } of rowsFrom(history, first, last, ({ length }) => length)) {
    const { data } = JSON.parse(value) as { data?: { timestamp?: string } };
    // Events are in time order. An event without a time ends the range.
    if (!(Date.parse(data?.timestamp ?? '') < cutAt)) return;
    yield { seq, bytes: Buffer.from(value) };
  }
}

/** Yields rows in order. Reads them from LMDB in batches of about one block. */
function* rowsFrom<Value>(
  database: Database<Value>,
  first: number,
  last: number,
  size: (value: Value) => number,
): Generator<{ seq: number; value: Value }, void> {
  let next = first;
  for (;;) {
    const taken: { seq: number; value: Value }[] = [];
    let bytes = 0;
    for (const { key, value } of database.getRange({
      start: next,
      end: last,
      inclusiveEnd: true,
    })) {
      taken.push({ seq: key as number, value });
      bytes += size(value);
      if (bytes >= limits.archiveBlockBytes) break;
    }
    yield* taken;
    const newest = taken.at(-1);
    if (newest === undefined || newest.seq >= last) return;
    next = newest.seq + 1;
  }
}

/*
 * A store whose reads cover LMDB and the segments. LMDB is read first, because a row that LMDB
 * still holds needs no segment.
 */

export function withArchive(store: Store, environment: Environment, readOnly: boolean): Store {
  const archive = new Archive(environment);
  if (!readOnly) removeLeftovers(environment, archive);
  const base = {
    entry: store.entry,
    entries: store.entries,
    event: store.event,
    events: store.events,
  };
  /** Finds a segment. A reader reloads the list once, since the writer may have added segments. */
  const find = (kind: Kind, seq: number) => {
    const segment = archive.find(kind, seq);
    if (segment !== undefined || !readOnly) return segment;
    environment.refresh();
    archive.refresh();
    return archive.find(kind, seq);
  };
  const item = (kind: Kind, seq: number) => {
    const segment = find(kind, seq);
    return segment && archive.item(kind, segment, seq);
  };

  /** Yields rows from LMDB up to the first gap, then rows from a segment, and repeats. */
  function* both<Row extends { seq: number }>(
    kind: Kind,
    rows: (from: number, to: number) => Iterable<Row>,
    rowOf: (seq: number, bytes: Buffer) => Row,
    from: number,
    to: number,
  ): Generator<Row, void> {
    let next = from;
    for (;;) {
      for (const row of rows(next, to)) {
        if (row.seq !== next) break;
        next += 1;
        yield row;
      }
      const segment = next > to ? undefined : find(kind, next);
      if (segment === undefined) break;
      const last = Math.min(to, rangeOf(kind, segment)[1]);
      for (; next <= last; next += 1) yield rowOf(next, archive.item(kind, segment, next));
    }
    // If both lack the row, yields the rest of LMDB, and the caller sees the gap.
    if (next <= to) yield* rows(next, to);
  }

  const past: Pick<Store, 'entry' | 'entries' | 'event' | 'events' | 'archive'> = {
    entry: (seq) => base.entry(seq) ?? item('entries', seq),
    entries: (from, to) => both('entries', base.entries, entryRow, Math.max(0, from), to),
    event: (seq) => base.event(seq) ?? item('events', seq)?.toString(),
    events: (from, to) => both('events', base.events, eventRow, Math.max(1, from), to),
    archive: archiveOf(store, environment, archive),
  };
  return Object.assign(store, past);
}

const entryRow = (seq: number, bytes: Buffer) => ({ seq, bytes });
const eventRow = (seq: number, bytes: Buffer) => ({ seq, json: bytes.toString() });

function archiveOf(store: Store, environment: Environment, archive: Archive): StoreArchive {
  /** Names of segments that this process verified or wrote. */
  const whole = new Set<string>();
  /** A reader looks twice, since the writer may record a segment in between. */
  const unrecorded = () => {
    const isWrong = findUnrecorded(environment, archive).some(({ problem }) => problem !== null);
    if (!isWrong) return [];
    environment.refresh();
    archive.refresh();
    return findUnrecorded(environment, archive);
  };
  return {
    get segments() {
      return archive.segments;
    },
    get end() {
      return archive.end;
    },
    get unpackedBytes() {
      return archive.unpackedBytes;
    },
    problems: () => archive.problems(),
    async *damage() {
      for (const { problem } of unrecorded()) if (problem) yield problem.message;
      const network = networkOf(environment);
      for (const segment of archive.segments) {
        try {
          await assertFile(environment.folder, segment);
          assertRecord(environment.folder, segment, network!);
        } catch (error) {
          if (!(error instanceof StoreError)) throw error;
          yield error.message;
        }
      }
    },
    async move(before) {
      const segment = await moveSegment(environment, archive, before);
      if (segment !== null) whole.add(segment.file);
      return segment;
    },
    trim: () => trimStep(environment, archive, whole),
    async compactAndClose() {
      await prepareCompaction(environment);
      await store.close();
    },
    freeBytes: () => freeBytes(environment.folder),
  };
}
