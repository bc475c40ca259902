/** Where a network is kept: one interface, on disk or in memory. */

export { ArchiveError } from './archive/segment-file.js';
export { writtenBehind } from './behind/behind.js';
export { type DerivedFile, DerivedFolder, type DerivedFrom } from './derived.js';
export { checkStorePages } from './file/check.js';
export { freeBytes, makeFolder } from './file/folder.js';
export { lockFolder } from './file/lock.js';
export { copiedName, receivedName, replaceData } from './file/replace.js';
export { compareKeys, keyId, keysUnder } from './keys.js';
export { copyLmdbStore, type LmdbStoreOptions, openLmdbStore } from './lmdb/lmdb.js';
export { openScratch, type Scratch } from './lmdb/scratch.js';
export { SharedQuota, type SharedQuotaOptions } from './lmdb/shared-quota.js';
export { createMemoryStore } from './memory.js';
export type { Segment } from './segment.js';
export {
  type Batch,
  type OrderMark,
  type RangeOptions,
  type RecordChange,
  type RecordKey,
  type Store,
  type StoreArchive,
  StoreError,
  type StoreErrorCode,
  type StoreMeta,
} from './store.js';
