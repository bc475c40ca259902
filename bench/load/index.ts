/**
 * The load tester: what the command line and other benchmarks use of it. Its rooms, each of which
 * knows only those above it, and what stands beside this file:
 *
 * - server/     what is asked outside of the measured time, and the event stream
 * - send/       when requests are sent, and how: schedule, sender, connections, answers
 * - prepare/    signs ahead, in threads
 * - record/     counts what became of them
 * - agents/     the agents of a run, and what each of them sends by itself
 * - chain/      blocks, one after another, and the votes that decide them
 * - workloads/  what is asked
 * - run/        the story of one run, and its verdict
 * - figures/    what can be read out of a result: figures by name, tables, comparisons, conditions
 * - saturate/   runs until the highest rate that holds is known
 * - report/     a result as one page
 * - shown/      a run as it is watched, and a result, for the page that a browser opens
 * - files/      what a run leaves in its folder
 */
export { LoadError } from './error.js';
export { type LoadOptions, loadDefaults, type WorkloadName, workloadDefaults } from './options.js';
export { LoadResult, type Probe } from './result.js';
export { type LoadHooks, type LoadProgress, runLoad } from './run/run.js';
export type { Objective } from './saturate/probe.js';
export { type SaturateOptions, saturate } from './saturate/saturate.js';
export type { SaturateHooks } from './saturate/search.js';
