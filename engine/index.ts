/**
 * The public list of `folkmoot`: what a program that embeds a network may use. Our own floors enter
 * by `internal.ts`; what tests take hold of is in `folkmoot/testing`.
 */
export type { Admitted } from './admit/index.js';
export type { Verified } from './admit/verify.js';
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
export type { Outcome } from './core/index.js';
export {
  createVerifier,
  generateKeyPair,
  type KeyPair,
  keyPairFromSeed,
  sign,
  type Verifier,
  VerifierBusy,
  type VerifierKind,
  type VerifierOptions,
  type VerifierStats,
  type VerifyJob,
} from './crypto/index.js';
export { signatory } from './crypto/signatory.js';
export type { CheckpointStats } from './history/folder.js';
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
export { KeptNetwork, type KeptOptions } from './node/kept/kept-network.js';
export type { ServedNetwork } from './node/kept/served.js';
export { Network } from './node/network.js';
export type { Applied, NetworkOptions } from './node/network-options.js';
export type { GenesisOptions } from './node/open-store.js';
export type { Verification } from './node/verification.js';
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
export { limits } from './protocol/limits.js';
export {
  type AgentList,
  type AgentView,
  type AllianceLeaveCommand,
  type AllianceProposeCommand,
  type AllianceRespondCommand,
  type AllianceStatus,
  type Answer,
  type AnswerOf,
  type BlockStatus,
  type BlockView,
  type Capability,
  type Carriage,
  type Command,
  type CommandKind,
  type CommandOf,
  carriage,
  type Decision,
  type DiscussCommand,
  type Emitted,
  type Entry,
  type EntryKind,
  type ErrorCode,
  type Event,
  type EventData,
  type EventType,
  eventTopics,
  formatInstant,
  GENESIS_HASH,
  type Genesis,
  genesisDefaults,
  type MemeCommand,
  type MemeType,
  type NetworkState,
  type Policy,
  type ProposeCommand,
  type ProposedTransaction,
  policies,
  type Reason,
  type RecordKey,
  type RecordOf,
  type Refusal,
  type RegisterCommand,
  type ReputationView,
  type Role,
  reasons,
  SCHEMA_VERSION,
  type Sentiment,
  type SignedRequest,
  type Standing,
  type StandingField,
  type Status,
  type StatusCommand,
  standingOf,
  type Table,
  tables,
  targetOf,
  type VoteCommand,
  type Weights,
  weightings,
} from './protocol/schema/index.js';
export { isDuration, parseInstant } from './protocol/time.js';
export {
  type Divergence,
  fileLines,
  type LogLine,
  type PrintedLine,
  printLine,
  type ReplayedStep,
  type ReplayOptions,
  type ReplayResult,
  replay,
  storedLines,
} from './replay/index.js';
export {
  ArchiveError,
  type Batch,
  type LmdbStoreOptions,
  type OrderMark,
  openLmdbStore,
  type RangeOptions,
  type RecordChange,
  type Segment,
  type Store,
  type StoreArchive,
  StoreError,
  type StoreErrorCode,
  type StoreMeta,
} from './store/index.js';
