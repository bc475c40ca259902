/** Deciders outside of the process: programs and servers that decide for agents. */
export { AskingEnded, DeciderError } from './budget.js';
export { CASSETTE_FILE } from './cassette/name.js';
export { type DeciderHooks, type DeciderOptions, Deciders } from './deciders.js';
export type { FailureReason } from './doors/door.js';
export type { DeciderFigures } from './figures.js';
