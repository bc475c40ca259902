/** The load tester: what the command line and other benchmarks use of it. */
export { LoadError } from './error.js';
export { type LoadOptions, loadDefaults, type WorkloadName, workloadDefaults } from './options.js';
export type { Probe } from './result.js';
export { LoadResult } from './result.js';
export { type LoadHooks, type LoadProgress, runLoad } from './run/run.js';
export {
  type Objective,
  type SaturateHooks,
  type SaturateOptions,
  saturate,
} from './saturate/saturate.js';
