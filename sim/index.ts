/** The public list of the simulator. */
export { approves, type Personality, personalities } from './agents/personalities.js';
export { type SimOptions, simBounds, simDefaults } from './options.js';
export { type Progress, type SimHooks, type SimResult, simulate } from './simulate.js';
