/** The public list of the engine: what embedding programs, the simulator and tests may use. */
export { badTimestampHeader, keyProblem, signatureProblem } from './admit/credentials.js';
export { type Admission, type Admitted, admit, admitNow } from './admit/index.js';
export { type ArchiveOptions, firstKept } from './archiver.js';
export { canonical } from './canonical.js';
export { type Clock, systemClock, type VirtualClock, virtualClock } from './clock.js';
export * from './compose.js';
export {
  Engine,
  emptyReader,
  type Input,
  type Outcome,
  type Position,
  type Reader,
  type Step,
} from './core/index.js';
export { type CrashPoint, crashPoint, crashPoints } from './crash.js';
export * from './crypto/index.js';
export { type EncodedStep, encodeStep, type ToldEvent } from './encode.js';
export { type JsonResult, parseJson } from './json.js';
export { limits } from './limits.js';
export { Digests, decodeEntry, frame, splitStored } from './log.js';
export { Network } from './network.js';
export type { Applied, NetworkOptions } from './network-options.js';
export type { GenesisOptions } from './open-store.js';
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
export * from './schema/index.js';
export { type Static, type TProperties, type TSchema, Type, Value } from './schema/typebox.js';
export { signatory } from './signatory.js';
export { splitLines } from './split-lines.js';
export * from './store/index.js';
export { isDuration, parseInstant } from './time.js';
export type { Verified } from './verify.js';
export type { Views } from './views.js';
