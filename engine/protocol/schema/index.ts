/** The table of contents of the schemas. */

export { isTag, lowerCase, UNICODE_VERSION } from '../unicode/unicode.js';
export * from './command.js';
export * from './entry.js';
export * from './event.js';
export * from './genesis.js';
export * from './primitives.js';
export * from './reason.js';
export * from './record.js';
export * from './request.js';
export * from './validate.js';
export * from './view.js';
