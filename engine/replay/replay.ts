/**
 * Replay recomputes events, records and digests from genesis and entries with a fresh engine, and
 * compares these with the stored data. Reports the first divergence.
 */
import type { Step } from '../core/engine.js';
import type { Verifier } from '../crypto/verifier.js';
import {
  decodeIndexRow,
  type IndexItem,
  type IndexRow,
  IndexWriter,
  toIndexItem,
} from '../node/entry-index.js';
import { decodeEntry, splitStored } from '../protocol/log.js';
import type { Entry } from '../protocol/schema/entry.js';
import { type RecordKey, tables } from '../protocol/schema/record.js';
import { prepareRule } from '../rules/sandbox.js';
import { openScratch, type Scratch } from '../store/environment.js';
import { StoreError, storeError } from '../store/messages.js';
import {
  compareKeys,
  keyId,
  type RangeOptions,
  type RecordChange,
  type Store,
  type StoreMeta,
} from '../store/store.js';
import { toChunks } from './lines.js';
import {
  type CheckedLine,
  type Divergence,
  type LogLine,
  Recompute,
  type ReplayedStep,
  replayError,
  type StoredEvents,
} from './recompute.js';

/** Replay result. `match` is true if all stored data follows from the log. */
export interface ReplayResult {
  match: boolean;
  /** Number of replayed entries, including genesis. */
  entries: number;
  digest: string;
  log_digest: string;
  /**
   * True if the stored records were compared. False without a store, with `to`, after an earlier
   * divergence, or if a writer committed during the replay.
   */
  records_compared: boolean;
  first_divergence: Divergence | null;
}

/** Options of {@link replay}. */
export interface ReplayOptions {
  /** Ascending from entry 0. */
  lines: Iterable<LogLine> | AsyncIterable<LogLine>;
  /** Store that contains the lines. Its events, records, index and archive are compared too. */
  stored?: Store;
  /** End of the log when the lines were read. Default: the current end. */
  end?: StoreMeta;
  /** Verifies every signature again. */
  verifier?: Verifier;
  /** Last entry to replay. Only effects of entries up to this entry are compared. */
  to?: number;
  onProgress?: (seq: number) => void;
  /** Called for each entry, in order. */
  onStep?: (done: ReplayedStep) => void;
}

/**
 * Recomputes a network from its log, and compares the results with the stored data.
 *
 * @throws {StoreError} if the log cannot be read.
 *
 * @example
 * ```ts
 * import { openLmdbStore, replay, SCHEMA_VERSION, storedLines, tables } from 'folkmoot';
 * import { completeScenario, simulate } from 'folkmoot/sim';
 *
 * const agents = [{ group: 'town', count: 20, producers: 2 }];
 * const scenario = completeScenario({ title: 'Small', agents, length: { blocks: 2 } });
 * const { digest } = await simulate(scenario, { out: 'run' });
 * const folder = { path: 'run/network', tables, schemaVersion: SCHEMA_VERSION };
 * const stored = openLmdbStore({ ...folder, readOnly: true });
 * const lines = storedLines(stored, 0, stored.meta()?.seq ?? 0);
 * const result = await replay({ lines, stored });
 * console.log(result.match, result.digest === digest); // true true
 * await stored.close();
 * ```
 */
export async function replay(options: ReplayOptions): Promise<ReplayResult> {
  const { stored, end = stored?.meta() ?? null, verifier, onStep } = options;
  const records = new Computed();
  const recompute = new Recompute({
    ...{ records, verifier, onStep, prepareRule },
    storedEvents: stored && ((first) => eventsFrom(stored, first)),
    compareStep: stored && comparingIndex(stored),
  });
  try {
    const divergence = await recomputeAll(recompute, options);
    if (divergence || options.to !== undefined) return resultOf(recompute, divergence);
    const compared = compareEnd(recompute, records, { stored, end });
    if (!compared.divergence) await assertArchive(stored);
    return resultOf(recompute, compared.divergence, compared.records);
  } finally {
    await records.close();
  }
}

