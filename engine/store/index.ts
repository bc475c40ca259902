/** Where a network is kept: one interface, on disk or in memory. */
export type { Segment } from './archive/record.js';
export { ArchiveError } from './archive/segment.js';
export { checkStorePages } from './check/folder.js';
export { makeFolder } from './folder.js';
export { compareKeys, keyId, keysUnder } from './keys.js';
export { type LmdbStoreOptions, openLmdbStore } from './lmdb.js';
export { lockFolder } from './lock.js';
export { createMemoryStore } from './memory.js';
export { openScratch, type Scratch } from './scratch.js';
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
