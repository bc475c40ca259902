/** Two runs that should be the same: where they part. */
export {
  checkDeterminism,
  comparedVerifiers,
  compareRuns,
  type Determinism,
  type MakeRun,
  type RunDifference,
} from './determinism.js';
export { type JsonDifference, jsonDifference } from './json.js';
export {
  type EventDifference,
  firstDivergence,
  firstEventDivergence,
  type LogDifference,
  type StoredEvents,
} from './logs.js';
