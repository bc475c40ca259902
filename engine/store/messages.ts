/** Messages for {@link StoreError}, by problem: category, text and advice. */
import type { MessageRow, MessageTable } from '../protocol/messages.js';

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

interface StoreRow extends MessageRow {
  readonly code: StoreErrorCode;
}

const freeSpace = 'free disk space and retry';
const newFolder = 'use a new or empty folder';
const restoreFolder = 'restore the folder from a backup';
const restoreSegment = 'restore the file from a backup (sha256 {sha256})';
const runCheck = 'run folkmoot check on the folder';
const runReplay = 'run folkmoot replay on the folder for details';
const useRecord = 'use --record to keep recorded answers and request the rest';
const runAgain = 'remove the file, then repeat the run with folkmoot sweep --resume';
const loadResult = 'pass the result.json of folkmoot load --out, or its folder';
const listBlocks = 'list blocks with folkmoot events DIR --type block_proposal';

export const storeMessages = {
  // Paths.
  NO_NETWORK: {
    code: 'MISSING',
    text: 'no network found in {path}',
    fix: 'pass a folder created by folkmoot sim --out or folkmoot serve --data',
  },
  NOT_A_FOLDER: {
    code: 'MISSING',
    text: 'not a folder: {path}',
    fix: 'pass a folder created by folkmoot sim --out or folkmoot serve --data',
  },
  PATH_NOT_FOUND: { code: 'MISSING', text: 'path not found: {path}', fix: 'check the path' },
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
  FOLDER_IN_USE_BY_SERVER: {
    code: 'LOCKED',
    text: 'data folder in use: {path}',
    fix: 'stop the server, or start it with --archive-after N',
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
  NO_ROOM_FOR_ARCHIVE: {
    code: 'FULL',
    text: 'too little disk space to archive: {free} bytes free, {needed} needed',
    fix: freeSpace,
  },
  COMMIT_FAILED: {
    code: 'FAILED',
    text: 'commit to {path} failed, outcome unknown: {reason}',
    fix: 'restart the process',
  },
  NETWORK_FULL: { code: 'FULL', text: '{reason}' },
  NETWORK_FAILED: { code: 'FAILED', text: '{reason}' },

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
  GENESIS_MISMATCH: {
    code: 'OTHER_NETWORK',
    text: 'genesis parameter {name} is {found}, not {wanted}',
    fix: 'parameters are fixed at genesis',
  },
  MODULE_NOT_ALLOWED: {
    code: 'OTHER_NETWORK',
    text: 'network {network} decides with a module, and this node does not allow modules',
    fix: 'provide the text of the rule with --rule FILE',
  },
  OLD_GENESIS: {
    code: 'OLDER_SCHEMA',
    text: 'genesis has no {member}, so the log is from an older version of folkmoot',
    fix: 'replay it with that version',
  },
  GENESIS_NOT_JSON: { code: 'CORRUPT', text: 'entry 0 (genesis) is not JSON' },
  GENESIS_INVALID: { code: 'CORRUPT', text: 'invalid genesis: {pointer} {reason}' },

  // Clusters.
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
  ORDER_BEHIND: {
    code: 'OTHER_NETWORK',
    text: 'the order ends at batch {head}, but this node has applied batch {applied}',
    fix: 'find out why the order was cleared or restored; this node writes nothing',
  },

  // Log, records and index.
  ENTRY_MISSING: { code: 'CORRUPT', text: 'entry missing from the log: {seq}', fix: runReplay },
  ENTRY_UNDECODABLE: { code: 'CORRUPT', text: 'cannot decode entry {seq}: {reason}' },
  ENTRY_NOT_CHAINED: {
    code: 'CORRUPT',
    text: 'entry {seq} in {path} does not continue the digest chain',
    fix: runReplay,
  },
  LAST_ENTRY_MISMATCH: {
    code: 'CORRUPT',
    text: 'digests of last entry {seq} in {path} differ from the end of the log',
    fix: runReplay,
  },
  ENTRY_DIVERGES: {
    code: 'CORRUPT',
    text: 'stored data of entry {seq} does not follow from the log: {reason}',
    fix: runReplay,
  },
  LOG_DIVERGES: {
    code: 'CORRUPT',
    text: 'replay diverges at entry {seq} ({kind}, {what}): {found} instead of {expected}',
  },
  NOT_A_PROPOSAL: { code: 'CORRUPT', text: 'entry {seq} is not the proposal of its block' },
  EVENT_MISSING: {
    code: 'CORRUPT',
    text: 'event missing: {seq}',
    fix: 'retry if a server is archiving the folder; if not, run folkmoot check',
  },
  EVENT_DAMAGED: { code: 'CORRUPT', text: 'event {seq} is damaged: {start}', fix: runCheck },
  RECORD_MISSING: { code: 'CORRUPT', text: 'record missing: {table} {key}', fix: runCheck },
  INDEX_ROW_MISSING: { code: 'CORRUPT', text: 'index row missing for entry {seq}' },
  INDEX_ROW_DAMAGED: { code: 'CORRUPT', text: 'index row of entry {seq} is damaged: {reason}' },
  LINE_TOO_LONG: {
    code: 'CORRUPT',
    text: 'line too long: more than {most} characters (expected one entry per line)',
  },
  LINE_NOT_JSON: {
    code: 'CORRUPT',
    text: 'not a JSON object: {where} ({reason})',
    fix: 'pass the output of folkmoot log',
  },
  LINE_MEMBER: {
    code: 'CORRUPT',
    text: 'invalid member {name} in {where} (expected {expected})',
  },

  // Archives.
  SEGMENT_MISSING: {
    code: 'ARCHIVE',
    text: 'segment not found: {path} ({range}): {reason}',
    fix: restoreSegment,
  },
  SEGMENT_UNREADABLE: {
    code: 'ARCHIVE',
    text: 'cannot read segment {path} ({range}): {reason}',
    fix: restoreSegment,
  },
  SEGMENT_DAMAGED: {
    code: 'ARCHIVE',
    text: 'segment {path} ({range}) is damaged: {reason}',
    fix: restoreSegment,
  },
  ARCHIVE_PROBLEM: { code: 'ARCHIVE', text: '{problem}' },
  ARCHIVE_PROBLEMS: { code: 'ARCHIVE', text: '{count} segments are unusable: {problem}' },
  SEGMENT_NOT_OF_LOG: {
    code: 'ARCHIVE',
    text: 'digests recorded for segment {file} do not match the log after entry {seq}',
  },
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

  // Certificates and blocks.
  BAD_BLOCK_HASH: {
    code: 'MISSING',
    text: 'invalid block hash: {block} (expected 64 hex digits)',
  },
  BAD_BLOCK_NAME: {
    code: 'MISSING',
    text: 'invalid block: {block} (expected a height, or at least {digits} digits of a block hash)',
  },
  BLOCK_NOT_FOUND: { code: 'MISSING', text: 'block not found: {block}', fix: listBlocks },
  BLOCK_AMBIGUOUS: {
    code: 'MISSING',
    text: 'more than one block hash begins with {block}',
    fix: listBlocks,
  },
  HEIGHT_NOT_FINAL: { code: 'MISSING', text: 'no finalized block at height {height} in {path}' },
  BLOCK_UNDECIDED: {
    code: 'MISSING',
    text: 'cannot certify block {block}: it is {status} (expected finalized or rejected)',
  },
  NETWORK_UNSIGNED: {
    code: 'MISSING',
    text: 'cannot certify a block of network {network}: the network has no signatures',
    fix: 'recompute its log instead',
  },
  CERTIFY_LOG_END: {
    code: 'MISSING',
    text: 'cannot certify through entry {through}: the log ends at entry {last}',
  },
  CERTIFY_TOO_EARLY: {
    code: 'MISSING',
    text: 'cannot certify through entry {through}: entry {decided} decided the block',
    fix: 'name entry {decided} or a later one',
  },
  CERTIFY_GAP: {
    code: 'MISSING',
    text: 'cannot certify through entry {through}: more than {most} bytes follow the block',
    fix: 'raise the bridge limit',
  },
  CERTIFICATE_TOO_LARGE: {
    code: 'MISSING',
    text: 'certificate too large: {bytes} bytes (expected at most {most})',
  },
  CERTIFICATE_INVALID: {
    code: 'CORRUPT',
    text: 'the log does not give a valid certificate: {where}: {problem}',
  },

  // Views of the log.
  TIME_DECREASES: { code: 'CORRUPT', text: 'time decreases at entry {seq}' },
  ALLIANCE_ORDER: { code: 'CORRUPT', text: 'alliance {id} ended before its proposal' },
  EVENT_VALUE: { code: 'CORRUPT', text: 'unknown value in an event: {value}' },
  ELECTOR_MISSING: {
    code: 'CORRUPT',
    text: 'agent {agent} is not in the electorate of block {block}',
  },
  ENTRY_INCONSISTENT: {
    code: 'CORRUPT',
    text: 'inconsistent events in entry {seq}: {reason}',
    fix: runReplay,
  },
  ENTRIES_INCONSISTENT: {
    code: 'CORRUPT',
    text: 'inconsistent events in entries {from} to {to}: {reason}',
    fix: runReplay,
  },

  // Run output and results.
  OUTPUT_UNUSABLE: { code: 'UNREADABLE', text: 'cannot use the output folder {path}: {reason}' },
  OUTPUT_NOT_EMPTY: { code: 'OTHER_NETWORK', text: 'folder not empty: {path}', fix: newFolder },
  OUTPUT_HAS_RUN: {
    code: 'OTHER_NETWORK',
    text: 'folder already holds a run: {path}',
    fix: newFolder,
  },
  OUTPUT_HAS_LINK: {
    code: 'OTHER_NETWORK',
    text: 'link in an output folder: {path}',
    fix: newFolder,
  },
  OUTPUT_HAS_NETWORK: {
    code: 'OTHER_NETWORK',
    text: 'folder holds the data of a network: {path}',
    fix: newFolder,
  },
  RESULT_UNREADABLE: {
    code: 'UNREADABLE',
    text: 'cannot read {name} in {path}: {reason}',
    fix: 'pass the folder of a finished run or sweep',
  },
  SUMMARY_INVALID: { code: 'CORRUPT', text: 'invalid summary.json in {path}: {reason}' },
  RUN_NOT_FOUND: {
    code: 'MISSING',
    text: 'run not found: {path}',
    fix: 'pass a folder written by folkmoot sim --out',
  },
  RUN_LIVE: {
    code: 'OTHER_NETWORK',
    text: 'not a virtual-time run: {path}',
    fix: 'pass a run in virtual time',
  },
  DECISIONS_DAMAGED: { code: 'CORRUPT', text: 'decision file {path} is damaged: {reason}' },
  LOAD_RESULT_NOT_FOUND: {
    code: 'MISSING',
    text: 'load result not found: {path}',
    fix: loadResult,
  },
  LOAD_RESULT_INVALID: {
    code: 'MISSING',
    text: 'cannot use load result {path}: {reason}',
    fix: loadResult,
  },
  FORK_FAILED: { code: 'FAILED', text: 'fork failed ({which}): {reason}' },
  FORK_ENTRY_MISSING: { code: 'UNREADABLE', text: 'the fork in {path} has no entry {seq}' },

  // Conformance suites.
  SUITE_UNREADABLE: {
    code: 'UNREADABLE',
    text: 'cannot read {path}',
    fix: 'pass a folder written by folkmoot conformance --out',
  },
  SUITE_INVALID: { code: 'UNREADABLE', text: 'invalid {where}: {reason}' },
  UNKNOWN_CASE: { code: 'UNREADABLE', text: 'unknown case in results line {line}: {name}' },

  // Cassettes.
  CASSETTE_NOT_FOUND: {
    code: 'MISSING',
    text: 'cassette not found: {path}',
    fix: 'pass a cassette, or the folder of a run that has {file}',
  },
  CASSETTE_DAMAGED: { code: 'CORRUPT', text: 'cassette {path} is damaged: {reason}' },
  CASSETTE_INCOMPLETE: {
    code: 'CORRUPT',
    text: 'cassette {path} is incomplete after record {record}: {reason}',
    fix: useRecord,
  },
  CASSETTE_OF_OTHER_SCENARIO: {
    code: 'OTHER_NETWORK',
    text: 'cassette {path} is for scenario {found}, not {expected}',
    fix: useRecord,
  },
  CASSETTE_IN_OUTPUT: {
    code: 'OTHER_NETWORK',
    text: 'cassette {path} is for scenario {found}, not {expected}',
    fix: 'use another --out',
  },
  CASSETTE_COMMAND: {
    code: 'CORRUPT',
    text: 'invalid command in the recorded answer to {id}: {reason}',
  },

  // Sweeps.
  SEAL_INVALID: {
    code: 'CORRUPT',
    text: 'invalid line {line} in {path}',
    fix: 'remove the file, then write it again with folkmoot sweep --resume',
  },
  SWEEP_FILE_UNREADABLE: { code: 'CORRUPT', text: 'cannot read {path}: {reason}' },
  SWEEP_FILE_INVALID: { code: 'CORRUPT', text: 'invalid {path}: {reason}' },
  RUN_FILE_INVALID: { code: 'CORRUPT', text: 'invalid {path}: {reason}', fix: runAgain },
  RUN_FILE_UNREADABLE: { code: 'CORRUPT', text: 'cannot read {path}', fix: runAgain },
  SHARD_FILE_DIFFERS: {
    code: 'CORRUPT',
    text: '{path} differs from {other}',
    fix: 'remove the file, then copy it again with folkmoot merge --resume',
  },
  SHARD_FILE_EXTRA: {
    code: 'CORRUPT',
    text: '{path} is not in the {seal} of its shard',
    fix: runAgain,
  },
  SHARD_FILE_CHANGED: {
    code: 'CORRUPT',
    text: '{path} changed after its shard finished: sha256 {found}, but {expected} in {seal}',
    fix: runAgain,
  },
} as const satisfies MessageTable & Readonly<Record<string, StoreRow>>;

export type StoreMessages = typeof storeMessages;

/** Key of a {@link StoreError} message. */
export type StoreProblem = keyof StoreMessages;
