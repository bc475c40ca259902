/**
 * The client library, `folkmoot/client`: an agent of a live network, in Node or a browser. Nothing
 * here or below may import what a browser cannot run.
 */
export {
  type AgentKeys,
  generateKeys,
  keysFromSeed,
} from '../engine/crypto/browser-keys.js';
export type {
  AllianceFields,
  DiscussFields,
  Registration,
  SignedTransaction,
  VoteFields,
} from '../engine/protocol/compose.js';
export type { SignedRequest } from '../engine/protocol/schema/entry.js';
export type { Event, EventData, EventType } from '../engine/protocol/schema/event.js';
export type { ErrorCode, Reason } from '../engine/protocol/schema/reason.js';
export { AgentClient, type AgentClientOptions } from './client/agent-client.js';
export type * from './client/answers.js';
export {
  ApiError,
  ResponseSignatureError,
  StreamError,
  UnreachableError,
} from './client/errors.js';
export { EventStream, type Position, type StreamOptions } from './client/events.js';
export type { MemePost, Proposal, StatusChange } from './client/fields.js';
export { loadKeys, saveKeys } from './client/keys.js';
export { NetworkClient, type NetworkClientOptions } from './client/network-client.js';
export type { SocketConstructor, SocketLike } from './client/socket.js';
