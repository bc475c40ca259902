/**
 * The public list of `folkmoot/testing`: what tests take hold of, from the log's bytes to the
 * points at which a process can be killed. No program needs it, and none of our floors may.
 */
export {
  type Admission,
  admit,
  type Change,
  type CrashPoint,
  crashPoints,
  Digests,
  decodeEntry,
  type EncodedStep,
  encodeStep,
  frame,
  type Step,
  type StoredEntry,
  splitStored,
  verifyReference,
  verifyWithLibsodium,
} from '../engine/internal.js';
export { checkDeterminism, type Determinism, type RunDifference } from '../sim/compare/index.js';
export type { FaultHooks } from '../sim/run/options.js';
export { simulateWithFaults } from '../sim/run/simulate.js';