const resultOf = (
  { entries, digest, logDigest: log_digest }: Recompute,
  first_divergence: Divergence | null,
  records_compared = false,
): ReplayResult => {
  const match = first_divergence === null;
  return { match, entries, digest, log_digest, records_compared, first_divergence };
};

/** Recomputes all lines up to the first divergence. */
async function recomputeAll(
  run: Recompute,
  { lines, to, onProgress }: ReplayOptions,
): Promise<Divergence | null> {
  const chunks = toChunks(lines, to);
  try {
    // Verifies a chunk while applying the previous chunk.
    for (let ahead: Promise<CheckedLine[]> = Promise.resolve([]); ; ) {
      const reading = chunks.next();
      // A divergence before a read error is reported first.
      const chunk = await reading.then(
        ({ value }) => value,
        () => undefined,
      );
      const checked = chunk && run.check(chunk);
      // Prevents an unhandled rejection if `apply` throws.
      checked?.catch(() => undefined);
      const divergence = run.apply(await ahead);
      if (divergence) {
        await checked?.catch(() => undefined);
        return divergence;
      }
      if (run.entries > 0) onProgress?.(run.entries - 1);
      if (!checked) {
        await reading;
        return null;
      }
      ahead = checked;
    }
  } finally {
    await chunks.return(undefined);
  }
}

function comparingIndex(stored: Store) {
  const index = new IndexComparison(stored);
  return (entry: Entry, step: Step) => index.take(entry.kind, toIndexItem(entry, step));
}

/**
 * Compares all segments with their records, and the records with the log. Reading entries checks
 * only parts of the segments and records.
 */
async function assertArchive(stored: Store | undefined): Promise<void> {
  if (!stored?.archive) return;
  for await (const problem of stored.archive.damage()) {
    throw storeError('ARCHIVE_PROBLEM', { problem });
  }
  for (const segment of stored.archive.segments) {
    const { file, first, last, log_digest_before, digest_before, log_digest, digest } = segment;
    const ends = [
      [first - 1, log_digest_before, digest_before],
      [last, log_digest, digest],
    ] as const;
    for (const [seq, ...recorded] of ends) {
      const entry = stored.entry(seq);
      const found = entry && splitStored(entry);
      if (found?.logDigest === recorded[0] && found.digest === recorded[1]) continue;
      throw replayError('SEGMENT_NOT_OF_LOG', { file, seq });
    }
  }
}

function* eventsFrom(stored: Store, first: number): StoredEvents {
  yield* stored.events(first, Number.MAX_SAFE_INTEGER);
}

interface Compared {
  divergence: Divergence | null;
  /** True if the records were compared. */
  records: boolean;
}

/** Compares the end of the log and the records, and looks for stored data beyond the end. */
function compareEnd(
  { engine, genesis, entries, digest, logDigest, last }: Recompute,
  computed: Computed,
  { stored, end }: { stored: Store | undefined; end: StoreMeta | null },
): Compared {
  const seq = Math.max(0, entries - 1);
  const at = { seq, kind: last?.entry.kind ?? 'genesis' };
  const differs = (divergence: Divergence | null) => ({ divergence, records: false });
  if (!engine) {
    return differs({ ...at, what: 'entry', expected: 'entry 0 (genesis)', found: 'no entries' });
  }
  if (!stored || !end) return differs(null);
  const { position } = engine;
  const ends = [
    ['end', `entry ${end.seq}`, `entry ${seq}`],
    ['log_digest', logDigest, end.log_digest],
    ['digest', digest, end.digest],
    ['end', `time ${position.at}`, `time ${end.at}`],
    ['end', `event ${position.event_seq}`, `event ${end.event_seq}`],
    ['end', `network ${genesis?.network_id}`, `network ${end.network_id}`],
  ] as const;
  for (const [what, expected, found] of ends) {
    if (expected !== found) return differs({ ...at, what, expected, found });
  }
  const grown = () => stored.meta()?.seq !== end.seq;
  if (grown()) return differs(null);
  const divergence =
    findBeyond(stored, at, position.event_seq + 1) ?? compareRecords(computed, stored);
  // After a commit in between, the stored records are newer than the recomputed records.
  return grown() ? differs(null) : { divergence, records: true };
}

