/**
 * The engine's reader over a store: records that are applied but not committed yet lie over those
 * on disk, because LMDB does not show its own uncommitted writes.
 */
import type { Change, Reader } from '../core/index.js';
import type { ProposeCommand, RecordKey, RecordOf, Table } from '../protocol/schema/index.js';
import type { RangeOptions, Store } from '../store/store.js';

/** What the engine reads by key while it runs; the other tables it only writes. */
const readTables: readonly Table[] = [
  'agents',
  'alliances',
  'blocks',
  'electorates',
  'equivocations',
  'memes',
  'requests',
  'transactions',
  'votes',
];

/** What it reads of a store. */
type Records = Pick<Store, 'get' | 'range'>;

/** The same for equal keys of one table, which are all of one form. */
const idOf = (key: RecordKey): string | number => (typeof key === 'object' ? key.join(' ') : key);

/** What lies over one table, by key, in the order of entries. */
type Laid = Map<string | number, { value: unknown; seq: number }>;

export class Overlay implements Reader {
  readonly #store: Records;
  readonly #proposal: (entry: number) => ProposeCommand;
  readonly #laid = new Map<Table, Laid>(readTables.map((table) => [table, new Map()]));

  constructor(store: Records, proposal: (entry: number) => ProposeCommand) {
    this.#store = store;
    this.#proposal = proposal;
  }

  read<T extends Table>(table: T, key: RecordKey): RecordOf[T] | undefined {
    const laid = this.#laid.get(table);
    // Mostly nothing lies there: then no text is made of a key of several parts.
    const pending = laid && laid.size > 0 ? laid.get(idOf(key)) : undefined;
    if (pending) return (pending.value ?? undefined) as RecordOf[T] | undefined;
    const json = this.#store.get(table, key);
    return json === undefined ? undefined : (JSON.parse(json) as RecordOf[T]);
  }

  *range<T extends Table>(table: T, options: RangeOptions = {}) {
    for (const { key, json } of this.#store.range(table, options)) {
      yield { key, value: JSON.parse(json) as RecordOf[T] };
    }
  }

  proposal(entry: number): ProposeCommand {
    return this.#proposal(entry);
  }

  /** Lays the changes of entry `seq` over the store. */
  add(seq: number, changes: readonly Change[]): void {
    for (const { table, key, value } of changes) {
      const laid = this.#laid.get(table);
      if (!laid) continue;
      const id = idOf(key);
      // What is laid again goes to the end.
      laid.delete(id);
      laid.set(id, { value, seq });
    }
  }

  /** Takes away what entries up to `seq` laid: the store has it now. */
  remove(seq: number): void {
    for (const laid of this.#laid.values()) {
      for (const [id, pending] of laid) {
        if (pending.seq > seq) break;
        laid.delete(id);
      }
    }
  }
}
