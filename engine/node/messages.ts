/** Messages of a network and its folder. */
import { defineStoreErrors } from '../store/messages.js';

/** Errors of a network's folder, beyond those of its store. */
export const nodeError = defineStoreErrors({
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
