/** Where a network is kept: one interface, on disk or in memory. */
export type { Segment } from './archive/record.js';
export { ArchiveError } from './archive/segment.js';
export { makeFolder } from './folder.js';
export { keysUnder } from './keys.js';
export { type LmdbStoreOptions, openLmdbStore } from './lmdb.js';
export { lockFolder } from './lock.js';
export { createMemoryStore } from './memory.js';
export {
  type Batch,
  type RangeOptions,
  type RecordChange,
  type RecordKey,
  type Store,
  type StoreArchive,
  StoreError,
  type StoreErrorCode,
  type StoreMeta,
} from './store.js';
