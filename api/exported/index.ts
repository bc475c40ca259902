/** A kept run in one file, for whoever has no server. */
export { type ExportedFile, type ExportOptions, exported, MOST_EVENTS } from './write.js';
