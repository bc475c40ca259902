/** What the engine asks of its host: synchronous reads of what it does not hold in memory. */
import type { ProposeCommand, RecordKey, RecordOf, Table } from '../protocol/schema/index.js';

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
    throw new Error(`there is no proposal at entry ${entry}: the store is empty`);
  },
};
