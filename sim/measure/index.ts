/** The public list of measures: what is collected in a run, and the tables it ends in. */
export type { Counts, Reads } from './collected.js';
export { Collector } from './collector.js';
export * from './dictionary.js';
export type { Finished, TableRows } from './finish.js';
export type { ContentNote, DecisionNote, Observer, Traffic } from './observer.js';
export type { MeasuredAgent } from './population.js';
export { openTables, prepareOutput, type Tables, writeResult } from './tables.js';
