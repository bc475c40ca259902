/**
 * What one entry causes (changed records, emitted events), and the reader of stored records. An
 * entry changes each record at most once, in an order that the entry fixes.
 */

import type { ProposeCommand } from '../protocol/schema/command.js';
import type { Emitted } from '../protocol/schema/event.js';
import type { RecordKey, RecordOf, Table } from '../protocol/schema/record.js';

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

export class Outbox {
  #emitted: Emitted[] = [];
  #faults: unknown[] = [];

  emit(emitted: Emitted): void {
    this.#emitted.push(emitted);
  }

  /** An actor threw or got an event that its state does not know: a bug, told by the engine. */
  fault(what: unknown): void {
    this.#faults.push(what);
  }

  take(): Emitted[] {
    const taken = this.#emitted;
    this.#emitted = [];
    return taken;
  }

  firstFault(): unknown {
    return this.#faults[0];
  }
}

/** What the engine asks of its host: synchronous reads of what it does not hold in memory. */
export interface Reader {
  /** A record as of the last applied entry, committed or not. */
  read<T extends Table>(table: T, key: RecordKey): RecordOf[T] | undefined;
  /** Records in key order; asked for only while restoring. */
  range<T extends Table>(
    table: T,
    options?: { from?: RecordKey; to?: RecordKey; reverse?: boolean },
  ): Iterable<{ key: RecordKey; value: RecordOf[T] }>;
  /** The command of a logged proposal; asked for only while restoring. */
  proposal(entry: number): ProposeCommand;
}

/** A reader over nothing, for engines that start at genesis without a store. */
export const emptyReader: Reader = {
  read: () => undefined,
  range: () => [],
  proposal: (entry) => {
    throw new Error(`the store is empty: no proposal at entry ${entry}`);
  },
};
