/** Where two kept runs part: the first entry, whose it is, and the field or event that differs. */
import { join } from 'node:path';
import {
  openLmdbStore,
  SCHEMA_VERSION,
  type Store,
  storedLines,
  tables,
} from '../../engine/internal.js';
import { firstDivergence, firstEventDivergence } from './logs.js';

/** Where two runs part. */
export interface RunDifference {
  /** The first entry that differs; absent where all are the same. */
  seq?: number;
  /** The first entry that differs, or what does where all entries are the same. */
  where: string;
  /**
   * From the outside in: `by` (whose entry it is; also in the other run, where that differs),
   * `event`, `field`, and under the name of each run what it has there.
   */
  details: Record<string, string>;
}

/** A kept run, and what it is called. */
export interface Side {
  name: string;
  folder: string;
}

/** What parts two runs whose digests differ. */
export async function partingOf(a: Side, b: Side): Promise<RunDifference> {
  return (
    (await parting(a, b)) ?? { where: 'only the digests of the whole runs differ', details: {} }
  );
}

/** Null where all entries and digests are the same. */
export async function parting(a: Side, b: Side): Promise<RunDifference | null> {
  const stores = [storeOf(a), storeOf(b)] as const;
  try {
    const entry = firstDivergence(...both(stores, (store) => storedLines(store, 0, last(store))));
    if (!entry) return null;
    const { seq } = entry;
    const where = `entry ${seq} (${entry.kind})`;
    const values = (found: { a: string; b: string }) => ({ [a.name]: found.a, [b.name]: found.b });
    if (entry.path !== 'digest') {
      const { actor, other } = entry;
      const who = other === undefined ? {} : { [`by, ${b.name}`]: other };
      const details = { by: actor, ...who, field: entry.path || 'the entry', ...values(entry) };
      return { seq, where, details };
    }
    const event = firstEventDivergence(
      ...both(stores, (store) => store.events(1, lastEvent(store))),
    );
    if (!event) {
      const field = 'the records that it changed; all events are the same';
      return { seq, where, details: { by: entry.actor, field, ...values(entry) } };
    }
    const named = `${event.seq} (${event.type})`;
    const details = { by: entry.actor, event: named, field: event.path, ...values(event) };
    return { seq, where: `${where}: the entry is the same, what followed is not`, details };
  } finally {
    for (const store of stores) await store.close();
  }
}

/** Read-only; to be closed. */
export const storeOf = ({ folder }: Pick<Side, 'folder'>): Store =>
  openLmdbStore({
    path: join(folder, 'network'),
    tables,
    schemaVersion: SCHEMA_VERSION,
    readOnly: true,
  });

const last = (store: Store): number => store.meta()!.seq;
const lastEvent = (store: Store): number => store.meta()!.event_seq;

function both<T>([a, b]: readonly [Store, Store], of: (store: Store) => T): [T, T] {
  return [of(a), of(b)];
}