/** Finds data stored beyond the end of the log. */
function findBeyond(
  stored: Store,
  at: { seq: number; kind: string },
  nextEvent: number,
): Divergence | null {
  for (const { seq } of stored.entries(at.seq + 1, Number.MAX_SAFE_INTEGER)) {
    const expected = `no entry after ${at.seq}`;
    return { ...at, what: 'entry', expected, found: `entry ${seq}` };
  }
  for (const { seq } of stored.index({ from: at.seq + 1, limit: 1 })) {
    const which = `index ${seq}`;
    return { ...at, what: 'record', which, expected: 'no record', found: `entries to ${seq}` };
  }
  for (const { seq, json } of stored.events(nextEvent, Number.MAX_SAFE_INTEGER)) {
    return { ...at, what: 'event', which: `event ${seq}`, expected: 'no event', found: json };
  }
  return null;
}

function kindOf(stored: Store, seq: number): string {
  const entry = stored.entry(seq);
  return entry === undefined ? 'no entry' : decodeEntry(splitStored(entry).bytes).kind;
}

const keyText = (key: RecordKey) => JSON.stringify(key);

/** Returns the difference whose record was written by the earliest entry, or null. */
function compareRecords(computed: Computed, stored: Store): Divergence | null {
  let first: Divergence | null = null;
  const differ = (table: string, key: RecordKey, expected: string, found: string) => {
    const writer = computed.writer(table, key);
    const seq = writer ?? 0;
    if (first && first.seq <= seq) return;
    const kind = writer === undefined ? 'no entry' : kindOf(stored, writer);
    first = { seq, kind, what: 'record', which: `${table} ${keyText(key)}`, expected, found };
  };
  for (const table of tables) {
    for (const [key, expected, found] of sideBySide(computed.range(table), stored.range(table))) {
      if (expected !== found) differ(table, key, expected ?? 'no record', found ?? 'no record');
    }
  }
  return first;
}

type Row = { key: RecordKey; json: string };

/** Merges two sorted iterations by key. Yields each key with the values from both iterations. */
function* sideBySide(
  computed: Iterable<Row>,
  stored: Iterable<Row>,
): Generator<[key: RecordKey, computed: string | undefined, stored: string | undefined]> {
  const [left, right] = [computed[Symbol.iterator](), stored[Symbol.iterator]()];
  let [one, other] = [next(left), next(right)];
  while (one || other) {
    const order = !one ? 1 : !other ? -1 : compareKeys(one.key, other.key);
    const row = (order <= 0 ? one : other)!;
    yield [row.key, order <= 0 ? one!.json : undefined, order >= 0 ? other!.json : undefined];
    if (order <= 0) one = next(left);
    if (order >= 0) other = next(right);
  }
}

const next = (rows: Iterator<Row>): Row | undefined => rows.next().value;

/*
 * Compares the stored index from entries to events with the recomputed index. No digest covers the
 * index, so no other check detects a changed byte.
 */

class IndexComparison {
  /** The row that covers the next entry; null before its first entry. */
  #row: { seq: number; bytes: Uint8Array } | null = null;
  /** Entries in that row so far. */
  #taken: IndexItem[] = [];
  /** Computes the expected rows. */
  readonly #writer = new IndexWriter({ index: () => [] }, null);

  constructor(private readonly store: Pick<Store, 'index'>) {}

