/** Refusal reasons with their error codes and HTTP statuses, and `refuse`. */
import { formatMessage, indexGroups, type MessageIn, type MessageValues } from '../messages.js';
import { type RefusalKey, refusalMessages } from '../refusals.js';

/** Refusal class, sent as `error.code` in responses. */
export type ErrorCode =
  | 'INVALID_SIGNATURE'
  | 'RATE_LIMITED'
  | 'INVALID_AGENT'
  | 'INVALID_REQUEST'
  | 'NETWORK_ERROR';

const row = (code: ErrorCode, status: number, meaning: string) => ({ code, status, meaning });

/** Error code, HTTP status and meaning, by reason. */
export const reasons = {
  MISSING: row('INVALID_SIGNATURE', 401, 'a key, timestamp or signature is missing or ""'),
  MALFORMED: row(
    'INVALID_SIGNATURE',
    401,
    'a key, timestamp or signature is malformed or of the wrong type',
  ),
  MISMATCH: row('INVALID_SIGNATURE', 401, 'the signature does not match the key and the content'),
  TIMESTAMP_SKEW: row(
    'INVALID_SIGNATURE',
    401,
    'the timestamp differs too much from the server time',
  ),
  REPLAYED: row(
    'INVALID_SIGNATURE',
    401,
    'the timestamp is not later than that of the last accepted request',
  ),
  UNKNOWN_KEY: row('INVALID_AGENT', 401, 'the signing key is not registered'),
  UNKNOWN_AGENT: row('INVALID_AGENT', 404, 'unknown agent id'),
  NOT_OWNER: row('INVALID_AGENT', 403, 'the signer is a different agent'),
  NOT_VALIDATOR: row('INVALID_AGENT', 403, 'the agent lacks the capability validator'),
  NOT_PRODUCER: row('INVALID_AGENT', 403, 'the agent lacks the capability producer'),
  NOT_IN_ELECTORATE: row('INVALID_AGENT', 403, 'the agent is not in the electorate of the block'),
  NOT_ACTIVE: row('INVALID_AGENT', 403, 'the agent is not active'),
  NOT_INVITED: row('INVALID_AGENT', 403, 'the agent was not invited to this alliance'),
  NOT_MEMBER: row('INVALID_AGENT', 403, 'the agent is not a member of this alliance'),
  BAD_JSON: row('INVALID_REQUEST', 400, 'the body is not valid JSON within the limits'),
  SCHEMA: row('INVALID_REQUEST', 400, 'a member is missing, of the wrong type or out of range'),
  BAD_TOKEN: row('INVALID_REQUEST', 401, 'the control token is missing or invalid'),
  HASH_MISMATCH: row('INVALID_REQUEST', 400, 'a hash does not match its content'),
  LENGTH_REQUIRED: row('INVALID_REQUEST', 411, 'the body needs a Content-Length'),
  WRONG_HOST: row('INVALID_REQUEST', 421, 'the Host header names a different server'),
  WRONG_ORIGIN: row('INVALID_REQUEST', 403, 'the origin is not allowed'),
  UPGRADE_REQUIRED: row('INVALID_REQUEST', 426, 'the path accepts WebSocket connections only'),
  SOCKET_VERSION: row('INVALID_REQUEST', 426, 'the WebSocket version must be 13'),
  UNKNOWN_ROUTE: row('INVALID_REQUEST', 404, 'not found'),
  UNKNOWN_ENTRY: row('INVALID_REQUEST', 404, 'unknown log entry'),
  UNKNOWN_SCENARIO: row('INVALID_REQUEST', 404, 'the network has no scenario'),
  NO_HISTORY: row('INVALID_REQUEST', 404, 'this server does not serve historical reads'),
  NO_DECISIONS: row('INVALID_REQUEST', 404, 'no decision records'),
  NO_WATCH: row('INVALID_REQUEST', 403, 'anonymous watching is disabled'),
  UNKNOWN_TOPIC: row('INVALID_REQUEST', 400, 'unknown topic'),
  UNKNOWN_BLOCK: row('INVALID_REQUEST', 404, 'unknown block hash'),
  UNKNOWN_MEME: row('INVALID_REQUEST', 404, 'unknown meme id'),
  UNKNOWN_TX: row('INVALID_REQUEST', 404, 'no final transaction has this hash'),
  UNKNOWN_KEY_NAME: row('INVALID_REQUEST', 404, 'unknown state key'),
  UNKNOWN_CONNECTION: row('INVALID_REQUEST', 404, 'the signer has no connection with this id'),
  UNKNOWN_ALLIANCE: row('INVALID_REQUEST', 404, 'unknown alliance id'),
  UNKNOWN_TARGET: row('INVALID_REQUEST', 404, 'an invited agent is not registered'),
  AGENT_EXISTS: row('INVALID_REQUEST', 409, 'the key is registered with other data'),
  ALREADY_VOTED: row('INVALID_REQUEST', 409, 'the vote conflicts with the first, which counts'),
  VOTING_CLOSED: row('INVALID_REQUEST', 409, 'the block is closed'),
  STALE_PARENT: row('INVALID_REQUEST', 409, 'the parent is not the current head'),
  OPEN_BLOCK: row('INVALID_REQUEST', 409, 'the producer already has an open block'),
  TOO_MANY_OPEN: row('INVALID_REQUEST', 409, 'too many blocks are open'),
  NO_VALIDATORS: row('INVALID_REQUEST', 409, 'too few validators for a block'),
  DUPLICATE_TX: row('INVALID_REQUEST', 409, 'a transaction is repeated or already final'),
  NO_CONTROL: row('INVALID_REQUEST', 409, 'this control is not available here'),
  QUOTA: row('INVALID_REQUEST', 409, 'the meme files of the agent would exceed their quota'),
  ALLIANCE_CLOSED: row('INVALID_REQUEST', 409, 'the alliance has ended'),
  NOT_FORMED: row('INVALID_REQUEST', 409, 'the alliance is not active yet'),
  ALREADY_ANSWERED: row('INVALID_REQUEST', 409, 'the agent has already answered the invitation'),
  TOO_MANY_ALLIANCES: row('INVALID_REQUEST', 409, 'the agent is in too many alliances'),
  TOO_LARGE: row('INVALID_REQUEST', 413, 'the body or file is too large'),
  MEDIA_TYPE: row('INVALID_REQUEST', 415, 'unsupported content type'),
  READ_ONLY: row('INVALID_REQUEST', 403, 'the network is read-only on this server'),
  METHOD: row('INVALID_REQUEST', 405, 'method not allowed'),
  QUOTA_USED: row('RATE_LIMITED', 429, 'rate limit exceeded; retry after Retry-After'),
  BLOCKS_USED: row('RATE_LIMITED', 429, 'block rate limit exceeded; retry after Retry-After'),
  INTERNAL: row('NETWORK_ERROR', 500, 'internal server error, which the server logs'),
  QUEUE_FULL: row('NETWORK_ERROR', 503, 'a queue is full; retry later'),
  PAUSED: row('NETWORK_ERROR', 503, 'the operator has paused the network; retry later'),
  DISK_FULL: row('NETWORK_ERROR', 503, 'too little free disk space'),
  NO_QUORUM: row('NETWORK_ERROR', 503, 'the node is cut off from its cluster; nothing was done'),
  CATCHING_UP: row('NETWORK_ERROR', 503, 'the node is catching up; try another node'),
  UNCERTAIN: row('NETWORK_ERROR', 503, 'the outcome is unknown; retry, which is idempotent'),
  CLOCK: row('NETWORK_ERROR', 503, "the node's clock differs from those of its cluster"),
  ARCHIVE_DAMAGED: row('NETWORK_ERROR', 503, 'a segment of the archive is damaged'),
  LOG_DAMAGED: row('NETWORK_ERROR', 503, 'the stored data contradicts the log'),
  BEING_MADE: row('NETWORK_ERROR', 503, 'the log is being indexed; retry after Retry-After'),
  DEADLINE: row('NETWORK_ERROR', 503, 'the request timed out'),
  STOPPING: row('NETWORK_ERROR', 503, 'the network is closing'),
} as const;

