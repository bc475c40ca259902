/** The public list of the simulator. */
export { approves, type Personality, personalities } from './agents/personalities.js';
export {
  Auditor,
  type Foreseen,
  type Put,
  type Reads,
  type Violation,
  violationText,
} from './audit/index.js';
export { type SimOptions, simBounds, simDefaults } from './options.js';
export type { Provenance, SimResult } from './result.js';
export { Interrupted, type Progress, type SimHooks, simulate } from './simulate.js';
