/** The public list of live runs: agents on a network of this process, or on somebody's server. */
export type { LiveOptions } from './live-run.js';
export { type PopulateOptions, type Population, populate } from './populate.js';
export { type RemoteHooks, type RemoteOptions, simulateRemote } from './simulate-remote.js';