export type { RefusalKey };

/** Refusal reason: a key of {@link reasons}. */
export type Reason = keyof typeof reasons;

/** The refusal of a request. Always a value, never an exception. */
export interface Refusal {
  code: ErrorCode;
  status: number;
  reason: Reason;
  /** Message for people: what is wrong, and what to do next. */
  message: string;
  /** JSON Pointer to the offending member in the body. */
  pointer?: string;
  /** Values for programs, such as the current head. */
  details?: Record<string, unknown>;
}

interface More {
  pointer?: string;
  details?: Record<string, unknown>;
}

const rows: Readonly<Record<RefusalKey, { category: Reason; message: string }>> =
  indexGroups(refusalMessages);

type Values<K extends RefusalKey> = MessageValues<MessageIn<typeof refusalMessages, K>>;

/** Arguments after the key: one value per placeholder in the message, then pointer and details. */
export type RefusalArgs<K extends RefusalKey> = [keyof Values<K>] extends [never]
  ? [values?: Record<never, never>, more?: More]
  : [values: Values<K>, more?: More];

/** Builds a refusal from a row in the message table. */
export function refuse<K extends RefusalKey>(key: K, ...[values, more]: RefusalArgs<K>): Refusal {
  const { category: reason, message } = rows[key];
  const { code, status } = reasons[reason];
  return { code, status, reason, message: formatMessage<string>(message, values), ...more };
}
