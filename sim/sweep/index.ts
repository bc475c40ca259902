/** Sweeps: many runs over a design, kept so that they can go on after any end. */
export { type Cell, cellsOf, checkDesign, columnOf, countCells, seedOf } from './design.js';
export { SweepError } from './folder.js';
export type { FactorValue } from './hypercube.js';
export { type Plan, type PlanOptions, planSweep } from './plan.js';
export type { FailureKind, RunRecord } from './record.js';
export { Sample, type Statistics } from './statistics.js';
export { type FailedRun, type SweepOptions, type SweepResult, sweep } from './sweep.js';
