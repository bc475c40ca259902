/** Sweeps: many runs over a design, kept so that they can go on after any end. */
export { type Cell, cellsOf, columnOf, countCells, seedOf } from './design/cells.js';
export { checkDesign } from './design/check.js';
export type { FactorValue } from './design/place.js';
export { SweepError } from './folder/folder.js';
export { type IndexRow, indicesOf } from './indices/index.js';
export { type MergeOptions, mergeSweep } from './merge/merge.js';
export { MissingRunsError, type MissingShard } from './merge/missing.js';
export { type Plan, type PlanOptions, planLoaded, planSweep } from './plan.js';
export type { FailureKind, RunRecord } from './record.js';
export type { FailedRun, SweepResult } from './result.js';
export type { Shard } from './shard.js';
export {
  type IntervalKind,
  type Statistics,
  statisticsOf,
} from './statistics/interval.js';
export { Sample } from './statistics/sample.js';
export { type SweepOptions, sweep } from './sweep.js';
