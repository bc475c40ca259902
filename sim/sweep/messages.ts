/** Messages of sweeps: of their folders, and of the files in them. */
import {
  Failure,
  type MessageRow,
  type MessageTable,
  type MessageValues,
  withFix,
} from '../../engine/protocol/messages.js';
import { defineStoreErrors } from '../../engine/store/messages.js';

const sweepMessages = {
  FOLDER_IN_USE: { text: 'another process is using the sweep folder: {path}' },
  FOLDER_UNUSABLE: { text: 'cannot use the sweep folder: {path}: {reason}' },
  FILE_UNREADABLE: { text: 'cannot read {path}: {reason}' },
  FOREIGN_RUNS: {
    text: 'folder holds runs or logs without a sweep.json: {path}',
    fix: 'choose a new folder',
  },
  SWEEP_EXISTS: {
    text: 'folder already holds a sweep: {path}',
    fix: 'choose a new folder, or continue with --resume',
  },
  DIFFERENT_SWEEP: {
    text: 'folder holds a different sweep: {path}: {difference}',
    fix: 'nothing was changed',
  },
  FOREIGN_RUN: {
    text: 'run does not belong to shard {shard}: {path}',
    fix: 'nothing was changed; choose a new folder, or add only replicates, without until',
  },
  NOTHING_TO_MERGE: { text: 'no folders to merge', fix: 'give the folders of all shards' },
  NO_SWEEP: {
    text: 'folder holds no sweep: {path}',
    fix: 'expected a folder of folkmoot sweep --shard',
  },
  NO_SHARD: {
    text: 'folder holds a sweep without shards: {path}',
    fix: 'expected a folder of folkmoot sweep --shard',
  },
  DIFFERENT_FORMAT: {
    text: 'folder was written by a build with a different file format: {path}',
    fix: 'merge with that build',
  },
  DIFFERENT_BUILD: {
    text: 'folder was written by a different build: {path}: {member} {there} there, {here} here',
    fix: 'merge with that build',
  },
  SHARDS_DIFFER: { text: 'shards of different sweeps: {first} and {second}: {difference}' },
  DUPLICATE_SHARD: {
    text: 'duplicate shard {shard}: {first} and {second}',
    fix: 'give each shard once',
  },
  MISPLACED_RUN: { text: 'run in the wrong shard: {path} belongs to {owner}, not to {holder}' },
  RUNS_MISSING: {
    text: 'incomplete shards: {shards} (missing runs: {runs})',
    fix: 'nothing was merged',
  },
} as const satisfies MessageTable;

/**
 * Problems with the folders of sweeps and shards. A user can correct all of them.
 *
 * @useDeclaredType
 */
export type SweepErrorCode = keyof typeof sweepMessages;

/** Thrown when a sweep's or shard's folder cannot be used as requested. A user can correct this. */
export class SweepError<Code extends SweepErrorCode = SweepErrorCode> extends Failure<Code> {
  override name = 'SweepError';
  /** Stable key of the message. */
  readonly code: Code;

  /** @internal */
  constructor(
    code: Code,
    values: MessageValues<(typeof sweepMessages)[Code]>,
    options?: ErrorOptions,
  ) {
    super('user', code, withFix<MessageRow>(sweepMessages[code], values), options);
    this.code = code;
  }
}

/** Errors of a sweep's files. */
export const sweepDataError = defineStoreErrors({
  SEAL_INVALID: {
    code: 'CORRUPT',
    text: 'invalid line {line} in {path}',
    fix: 'remove the file, then write it again with folkmoot sweep --resume',
  },
  SWEEP_FILE_UNREADABLE: { code: 'CORRUPT', text: 'cannot read {path}: {reason}' },
  SWEEP_FILE_INVALID: { code: 'CORRUPT', text: 'invalid {path}: {reason}' },
  RUN_FILE_INVALID: {
    code: 'CORRUPT',
    text: 'invalid {path}: {reason}',
    fix: 'remove the file, then repeat the run with folkmoot sweep --resume',
  },
  RUN_FILE_UNREADABLE: {
    code: 'CORRUPT',
    text: 'cannot read {path}',
    fix: 'remove the file, then repeat the run with folkmoot sweep --resume',
  },
  SHARD_FILE_DIFFERS: {
    code: 'CORRUPT',
    text: '{path} differs from {other}',
    fix: 'remove the file, then copy it again with folkmoot merge --resume',
  },
  SHARD_FILE_EXTRA: {
    code: 'CORRUPT',
    text: '{path} is not in the {seal} of its shard',
    fix: 'remove the file, then repeat the run with folkmoot sweep --resume',
  },
  SHARD_FILE_CHANGED: {
    code: 'CORRUPT',
    text: '{path} changed after its shard finished: sha256 {found}, but {expected} in {seal}',
    fix: 'remove the file, then repeat the run with folkmoot sweep --resume',
  },
});
