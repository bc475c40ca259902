/** The table of contents of the core. */
export type { Change } from './changes.js';
export { Engine, type Input, type Position, type Step, type Summary } from './engine.js';
export { allianceData } from './machines/alliance.js';
export type { Outcome } from './outcome.js';
export { decide, neededToFinalize, type QuorumRule } from './quorum.js';
export { emptyReader, type Reader } from './reader.js';
export type { Turned } from './tables/agents.js';
export { tpsAt } from './tables/throughput.js';
