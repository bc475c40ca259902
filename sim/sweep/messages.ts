import type { MessageTable } from '../../engine/protocol/messages.js';

/** Problems of the folders of sweeps and shards, all of which a user can correct. */
export const sweepMessages = {
  FOLDER_IN_USE: { text: 'another process is using the sweep folder: {path}' },
  FOLDER_UNUSABLE: { text: 'cannot use the sweep folder: {path}: {reason}' },
  FILE_UNREADABLE: { text: 'cannot read {path}: {reason}' },
  FOREIGN_RUNS: {
    text: 'folder holds runs without a sweep.json: {path}',
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
    text: 'folder was written by another build with a different file format: {path}',
    fix: 'merge with that build',
  },
  DIFFERENT_BUILD: {
    text: 'folder was written by another build: {path}: {member} is {there} there and {here} here',
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
