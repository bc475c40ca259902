/** The public list of measures: what is collected in a run, and the tables it ends in. */

export { openTables, prepareOutput, type Tables, writeResult } from '../run/output.js';
export type { ContentNote, DecisionNote, Observer, Traffic } from '../world/observer.js';
export type { MeasuredAgent } from './collect/population.js';
export type { Counts, Reads } from './collected.js';
export { Collector } from './collector.js';
export * from './dictionary.js';
export type { Finished, TableRows } from './finish.js';