  /** Takes each entry's index item, in order. */
  take(kind: string, one: IndexItem): Divergence | null {
    this.#row ??= [...this.store.index({ from: one.seq, limit: 1 })][0] ?? null;
    const seq = this.#row?.seq ?? one.seq;
    const at = { seq, kind, what: 'record', which: `index ${seq}` } as const;
    const stored = this.#row && decoded(this.#row.seq, this.#row.bytes);
    this.#taken.push(one);
    const first = this.#taken[0]!.seq;
    if (!this.#row || !stored || !('first' in stored) || stored.first !== first) {
      const found = stored ? JSON.stringify(stored) : 'no record';
      return { ...at, expected: `a row that begins with entry ${first}`, found };
    }
    if (one.seq < seq) return null;
    const bytes = this.#writer.row(this.#taken);
    const isSame = Buffer.compare(bytes, this.#row.bytes) === 0;
    this.#row = null;
    this.#taken = [];
    if (isSame) return null;
    const expected = JSON.stringify(decoded(seq, bytes));
    return { ...at, expected, found: JSON.stringify(stored) };
  }
}

function decoded(seq: number, bytes: Uint8Array): IndexRow | { damaged: string } {
  try {
    return decodeIndexRow(seq, bytes);
  } catch (error) {
    if (error instanceof StoreError) return { damaged: error.message };
    throw error;
  }
}

/*
 * Recomputed records, each with the last entry that wrote it. Beyond a limit, the records are moved
 * to a scratch store on disk, so that memory does not grow with the log.
 */

/** Limit of records in memory, about 20 MB. */
const mostInMemory = 25_000;

/** A record with the last entry that wrote it. `json` is '' if the record was deleted. */
interface Written {
  key: RecordKey;
  json: string;
  seq: number;
}

class Computed {
  /** Records by table and key. Numeric keys, which are rewritten most often, need no conversion. */
  readonly #recent = new Map<string, Map<string | number, Written>>(
    tables.map((table) => [table, new Map()]),
  );
  #held = 0;
  #scratch: Scratch | null = null;

  constructor(private readonly most = mostInMemory) {}

  get(table: string, key: RecordKey): string | undefined {
    const recent = this.#rows(table).get(idOf(key));
    if (recent !== undefined) return recent.json || undefined;
    const stored = this.#scratch?.get(table, key);
    // A deleted record is stored as an empty text.
    return stored === undefined ? undefined : computedTextOf(stored) || undefined;
  }

  /** Returns the last entry that wrote or deleted a record. */
  writer(table: string, key: RecordKey): number | undefined {
    const recent = this.#rows(table).get(idOf(key));
    if (recent !== undefined) return recent.seq;
    const stored = this.#scratch?.get(table, key);
    return stored === undefined ? undefined : Number.parseInt(stored, 10);
  }

  /** Stores the changes made by entry `seq`. */
  write(seq: number, changes: readonly RecordChange[]): void {
    for (const { table, key, json } of changes) {
      const rows = this.#rows(table);
      const id = idOf(key);
      const row = rows.get(id);
      if (row === undefined) {
        rows.set(id, { key, json: json ?? '', seq });
        this.#held += 1;
      } else {
        row.json = json ?? '';
        row.seq = seq;
      }
    }
    if (this.#held > this.most) this.#move();
  }

  /** Yields all records in a table, in key order. */
  *range(table: string, options: RangeOptions = {}): Iterable<{ key: RecordKey; json: string }> {
    if (options.from !== undefined || options.to !== undefined) {
      throw new Error('computed records have no partial ranges');
    }
    if (this.#scratch === null) {
      const rows = [...this.#rows(table).values()].filter(({ json }) => json !== '');
      yield* rows.sort((a, b) => compareKeys(a.key, b.key));
      return;
    }
    this.#move();
    for (const { key, json } of this.#scratch.range(table)) {
      const text = computedTextOf(json);
      if (text !== '') yield { key, json: text };
    }
  }

  async close(): Promise<void> {
    await this.#scratch?.close();
  }

  #rows(table: string): Map<string | number, Written> {
    return this.#recent.get(table)!;
  }

  #move(): void {
    this.#scratch ??= openScratch(tables);
    this.#scratch.write(this.#moved());
    for (const rows of this.#recent.values()) rows.clear();
    this.#held = 0;
  }

  /** Encodes records for the disk: the writer, a space, the JSON. */
  *#moved(): Iterable<RecordChange> {
    for (const [table, rows] of this.#recent) {
      for (const { key, json, seq } of rows.values()) yield { table, key, json: `${seq} ${json}` };
    }
  }
}

const idOf = (key: RecordKey) => (typeof key === 'number' ? key : keyId(key));
const computedTextOf = (stored: string): string => stored.slice(stored.indexOf(' ') + 1);
