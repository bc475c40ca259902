/**
 * A store on disk whose past may lie in segments: reads of entries and events go over both, with
 * no seam. LMDB comes first: what it still holds needs no segment.
 */
import type { Environment } from '../environment.js';
import { freeBytes } from '../file/folder.js';
import { type Store, type StoreArchive, StoreError } from '../store.js';
import { Archive, type Kind, rangeOf } from './archive.js';
import { prepareCompaction } from './compact.js';
import { removeLeftovers } from './leftovers.js';
import { assertFile, moveSegment, trimStep } from './move.js';
import { assertRecord } from './read-segment.js';

export function withArchive(store: Store, environment: Environment, readOnly: boolean): Store {
  const archive = new Archive(environment);
  if (!readOnly) removeLeftovers(environment, archive);
  const base = {
    entry: store.entry,
    entries: store.entries,
    event: store.event,
    events: store.events,
  };
  /** A segment that holds it. A reader may learn only now of one that a writer made meanwhile. */
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

  /** Rows of LMDB as far as they go without a gap, then of a segment, and so on. */
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
    // In neither: what LMDB holds beyond is given as it is, and whoever reads sees the gap.
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
  /** Segments that this process read as a whole, or wrote. */
  const whole = new Set<string>();
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
      for (const segment of archive.segments) {
        try {
          await assertFile(environment.folder, segment);
          assertRecord(environment.folder, segment);
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
