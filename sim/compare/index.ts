/** Two runs that should be the same: where they part. */
export {
  checkDeterminism,
  comparedVerifiers,
  compareRuns,
  type Determinism,
  type MakeRun,
} from './determinism.js';
export { type Futures, futuresOf, type VoteCounts, type VoterDifference } from './futures.js';
export { type JsonDifference, jsonDifference } from './json.js';
export {
  type EventDifference,
  firstDivergence,
  firstEventDivergence,
  type LogDifference,
  type StoredEvents,
} from './logs.js';
export { partingOf, type RunDifference, type Side, storeOf } from './parting.js';
export { resultIn } from './result.js';
export {
  type BlockDifference,
  type BlockOutcome,
  compareKept,
  type KeptComparison,
  type MeasureDifference,
} from './runs.js';
