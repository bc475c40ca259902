/** Swarms: scenarios drawn by chance, judged, and shrunk when they fail. */
export type { Coverage } from './coverage.js';
export { type Drawn, draw } from './draw.js';
export { expectsProgress } from './expectation.js';
export type { RunFailure, RunFailureKind } from './failures.js';
export { type SwarmFailure, type SwarmOptions, type SwarmResult, swarm } from './swarm.js';
