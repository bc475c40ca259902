/** The one table of refusals: reason, error code, HTTP status, and what it tells the caller. */

/** The class of a refusal, as answers carry it in `error.code`. */
export type ErrorCode =
  | 'INVALID_SIGNATURE'
  | 'RATE_LIMITED'
  | 'INVALID_AGENT'
  | 'INVALID_REQUEST'
  | 'NETWORK_ERROR';

const row = (code: ErrorCode, status: number, meaning: string) => ({ code, status, meaning });

/** Every refusal by its reason: the error code, the HTTP status, and what it tells a caller. */
export const reasons = {
  MISSING: row('INVALID_SIGNATURE', 401, 'a key, timestamp or signature is absent or ""'),
  MALFORMED: row(
    'INVALID_SIGNATURE',
    401,
    'a key, timestamp or signature is not well-formed, or null or of another type',
  ),
  MISMATCH: row('INVALID_SIGNATURE', 401, 'the signature does not fit key and content'),
  TIMESTAMP_SKEW: row('INVALID_SIGNATURE', 401, "the timestamp is too far from the server's clock"),
  REPLAYED: row('INVALID_SIGNATURE', 401, 'not later than the last accepted status update'),
  UNKNOWN_KEY: row('INVALID_AGENT', 401, 'the signing key is not registered'),
  UNKNOWN_AGENT: row('INVALID_AGENT', 404, 'no agent has this id'),
  NOT_OWNER: row('INVALID_AGENT', 403, 'the signer is another agent'),
  NOT_VALIDATOR: row('INVALID_AGENT', 403, 'the agent has no validator capability'),
  NOT_PRODUCER: row('INVALID_AGENT', 403, 'the agent has no producer capability'),
  NOT_IN_ELECTORATE: row('INVALID_AGENT', 403, "the agent is not in the block's electorate"),
  NOT_ACTIVE: row('INVALID_AGENT', 403, 'the agent is not active'),
  NOT_INVITED: row('INVALID_AGENT', 403, 'the agent was not invited to this alliance'),
  NOT_MEMBER: row('INVALID_AGENT', 403, 'the agent is not a member of this alliance'),
  BAD_JSON: row('INVALID_REQUEST', 400, 'the body is not acceptable JSON'),
  SCHEMA: row('INVALID_REQUEST', 400, 'a member is absent, of the wrong type or out of bounds'),
  BAD_TOKEN: row('INVALID_REQUEST', 401, 'control needs the token that the command printed'),
  HASH_MISMATCH: row('INVALID_REQUEST', 400, 'a hash is not that of the content beside it'),
  LENGTH_REQUIRED: row('INVALID_REQUEST', 411, 'a body is sent whole, with a Content-Length'),
  WRONG_HOST: row('INVALID_REQUEST', 421, 'the Host header names another server'),
  WRONG_ORIGIN: row('INVALID_REQUEST', 403, 'the page that asks is not let in'),
  SOCKET_VERSION: row('INVALID_REQUEST', 426, 'WebSockets are of version 13'),
  UNKNOWN_ROUTE: row('INVALID_REQUEST', 404, 'nothing answers at this request-target'),
  UNKNOWN_ENTRY: row('INVALID_REQUEST', 404, 'the log has no such entry'),
  UNKNOWN_SCENARIO: row('INVALID_REQUEST', 404, 'no scenario is known of this network'),
  NO_HISTORY: row('INVALID_REQUEST', 404, 'only what is now can be read here'),
  NO_DECISIONS: row('INVALID_REQUEST', 404, 'what votes rested on was not recorded'),
  NO_WATCH: row('INVALID_REQUEST', 403, 'nobody watches here without a key'),
  UNKNOWN_TOPIC: row('INVALID_REQUEST', 400, 'no topic has this name'),
  UNKNOWN_BLOCK: row('INVALID_REQUEST', 404, 'no block has this hash'),
  UNKNOWN_MEME: row('INVALID_REQUEST', 404, 'no meme has this id'),
  UNKNOWN_TX: row('INVALID_REQUEST', 404, 'no final transaction has this hash'),
  UNKNOWN_KEY_NAME: row('INVALID_REQUEST', 404, 'nothing is kept under this key of the state'),
  UNKNOWN_CONNECTION: row('INVALID_REQUEST', 404, 'no connection of the signer has this id'),
  UNKNOWN_ALLIANCE: row('INVALID_REQUEST', 404, 'no alliance has this id'),
  UNKNOWN_TARGET: row('INVALID_REQUEST', 404, 'an invited agent is not registered'),
  AGENT_EXISTS: row('INVALID_REQUEST', 409, 'the key is registered with other data'),
  ALREADY_VOTED: row('INVALID_REQUEST', 409, 'the agent voted otherwise; the first vote counts'),
  VOTING_CLOSED: row('INVALID_REQUEST', 409, 'the block is no longer in voting'),
  STALE_PARENT: row('INVALID_REQUEST', 409, 'the parent is not the head'),
  OPEN_BLOCK: row('INVALID_REQUEST', 409, 'the producer has a block in voting already'),
  TOO_MANY_OPEN: row('INVALID_REQUEST', 409, 'too many blocks are in voting'),
  NO_VALIDATORS: row('INVALID_REQUEST', 409, 'there are too few validators to decide'),
  DUPLICATE_TX: row('INVALID_REQUEST', 409, 'a transaction is there twice or already final'),
  NO_CONTROL: row('INVALID_REQUEST', 409, 'the world that is shown cannot be controlled so'),
  QUOTA: row('INVALID_REQUEST', 409, "the agent's meme files would exceed their quota"),
  ALLIANCE_CLOSED: row('INVALID_REQUEST', 409, 'the alliance is over'),
  NOT_FORMED: row('INVALID_REQUEST', 409, 'the alliance is not active yet'),
  ALREADY_ANSWERED: row('INVALID_REQUEST', 409, 'the agent has answered this invitation'),
  TOO_MANY_ALLIANCES: row('INVALID_REQUEST', 409, 'the agent has too many alliances'),
  TOO_LARGE: row('INVALID_REQUEST', 413, 'the body or file is too large'),
  MEDIA_TYPE: row('INVALID_REQUEST', 415, 'the content is of no accepted type'),
  READ_ONLY: row('INVALID_REQUEST', 403, 'the network is only shown here; nothing is written'),
  METHOD: row('INVALID_REQUEST', 405, 'the route has other methods'),
  QUOTA_USED: row('RATE_LIMITED', 429, 'too many requests; Retry-After says when to try again'),
  BLOCKS_USED: row('RATE_LIMITED', 429, 'the network opens no more blocks now; see Retry-After'),
  INTERNAL: row('NETWORK_ERROR', 500, 'a fault of the server, which is logged'),
  QUEUE_FULL: row('NETWORK_ERROR', 503, 'too much is waiting; try again'),
  PAUSED: row('NETWORK_ERROR', 503, 'the network is held by whoever runs it; try again later'),
  DISK_FULL: row('NETWORK_ERROR', 503, 'too little free space to write'),
  NO_QUORUM: row('NETWORK_ERROR', 503, 'the node is cut off from its cluster; nothing was done'),
  CATCHING_UP: row('NETWORK_ERROR', 503, 'the node gets what others have; try another one'),
  UNCERTAIN: row('NETWORK_ERROR', 503, 'it may have been done; send the same again'),
  CLOCK: row('NETWORK_ERROR', 503, "the node's clock is not that of the others of its cluster"),
  ARCHIVE_DAMAGED: row('NETWORK_ERROR', 503, 'that part of the past cannot be read now'),
  LOG_DAMAGED: row('NETWORK_ERROR', 503, 'what is stored does not fit together'),
  BEING_MADE: row('NETWORK_ERROR', 503, 'it is made of the log first; see Retry-After'),
  DEADLINE: row('NETWORK_ERROR', 503, 'the request was not answered in time'),
  STOPPING: row('NETWORK_ERROR', 503, 'the network is closing'),
} as const;

/** Why something was refused: a key of {@link reasons}. */
export type Reason = keyof typeof reasons;

/** Why a command was not done: a value, never an exception. */
export interface Refusal {
  code: ErrorCode;
  status: number;
  reason: Reason;
  message: string;
  /** The offending field, as a JSON Pointer into the body. */
  pointer?: string;
  /** What helps the caller to go on. */
  details?: Record<string, unknown>;
}

/** Builds a refusal out of the table; `message` says what happened and what was expected. */
export function refuse(
  reason: Reason,
  message: string,
  more: { pointer?: string; details?: Record<string, unknown> } = {},
): Refusal {
  const { code, status } = reasons[reason];
  return { code, status, reason, message, ...more };
}
