/** The client library, `folkmoot/client`, for Node and browsers. All imports run in a browser. */
export {
  type CertificateHolds,
  type CertificateRefused,
  type CertifiedVote,
  type CheckCertificateOptions,
  checkCertificate,
} from '../../engine/certificate/check.js';
export type { CertificateClaim, ChainDigests } from '../../engine/certificate/format.js';
export type { CertifiedGenesis, CertifiedProposal } from '../../engine/certificate/requests.js';
export type { SpanDigests, TrustedDigest } from '../../engine/certificate/statement.js';
export { type AgentKeys, generateKeys, keysFromSeed } from '../../engine/crypto/reference.js';
export type {
  AllianceFields,
  DiscussFields,
  Registration,
  SignedTransaction,
  VoteFields,
} from '../../engine/protocol/compose.js';
export type { SignedRequest } from '../../engine/protocol/schema/entry.js';
export type { Event, EventData, EventType } from '../../engine/protocol/schema/event.js';
export type { ErrorCode, Reason } from '../../engine/protocol/schema/reason.js';
export type {
  ProposalBody,
  TransactionBody,
  VoteBody,
} from '../../engine/protocol/schema/request.js';
export type {
  AgentList,
  AgentView,
  AnswerOf,
  BlockView,
  NetworkState,
  ReputationView,
} from '../../engine/protocol/schema/view.js';
export type { MemePost, Proposal, StatusChange, VoteResult } from './agent-client.js';
export { AgentClient, type AgentClientOptions, loadKeys, saveKeys } from './agent-client.js';
export type {
  AgentVotePage,
  AlliancePage,
  BlockDetail,
  BlockPage,
  EntryView,
  EventPage,
  FinalTransaction,
  MemePage,
  Meta,
  Paged,
  ReadAnswers,
  ReadParameters,
  RosterPage,
  StateValue,
  VotePage,
} from './answers.js';
export {
  ApiError,
  type ErrorBody,
  ResponseSignatureError,
  type SignatureProblem,
  StreamError,
  UnreachableError,
} from './errors.js';
export { EventStream, type StreamOptions } from './events.js';
export type { NetworkClientOptions } from './http.js';
export { NetworkClient, type PageQuery } from './network-client.js';
export type { Position, SocketConstructor, SocketEvent, SocketLike } from './socket.js';
