/** The public list of the engine: what embedding programs, the simulator and tests may use. */
export { badTimestampHeader, keyProblem, signatureProblem } from './admit/credentials.js';
export { type Admission, type Admitted, admit, admitNow } from './admit/index.js';
export type { Verified } from './admit/verify.js';
export {
  Engine,
  emptyReader,
  type Input,
  type Outcome,
  type Position,
  type Reader,
  type Step,
} from './core/index.js';
export * from './crypto/index.js';
export { signatory } from './crypto/signatory.js';
export { type ArchiveOptions, firstKept } from './node/archiver.js';
export { type Clock, systemClock, type VirtualClock, virtualClock } from './node/clock.js';
export { type EncodedEvent, type EncodedStep, encodeStep } from './node/encode.js';
export { Network } from './node/network.js';
export type { Applied, NetworkOptions } from './node/network-options.js';
export type { GenesisOptions } from './node/open-store.js';
export type { Views } from './node/views.js';
export {
  type Static,
  type TProperties,
  type TSchema,
  Type,
  Value,
} from './protocol/bundled/typebox.js';
export { canonical } from './protocol/canonical.js';
export * from './protocol/compose.js';
export { type JsonResult, parseJson } from './protocol/json.js';
export { limits } from './protocol/limits.js';
export { Digests, decodeEntry, frame, splitStored } from './protocol/log.js';
export * from './protocol/schema/index.js';
export { isDuration, parseInstant } from './protocol/time.js';
export {
  type Divergence,
  fileLines,
  type LogLine,
  printLine,
  type ReplayedStep,
  type ReplayOptions,
  type ReplayResult,
  replay,
  storedLines,
} from './replay/index.js';
export { splitLines } from './replay/split-lines.js';
export { type CrashPoint, crashPoint, crashPoints } from './store/crash.js';
export * from './store/index.js';
