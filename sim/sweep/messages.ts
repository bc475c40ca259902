/** Messages of sweeps: of their folders, and of the files in them. */
import {
  Failure,
  type MessageTable,
  type MessageValues,
  withFix,
} from '../../engine/protocol/messages.js';
import { defineStoreErrors } from '../../engine/store/messages.js';

const sweepMessages = {
  FOLDER_IN_USE: 'another process is using the sweep folder: {path}',
  FOLDER_UNUSABLE: 'cannot use the sweep folder: {path}: {reason}',
  FOREIGN_RUNS: 'folder holds runs or logs without a sweep.json: {path}; choose a new folder',
  SWEEP_EXISTS:
    'folder already holds a sweep: {path}; choose a new folder, or continue with --resume',
  DIFFERENT_SWEEP: 'folder holds a different sweep: {path}: {difference}; nothing was changed',
  FOREIGN_RUN: `run does not belong to shard {shard}: {path};
    nothing was changed; choose a new folder, or add only replicates, without until`,
  NOTHING_TO_MERGE: 'no folders to merge; give the folders of all shards',
  NO_SWEEP: 'folder holds no sweep: {path}; expected a folder of folkmoot sweep --shard',
  NO_SHARD:
    'folder holds a sweep without shards: {path}; expected a folder of folkmoot sweep --shard',
  DIFFERENT_FORMAT:
    'folder was written by a build with a different file format: {path}; merge with that build',
  DIFFERENT_BUILD: `folder was written by a different build: {path}: {member} {there} there, {here}
    here; merge with that build`,
  SHARDS_DIFFER: 'shards of different sweeps: {first} and {second}: {difference}',
  DUPLICATE_SHARD: 'duplicate shard {shard}: {first} and {second}; give each shard once',
  MISPLACED_RUN: 'run in the wrong shard: {path} belongs to {owner}, not to {holder}',
  RUNS_MISSING: 'incomplete shards: {shards} (missing runs: {runs}); nothing was merged',
} as const satisfies MessageTable;

/** Problems with folders of sweeps and shards. A user can correct all of them. @useDeclaredType */
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
    super('user', code, withFix(sweepMessages[code], values), options);
    this.code = code;
  }
}

export const sweepDataError = defineStoreErrors({
  CORRUPT: {
    SEAL_INVALID: `invalid line {line} in {path};
      remove the file, then write it again with folkmoot sweep --resume`,
    SWEEP_FILE_UNREADABLE: `cannot read {path}: {reason};
      if the file holds a run, remove it, then repeat the run with folkmoot sweep --resume`,
    SWEEP_FILE_INVALID: 'invalid {path}: {reason}',
    RUN_FILE_INVALID:
      'invalid {path}: {reason}; remove the file, then repeat the run with folkmoot sweep --resume',
    SHARD_FILE_DIFFERS: `{path} differs from {other};
      remove the file, then copy it again with folkmoot merge --resume`,
    SHARD_FILE_EXTRA: `{path} is not in the {seal} of its shard;
      remove the file, then repeat the run with folkmoot sweep --resume`,
    SHARD_FILE_CHANGED: `{path} changed after its shard finished: sha256 {found}, but {expected} in
      {seal}; remove the file, then repeat the run with folkmoot sweep --resume`,
  },
});
