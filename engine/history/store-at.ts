/** A store as it was after an entry: what came later is not in it, and nothing can be written. */
import type { Store, StoreMeta } from '../store/index.js';
import type { RecordsAt } from './records.js';

export function storeAt(live: Store, records: RecordsAt, meta: StoreMeta): Store {
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
