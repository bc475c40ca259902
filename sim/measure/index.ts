/** The public list of measures: what is collected in a run, and the tables it ends in. */

export type { ContentNote, DecisionNote } from '../agents/port/notes.js';
export type { MessageKind } from '../world/messages.js';
export type { Observer, Traffic } from '../world/observer.js';
export type { MeasuredAgent } from './collect/population.js';
export type { MessageFigures } from './collect/traffic.js';
export type { Counts, RunReads } from './collected.js';
export { Collector } from './collector.js';
export { DecisionLine } from './decisions/schema.js';
export * from './dictionary.js';
export type { Finished, TableRows } from './finish.js';
