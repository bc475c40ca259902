/** Errors of stores and of files of runs: the class, and the messages of the store. */
import { Failure, type MessageArguments, type MessageRow, withFix } from '../protocol/messages.js';

/** Category of a {@link StoreError}. See docs/operating.md. */
export type StoreErrorCode =
  | 'LOCKED'
  | 'OTHER_NETWORK'
  | 'NEWER_SCHEMA'
  | 'OLDER_SCHEMA'
  | 'MISSING'
  | 'UNREADABLE'
  | 'CORRUPT'
  | 'ARCHIVE'
  | 'FULL'
  | 'FAILED';

/** A message of a {@link StoreError}, with its category. */
export interface StoreRow extends MessageRow {
  readonly code: StoreErrorCode;
}

/**
 * Error in a store or a run's files: a folder, file or disk cannot be used.
 */
export class StoreError extends Failure {
  override name = 'StoreError';
  /** Category of the problem. */
  readonly code: StoreErrorCode;
  /**
   * Formats the message for a problem.
   *
   * @internal
   */
  constructor(problem: string, row: StoreRow, values: object = {}, options?: ErrorOptions) {
    super('storage', problem, withFix<MessageRow>(row, values), options);
    this.code = row.code;
  }
}

/** Defines the storage errors of one room, and returns the function that creates them. */
export const defineStoreErrors =
  <const Table extends Readonly<Record<string, StoreRow>>>(table: Table) =>
  <Problem extends keyof Table & string>(
    problem: Problem,
    ...[values, options]: MessageArguments<Table[Problem]>
  ): StoreError =>
    new StoreError(problem, table[problem]!, values, options);

const freeSpace = 'free disk space and retry';
const restoreFolder = 'restore the folder from a backup';
const runCheck = 'run folkmoot check on the folder';
const runReplay = 'run folkmoot replay on the folder for details';

