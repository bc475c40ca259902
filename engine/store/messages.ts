/** Errors of stores and of files of runs: the class, and the messages of the store. */
import {
  Failure,
  type FormattedMessage,
  indexGroups,
  type KeyIn,
  type MessageArguments,
  type MessageGroups,
  type MessageIn,
  type MessageTable,
  withFix,
} from '../protocol/messages.js';

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

/** Error in a store or a run's files: a folder, file or disk cannot be used. */
export class StoreError extends Failure {
  override name = 'StoreError';
  /** Category of the problem. */
  readonly code: StoreErrorCode;
  /** Formats the message for a problem. @internal */
  constructor(
    code: StoreErrorCode,
    problem: string,
    message: FormattedMessage,
    options?: ErrorOptions,
  ) {
    super('storage', problem, message, options);
    this.code = code;
  }
}

type StoreMessages = Readonly<Partial<Record<StoreErrorCode, MessageTable>>>;

/** Defines the storage errors of one room, and returns the function that creates them. */
export function defineStoreErrors<const Groups extends StoreMessages>(groups: Groups) {
  const rows = indexGroups<MessageGroups>(groups);
  return <Problem extends KeyIn<Groups>>(
    problem: Problem,
    ...[values = {}, options]: MessageArguments<MessageIn<Groups, Problem>>
  ): StoreError => {
    const { category, message } = rows[problem]!;
    return new StoreError(category as StoreErrorCode, problem, withFix(message, values), options);
  };
}

const freeSpace = 'free disk space and retry';
const restoreFolder = 'restore the folder from a backup';
const runCheck = 'run folkmoot check on the folder';
const runReplay = 'run folkmoot replay on the folder for details';

export const storeError = defineStoreErrors({
  MISSING: {
    NO_NETWORK: `no network found in {path};
      pass a folder created by folkmoot sim --out or folkmoot serve --data`,
  },
  UNREADABLE: {
    FILE_UNREADABLE: 'cannot open {path}: {reason}',
    FILE_UNWRITABLE: 'cannot write {path}: {reason}',
    FOLDER_UNUSABLE: 'cannot use data folder {path}: {call} failed: {reason}',
    FOLDER_NO_SPACE: `cannot use data folder {path}: {call} failed with ENOSPC; ${freeSpace}`,
    NO_TEMPORARY_FOLDER: 'cannot create a temporary folder: {reason}',
    LOCK_FAILED: 'cannot lock {path}: {reason}',
    LMDB_UNREADABLE: 'LMDB cannot open the data in {path}: {reason}',
    LMDB_CRASHED: `LMDB crashed ({how}) while opening the data in {path};
      raise the address space limit (ulimit -v), or run folkmoot check on the folder`,
    ARCHIVE_UNWRITABLE: 'nothing archived: writing to {path} failed with {reason}',
    LEFTOVERS_STUCK: 'cannot remove files of an unfinished archive in {path}: {reason}',
  },
  LOCKED: {
    FOLDER_IN_USE: 'data folder in use by another writer: {path}; stop that writer first',
    READER_OPEN: 'data folder is open for reading in this process: {path}; close the reader first',
    OPENING_TIMEOUT: 'timed out waiting for another process to release {path}; retry later',
  },
  FULL: {
    NO_ROOM_FOR_NETWORK: `too little disk space for a new network in {path}: {free} bytes free,
      {needed} needed; ${freeSpace}`,
    NO_ROOM_FOR_BATCH: `nothing written to {path}: {free} bytes of disk space free, {needed} needed;
      ${freeSpace}`,
    ARCHIVE_NO_SPACE: `nothing archived: writing to {path} failed with {reason}; ${freeSpace}`,
  },
  FAILED: {
    COMMIT_FAILED: 'commit to {path} failed, outcome unknown: {reason}; restart the process',
  },
  CORRUPT: {
    LMDB_CORRUPT: 'LMDB cannot open the data in {path}: {reason}',
    DATA_MISSING: `no network in {path}, although {trace} shows that one was there;
      restore the whole folder from a backup, or use another folder`,
    DATA_DAMAGED: `{path} is damaged: {reason}; ${restoreFolder}`,
    META_DAMAGED: `stored meta in {path} is damaged: {reason}; ${restoreFolder}`,
    ENTRY_MISSING: `entry missing from the log: {seq}; ${runReplay}`,
    ENTRY_NOT_CHAINED: `entry {seq} in {path} does not continue the digest chain; ${runReplay}`,
    EVENT_MISSING:
      'event missing: {seq}; retry if a server is archiving the folder; if not, run folkmoot check',
    EVENT_DAMAGED: `event {seq} is damaged: {start}; ${runCheck}`,
    RECORD_MISSING: `record missing: {table} {key}; ${runCheck}`,
    SEGMENT_RECORD_DAMAGED: `record of a segment in {path} has an invalid {name}; ${restoreFolder}`,
    NOT_A_PROPOSAL: 'entry {seq} is not the proposal of its block',
    LAST_ENTRY_MISMATCH: `digests of last entry {seq} in {path} differ from the end of the log;
      run folkmoot replay on the folder for details`,
    INDEX_ROW_MISSING: 'index row missing for entry {seq}',
    INDEX_ROW_DAMAGED: 'index row of entry {seq} is damaged: {reason}',
  },
  NEWER_SCHEMA: {
    NEWER_SCHEMA: `{path} has schema version {version}, but this program supports {supported};
      use a newer version of folkmoot`,
  },
  OLDER_SCHEMA: {
    OLDER_SCHEMA: `{path} has schema version {version}, but this program supports {supported};
      use the version of folkmoot that wrote it, or start a new network in another folder`,
  },
  OTHER_NETWORK: {
    WRONG_NETWORK: '{path} holds network {found}, not {expected}',
    GENESIS_MISMATCH:
      'genesis parameter {name} is {found}, not {wanted}; parameters are fixed at genesis',
    CLUSTER_FOLDER: '{path} belongs to a cluster (order {order}); serve it with --cluster',
    OTHER_CLUSTER_FOLDER: `{path} belongs to another cluster (order {order});
      use a new folder, or one that belongs to order {wanted}`,
    STANDALONE_FOLDER:
      '{path} holds a standalone network; use a new folder, or one that belongs to order {wanted}',
  },
  ARCHIVE: {
    SEGMENT_EXISTS: `nothing archived: segment already exists: {path};
      move the file to the folder of its network`,
    SEGMENT_FOREIGN: `segment {path} is of another network: {found} (expected {expected});
      move the file to the folder of its network`,
    SEGMENT_UNRECORDED: `segment {path} is not recorded in data.mdb;
      restore data.mdb and archive/ from the same backup, or move the file elsewhere`,
    ARCHIVE_PROBLEM: '{problem}',
    ARCHIVE_PROBLEMS: '{count} segments are unusable: {problem}',
  },
});
