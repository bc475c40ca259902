/** What a page is told of a run. */
export { keptRun, madeRun } from './run.js';
export { scenarioShown } from './scenario.js';
