/** The records that one entry changed, each at most once, in an order that the entry fixes. */
import type { RecordKey, RecordOf, Table } from '../protocol/schema/index.js';

/** A record that one entry changed; `null` deletes it. */
export interface Change {
  table: Table;
  key: RecordKey;
  value: RecordOf[Table] | null;
}

export class Changes {
  #list: Change[] = [];

  put<T extends Table>(table: T, key: RecordKey, value: RecordOf[T]): void {
    this.#list.push({ table, key, value });
  }

  drop(table: Table, key: RecordKey): void {
    this.#list.push({ table, key, value: null });
  }

  take(): Change[] {
    const list = this.#list;
    this.#list = [];
    return list;
  }
}
