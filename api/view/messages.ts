/** The view's error messages. Runs in browsers. */
import { formatMessage, type MessageTable, type ValuesOf } from '../../engine/protocol/messages.js';

const viewMessages = {
  // Decoding a row batch.
  NOT_A_ROW_BATCH: 'not a row batch: FMS1 header missing',
  ROW_BATCH_CHECKSUM: 'damaged row batch: checksum mismatch in {bytes} bytes',
  ROW_BATCH_HEAD: 'damaged row batch: invalid head: {problem}',
  ROW_BATCH_COLUMN: 'damaged row batch: column {column} truncated',
  ROW_BATCH_TRAILING: 'damaged row batch: {bytes} bytes after the columns',
  ROW_BATCH_ROWS: 'damaged row batch of entries {from} to {to}: {problem}',

  // Applying a row batch to a snapshot.
  ENTRIES_MISSING: 'entries {from} to {to} are missing; read a new snapshot',
  SNAPSHOT_AHEAD: 'snapshot of entry {entry} cannot go back to entry {to}',
  NOT_IN_SNAPSHOT: '{kind} {number} not in the snapshot; read a new snapshot',
  AGENT_ORDER: 'unexpected agent number: {number} (expected {expected})',
  UNKNOWN_CODE: 'unknown code: {code} (codes are indexes of {names})',
  CLOSED_AS_VOTING: 'block {number} closed with status voting',

  // Reading the log.
  UNKNOWN_ENTRY: 'unknown entry: {entry}; use an entry from 0 to {last}',
} as const satisfies MessageTable;

type ViewMessages = typeof viewMessages;
export type ViewProblem = keyof ViewMessages;
export type ViewValues<K extends ViewProblem> = ValuesOf<ViewMessages[K]>;

export const viewMessage = <K extends ViewProblem>(problem: K, ...values: ViewValues<K>): string =>
  formatMessage(viewMessages[problem], ...values);

/** Builds a RangeError with the message key as `problem`. */
export const viewRangeError = <K extends ViewProblem>(
  problem: K,
  ...values: ViewValues<K>
): RangeError => Object.assign(new RangeError(viewMessage(problem, ...values)), { problem });
