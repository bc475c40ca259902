/** The public list of the simulator. */
export { approves, type Personality, personalities } from './agents/personalities.js';
export * from './measure/index.js';
export { type SimOptions, simBounds, simDefaults } from './options.js';
export { writeRunReport, writeSweepReport } from './report/index.js';
export type { Provenance, SimResult } from './result.js';
export { Interrupted, type Progress, type SimHooks, simulate } from './simulate.js';
