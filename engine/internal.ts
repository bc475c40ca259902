/**
 * The list of the engine for our own floors: all that is public, and what only they may use. It is
 * no entry of the package, so that any of it can change.
 */
export { badTimestampHeader, keyProblem, signatureProblem } from './admit/credentials.js';
export { freshness, type Knows, knownKey } from './admit/edge-checks.js';
export { genesisIn } from './admit/genesis.js';
export { type Admission, admit, admitNow } from './admit/index.js';
export {
  type Change,
  decide,
  Engine,
  emptyReader,
  type Input,
  neededToFinalize,
  type Position,
  type QuorumRule,
  type Reader,
  type Step,
} from './core/index.js';
export {
  createPoolVerifier,
  type PoolVerifier,
  startPool,
  verifyReference,
  verifyWithLibsodium,
} from './crypto/index.js';
export type { HistoryWork } from './history/history.js';
export { replayedIndex } from './history/replayed-index.js';
export * from './index.js';
export { firstKept } from './node/archiver.js';
export { type EncodedStep, encodeStep } from './node/encode.js';
export {
  blockEnds,
  decodeIndexRow,
  encodeIndexRow,
  eventTypes,
  type IndexedEntry,
  type IndexRow,
  type IndexTotals,
  noTotals,
} from './node/entry-index/row.js';
export type { Spent } from './node/kept/served.js';
export { endProcess } from './node/network-options.js';
export { completeGenesis } from './node/open-store.js';
export {
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
  Type,
  Value,
} from './protocol/bundled/typebox.js';
export { isHash, isPublicKey, isSignature } from './protocol/hex.js';
export { type JsonResult, parseJson } from './protocol/json.js';
export { Digests, decodeEntry, frame, type StoredEntry, splitStored } from './protocol/log.js';
export { nearest } from './protocol/nearest.js';
export { pointerStep } from './protocol/pointer.js';
export * from './protocol/schema/index.js';
// Of these only the types are public: here the schemas, too.
export {
  AgentList,
  AgentView,
  AllianceStatus,
  BlockStatus,
  BlockView,
  Capability,
  Decision,
  Genesis,
  MemeType,
  NetworkState,
  Policy,
  ReputationView,
  Role,
  Sentiment,
  Status,
  Weights,
} from './protocol/schema/index.js';
export { validator } from './protocol/schema/validator.js';
export { splitLines } from './replay/split-lines.js';
export { type CrashPoint, crashPoint, crashPoints } from './store/crash.js';
export { FileTooLarge, fileBounds, readBounded } from './store/file/read-bounded.js';
export {
  checkStorePages,
  copiedName,
  copyLmdbStore,
  createMemoryStore,
  DerivedFolder,
  type DerivedFrom,
  freeBytes,
  keysUnder,
  lockFolder,
  makeFolder,
  receivedName,
  replaceData,
  SharedQuota,
} from './store/index.js';
