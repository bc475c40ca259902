/**
 * Entry point `folkmoot/testing`: internals for tests, from log bytes to crash points. No other
 * module in the package may import this entry point.
 */
export { type Admission, admit, admitLogged } from '../engine/admit/admit.js';
export type { Change } from '../engine/core/changes.js';
export type { Step } from '../engine/core/engine.js';
export { verifyOne as verifyWithLibsodium } from '../engine/crypto/keys.js';
export { verifyReference } from '../engine/crypto/reference.js';
export { type EncodedStep, encodeStep } from '../engine/node/encode.js';
export {
  Digests,
  decodeEntry,
  frame,
  type StoredEntry,
  splitStored,
} from '../engine/protocol/log.js';
export { type CrashPoint, crashPoints } from '../engine/store/process-end.js';
export { checkDeterminism, type Determinism } from '../sim/compare/determinism.js';
export type { RunDifference } from '../sim/compare/logs.js';
export type { FaultHooks } from '../sim/run/options.js';
export { simulateWithFaults } from '../sim/run/simulate.js';
