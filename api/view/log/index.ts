/** What a server makes of a network's log for its page. */
export type { SpanBounds } from './bounds.js';

export { IndexSource, type ViewWork } from './kept/index-source.js';
export { type EntryShown, entryOf } from './reads/entry.js';
export { type MemePage, type MemeQuery, memesOf } from './reads/memes.js';
export { overviewOf } from './reads/overview.js';
export { ViewLog, type ViewLogOptions } from './view-log.js';
