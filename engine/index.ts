/** Public API for programs that embed a network. `folkmoot/testing` exports hooks for tests. */
export type { Admitted } from './admit/admit.js';
export type { GenesisOptions } from './admit/genesis.js';
export type { Verification, Verified } from './admit/verify.js';
export { type CertifyOptions, certify } from './certificate/certify.js';
export {
  type CertificateHolds,
  type CertificateRefused,
  type CertifiedVote,
  type CheckCertificateOptions,
  checkCertificate,
} from './certificate/check.js';
export type { CertificateClaim, ChainDigests } from './certificate/format.js';
export type { CertifiedGenesis, CertifiedProposal } from './certificate/requests.js';
export type { SpanDigests, TrustedDigest } from './certificate/statement.js';
export type { Outcome } from './core/state.js';
export {
  generateKeyPair,
  type KeyPair,
  keyPairFromSeed,
  sign,
  signatory,
} from './crypto/keys.js';
export {
  createVerifier,
  type VerifierKind,
  type VerifierOptions,
} from './crypto/pool.js';
export {
  type Verifier,
  VerifierBusy,
  type VerifierStats,
  type VerifyJob,
} from './crypto/verifier.js';
export type { CheckpointStats } from './history/history.js';
export { History, type HistoryOptions, type HistoryWork, type Moment } from './history/history.js';
export type { ArchiveOptions } from './node/archiver.js';
export {
  type Clock,
  systemClock,
  type Timekeeper,
  type VirtualClock,
  virtualClock,
} from './node/clock.js';
export type { EncodedEvent, PublishedEvent } from './node/encode.js';
export type { ServedNetwork } from './node/kept-network.js';
export { KeptNetwork, type KeptOptions } from './node/kept-network.js';
export { Network } from './node/network.js';
export type { Applied, NetworkOptions } from './node/open-store.js';
export type { Views } from './node/views.js';
export { canonical } from './protocol/canonical.js';
export {
  type AllianceFields,
  composeAllianceLeave,
  composeAlliancePropose,
  composeAllianceRespond,
  composeDiscuss,
  composeMeme,
  composeProposal,
  composeRegister,
  composeStatus,
  composeTransaction,
  composeVote,
  type DiscussFields,
  type MemeFields,
  type ProposalFields,
  type Registration,
  type Signatory,
  type SignedTransaction,
  signingInput,
  type VoteFields,
} from './protocol/compose.js';
export type { Durations } from './protocol/limits.js';
export { limits } from './protocol/limits.js';
export { Failure, type FailureSource } from './protocol/messages.js';
export type {
  AllianceLeaveCommand,
  AllianceProposeCommand,
  AllianceRespondCommand,
  Command,
  CommandKind,
  CommandOf,
  DiscussCommand,
  MemeCommand,
  ProposeCommand,
  ProposedTransaction,
  RegisterCommand,
  StatusCommand,
  VoteCommand,
} from './protocol/schema/command.js';
export {
  type Carriage,
  carriage,
  type Entry,
  type EntryKind,
  type SignedRequest,
  targetOf,
} from './protocol/schema/entry.js';
export {
  type Emitted,
  type Event,
  type EventData,
  type EventType,
  eventTopics,
} from './protocol/schema/event.js';
export {
  type Genesis,
  genesisDefaults,
  type Policy,
  type RuleLine,
  type RuleOptions,
  type Weights,
  weightings,
} from './protocol/schema/genesis.js';
export {
  type AllianceStatus,
  type BlockStatus,
  type Capability,
  type Decision,
  formatInstant,
  GENESIS_HASH,
  type MemeType,
  type Role,
  type Sentiment,
  type Status,
} from './protocol/schema/primitives.js';
export { type ErrorCode, type Reason, type Refusal, reasons } from './protocol/schema/reason.js';
export {
  type RecordKey,
  type RecordOf,
  SCHEMA_VERSION,
  type Standing,
  type StandingField,
  standingOf,
  type Table,
  tables,
} from './protocol/schema/record.js';
export type {
  AgentList,
  AgentView,
  Answer,
  AnswerOf,
  BlockView,
  NetworkState,
  ReputationView,
} from './protocol/schema/view.js';
export { isDuration, parseInstant } from './protocol/time.js';
export { fileLines, storedLines } from './replay/lines.js';
export {
  type Divergence,
  type LogLine,
  type PrintedLine,
  printLine,
  type ReplayedStep,
} from './replay/recompute.js';
export { type ReplayOptions, type ReplayResult, replay } from './replay/replay.js';
export { policies } from './rules/bundled/policies.js';
export { prepareSandbox } from './rules/sandbox.js';
export { type LmdbStoreOptions, openLmdbStore } from './store/lmdb.js';
export { StoreError, type StoreErrorCode } from './store/messages.js';
export { ArchiveError } from './store/segment.js';
export type {
  Batch,
  OrderMark,
  RangeOptions,
  RecordChange,
  Segment,
  Store,
  StoreArchive,
  StoreMeta,
} from './store/store.js';
