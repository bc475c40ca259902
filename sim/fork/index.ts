/** What if: a kept run made again with something otherwise, once or over many seeds. */
export { expectFolder, expectRecord } from './askable.js';
export { type Forked, type ForkHooks, type Prefix, runFork } from './fork.js';
export { type KeptRun, keptResult, numbersOf, readKept } from './kept.js';
export { planFork } from './replicates.js';
export { actionOf, type Raw } from './say/action.js';
export { momentOf } from './say/moment.js';
export { checkInRun, forkScenario, interventionsOf, type Said } from './scenario.js';