/** Errors of a store and its folder. */
export const storeError = defineStoreErrors({
  // Paths.
  NO_NETWORK: {
    code: 'MISSING',
    text: 'no network found in {path}',
    fix: 'pass a folder created by folkmoot sim --out or folkmoot serve --data',
  },
  FILE_UNREADABLE: { code: 'UNREADABLE', text: 'cannot open {path}: {reason}' },
  FILE_UNWRITABLE: { code: 'UNREADABLE', text: 'cannot write {path}: {reason}' },
  FOLDER_UNUSABLE: {
    code: 'UNREADABLE',
    text: 'cannot use data folder {path}: {call} failed: {reason}',
  },
  FOLDER_NO_SPACE: {
    code: 'UNREADABLE',
    text: 'cannot use data folder {path}: {call} failed with ENOSPC',
    fix: freeSpace,
  },
  NO_TEMPORARY_FOLDER: { code: 'UNREADABLE', text: 'cannot create a temporary folder: {reason}' },

  // Locks and disk space.
  FOLDER_IN_USE: {
    code: 'LOCKED',
    text: 'data folder in use by another writer: {path}',
    fix: 'stop that writer first',
  },
  READER_OPEN: {
    code: 'LOCKED',
    text: 'data folder is open for reading in this process: {path}',
    fix: 'close the reader first',
  },
  OPENING_TIMEOUT: {
    code: 'LOCKED',
    text: 'timed out waiting for another process to release {path}',
    fix: 'retry later',
  },
  LOCK_FAILED: { code: 'UNREADABLE', text: 'cannot lock {path}: {reason}' },
  NO_ROOM_FOR_NETWORK: {
    code: 'FULL',
    text: 'too little disk space for a new network in {path}: {free} bytes free, {needed} needed',
    fix: freeSpace,
  },
  NO_ROOM_FOR_BATCH: {
    code: 'FULL',
    text: 'nothing written to {path}: {free} bytes of disk space free, {needed} needed',
    fix: freeSpace,
  },
  COMMIT_FAILED: {
    code: 'FAILED',
    text: 'commit to {path} failed, outcome unknown: {reason}',
    fix: 'restart the process',
  },

  // Data and versions.
  LMDB_UNREADABLE: { code: 'UNREADABLE', text: 'LMDB cannot open the data in {path}: {reason}' },
  LMDB_CORRUPT: { code: 'CORRUPT', text: 'LMDB cannot open the data in {path}: {reason}' },
  LMDB_CRASHED: {
    code: 'UNREADABLE',
    text: 'LMDB crashed ({how}) while opening the data in {path}',
    fix: 'raise the address space limit (ulimit -v), or run folkmoot check on the folder',
  },
  DATA_MISSING: {
    code: 'CORRUPT',
    text: 'no network in {path}, although {trace} shows that one was there',
    fix: 'restore the whole folder from a backup, or use another folder',
  },
  DATA_DAMAGED: { code: 'CORRUPT', text: '{path} is damaged: {reason}', fix: restoreFolder },
  META_DAMAGED: {
    code: 'CORRUPT',
    text: 'stored meta in {path} is damaged: {reason}',
    fix: restoreFolder,
  },
  NEWER_SCHEMA: {
    code: 'NEWER_SCHEMA',
    text: '{path} has schema version {version}, but this program supports {supported}',
    fix: 'use a newer version of folkmoot',
  },
  OLDER_SCHEMA: {
    code: 'OLDER_SCHEMA',
    text: '{path} has schema version {version}, but this program supports {supported}',
    fix: 'use the version of folkmoot that wrote it, or start a new network in another folder',
  },
  WRONG_NETWORK: { code: 'OTHER_NETWORK', text: '{path} holds network {found}, not {expected}' },

  // Log, records and index.
  ENTRY_MISSING: { code: 'CORRUPT', text: 'entry missing from the log: {seq}', fix: runReplay },
  ENTRY_NOT_CHAINED: {
    code: 'CORRUPT',
    text: 'entry {seq} in {path} does not continue the digest chain',
    fix: runReplay,
  },
  EVENT_MISSING: {
    code: 'CORRUPT',
    text: 'event missing: {seq}',
    fix: 'retry if a server is archiving the folder; if not, run folkmoot check',
  },
  EVENT_DAMAGED: { code: 'CORRUPT', text: 'event {seq} is damaged: {start}', fix: runCheck },
  RECORD_MISSING: { code: 'CORRUPT', text: 'record missing: {table} {key}', fix: runCheck },

  // Archives.
  SEGMENT_EXISTS: {
    code: 'ARCHIVE',
    text: 'nothing archived: segment already exists: {path}',
    fix: 'move the file to the folder of its network',
  },
  SEGMENT_FOREIGN: {
    code: 'ARCHIVE',
    text: 'segment {path} is of another network: {found} (expected {expected})',
    fix: 'move the file to the folder of its network',
  },
  SEGMENT_UNRECORDED: {
    code: 'ARCHIVE',
    text: 'segment {path} is not recorded in data.mdb',
    fix: 'restore data.mdb and archive/ from the same backup, or move the file elsewhere',
  },
  SEGMENT_RECORD_DAMAGED: {
    code: 'CORRUPT',
    text: 'record of a segment in {path} has an invalid {name}',
    fix: restoreFolder,
  },
  ARCHIVE_NO_SPACE: {
    code: 'FULL',
    text: 'nothing archived: writing to {path} failed with {reason}',
    fix: freeSpace,
  },
  ARCHIVE_UNWRITABLE: {
    code: 'UNREADABLE',
    text: 'nothing archived: writing to {path} failed with {reason}',
  },
  LEFTOVERS_STUCK: {
    code: 'UNREADABLE',
    text: 'cannot remove files of an unfinished archive in {path}: {reason}',
  },

  // A network in the folder.
  GENESIS_MISMATCH: {
    code: 'OTHER_NETWORK',
    text: 'genesis parameter {name} is {found}, not {wanted}',
    fix: 'parameters are fixed at genesis',
  },
  CLUSTER_FOLDER: {
    code: 'OTHER_NETWORK',
    text: '{path} belongs to a cluster (order {order})',
    fix: 'serve it with --cluster',
  },
  OTHER_CLUSTER_FOLDER: {
    code: 'OTHER_NETWORK',
    text: '{path} belongs to another cluster (order {order})',
    fix: 'use a new folder, or one that belongs to order {wanted}',
  },
  STANDALONE_FOLDER: {
    code: 'OTHER_NETWORK',
    text: '{path} holds a standalone network',
    fix: 'use a new folder, or one that belongs to order {wanted}',
  },
  NOT_A_PROPOSAL: { code: 'CORRUPT', text: 'entry {seq} is not the proposal of its block' },
  LAST_ENTRY_MISMATCH: {
    code: 'CORRUPT',
    text: 'digests of last entry {seq} in {path} differ from the end of the log',
    fix: 'run folkmoot replay on the folder for details',
  },
  INDEX_ROW_MISSING: { code: 'CORRUPT', text: 'index row missing for entry {seq}' },
  INDEX_ROW_DAMAGED: { code: 'CORRUPT', text: 'index row of entry {seq} is damaged: {reason}' },
  ARCHIVE_PROBLEM: { code: 'ARCHIVE', text: '{problem}' },
  ARCHIVE_PROBLEMS: { code: 'ARCHIVE', text: '{count} segments are unusable: {problem}' },
});
