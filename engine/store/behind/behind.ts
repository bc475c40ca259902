/**
 * A store that shows a batch at once and writes it a little later, many in one commit: for a
 * network whose requests stand elsewhere already. What this process does not live to write comes
 * from there again. Reads go over both, with no seam.
 */
import { assertBatch } from '../batch.js';
import type { Batch, RangeOptions, RecordKey, Store } from '../store.js';
import { commitWhenRoom } from '../when-room.js';
import { type IndexRow, Layer } from './layer.js';
import { chained, newest, recordsOver, rowsOver } from './over.js';

/** How long after a batch is shown it is written at the latest, unless the disk is slower. */
const BEHIND_MS = 100;
/** So many bytes of entries and files are written at once; with the most, a commit waits. */
const ENOUGH_BYTES = 1024 * 1024;
const MOST_BYTES = 16 * 1024 * 1024;

/**
 * Over a store, which is its own from now on. When that fails, so does every commit and every look
 * for room after it; closing writes what is left.
 */
export function writtenBehind(store: Store): Store {
  let stored = store.meta();
  let next = new Layer();
  /** What is being written, or could not be. */
  let writing: Layer | null = null;
  let failure: Error | null = null;
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> | null = null;

  /** What is not written, oldest first. */
  const layers = () => (writing ? [writing, next] : [next]);
  const waiting = () => next.bytes + (writing?.bytes ?? 0);
  const meta = () => next.meta ?? writing?.meta ?? stored;

  async function write(): Promise<void> {
    const layer = next;
    next = new Layer();
    writing = layer;
    try {
      await commitWhenRoom(store, layer.batch());
    } catch (error) {
      failure = error as Error;
      return;
    }
    stored = layer.meta;
    writing = null;
  }

  /** Writes what there is, or waits for what is being written; resolves also when that failed. */
  function writeNow(): Promise<void> {
    if (timer) clearTimeout(timer);
    timer = null;
    running ??= write().finally(() => {
      running = null;
      plan();
    });
    return running;
  }

  function plan(): void {
    if (timer || running || failure || !next.meta) return;
    timer = setTimeout(() => void writeNow(), next.bytes < ENOUGH_BYTES ? BEHIND_MS : 0);
  }

  /** Until nothing is left. */
  async function writeAll(): Promise<void> {
    while (!failure && (running || next.meta)) await writeNow();
    if (failure) throw failure;
  }

  async function commit(batch: Batch): Promise<void> {
    if (failure) throw failure;
    assertBatch(batch, meta());
    next.take(batch);
    if (waiting() >= MOST_BYTES) return writeAll();
    if (next.bytes >= ENOUGH_BYTES) void writeNow();
    else plan();
  }

  async function close(): Promise<void> {
    try {
      await writeAll();
    } finally {
      await store.close();
    }
  }

  function get(table: string, key: RecordKey): string | undefined {
    const change = next.change(table, key) ?? writing?.change(table, key);
    return change ? (change.json ?? undefined) : store.get(table, key);
  }

  function range(table: string, options: RangeOptions = {}) {
    const changes = layers().map((layer) => layer.changed(table, options));
    if (changes.every(({ length }) => length === 0)) return store.range(table, options);
    const { limit: _, ...all } = options;
    return recordsOver(store.range(table, all), newest(changes, options), options);
  }

  function index(options: RangeOptions = {}): Iterable<IndexRow> {
    const { from = 0, to = Number.POSITIVE_INFINITY, reverse, limit } = options;
    const rows = layers().flatMap((layer) => layer.index);
    if (rows.length === 0) return store.index(options);
    const laid = rows.filter(({ seq }) => seq >= (from as number) && seq < (to as number));
    const last = Math.min(to as number, rows[0]!.seq);
    const below = () => ((from as number) < last ? store.index({ ...options, to: last }) : []);
    const above = () => (reverse ? laid.reverse() : laid);
    return reverse ? chained(above, below, limit) : chained(below, above, limit);
  }

  return {
    kind: store.kind,
    get commits() {
      return store.commits;
    },
    ...(store.archive && { archive: store.archive }),
    stored: () => stored,
    meta: () => {
      const last = meta();
      return last && { ...last };
    },
    get,
    range,
    entry: (seq) => rowOf(layers(), 'entries', seq)?.bytes ?? store.entry(seq),
    entries: (from, to) => {
      const laid = layers().map(({ entries }) => entries);
      return rowsOver((first, last) => store.entries(first, last), laid, from, to);
    },
    event: (seq) => rowOf(layers(), 'events', seq)?.json ?? store.event(seq),
    events: (from, to) => {
      const laid = layers().map(({ events }) => events);
      return rowsOver((first, last) => store.events(first, last), laid, from, to);
    },
    blob: (hash) => next.blob(hash) ?? writing?.blob(hash) ?? store.blob(hash),
    index,
    commit,
    hasRoom(more = 0) {
      if (failure) throw failure;
      return store.hasRoom(waiting() + more);
    },
    close,
  };
}

/** The row of that number, which follow one another without a gap. */
function rowOf<Kind extends 'entries' | 'events'>(
  layers: readonly Layer[],
  kind: Kind,
  seq: number,
): Layer[Kind][number] | undefined {
  for (const layer of layers) {
    const first = layer[kind][0]?.seq;
    if (first !== undefined && seq >= first) {
      const row = layer[kind][seq - first];
      if (row) return row;
    }
  }
  return undefined;
}
