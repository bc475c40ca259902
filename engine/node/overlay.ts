/**
 * The engine's reader over a store: records that are applied but not committed yet lie over those
 * on disk, because LMDB does not show its own uncommitted writes.
 */
import type { Change, Reader } from '../core/index.js';
import type { ProposeCommand, RecordKey, RecordOf, Table } from '../protocol/schema/index.js';
import type { RangeOptions, Store } from '../store/store.js';

/** What the engine reads by key while it runs; the other tables it only writes. */
const readTables = new Set<Table>([
  'agents',
  'alliances',
  'blocks',
  'electorates',
  'equivocations',
  'memes',
  'requests',
  'transactions',
  'votes',
]);

/** What it reads of a store. */
type Records = Pick<Store, 'get' | 'range'>;

const name = (table: Table, key: RecordKey) =>
  `${table} ${typeof key === 'object' ? key.join(' ') : key}`;

export class Overlay implements Reader {
  readonly #store: Records;
  readonly #proposal: (entry: number) => ProposeCommand;
  readonly #pending = new Map<string, { value: unknown; seq: number }>();
  readonly #order: { name: string; seq: number }[] = [];

  constructor(store: Records, proposal: (entry: number) => ProposeCommand) {
    this.#store = store;
    this.#proposal = proposal;
  }

  read<T extends Table>(table: T, key: RecordKey): RecordOf[T] | undefined {
    const pending = this.#pending.get(name(table, key));
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
      if (!readTables.has(table)) continue;
      const id = name(table, key);
      this.#pending.set(id, { value, seq });
      this.#order.push({ name: id, seq });
    }
  }

  /** Takes away what entries up to `seq` laid: the store has it now. */
  remove(seq: number): void {
    let lifted = 0;
    for (const item of this.#order) {
      if (item.seq > seq) break;
      if (this.#pending.get(item.name)?.seq === item.seq) this.#pending.delete(item.name);
      lifted += 1;
    }
    this.#order.splice(0, lifted);
  }
}
