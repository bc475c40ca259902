/**
 * Refusal messages, by key. Several keys may share a reason. A program acts on the reason; the
 * message tells a person which value was wrong and what the client should do next. No log entry,
 * digest or event contains a message, so its wording can change.
 */
import type { MessageRow } from './messages.js';

interface RefusalRow extends MessageRow {
  /**
   * A key of `reasons`. The type is checked in `refuse`, because schema/reason.ts imports this
   * module.
   */
  readonly reason: string;
}

export const refusalMessages = {
  // Credentials: keys, timestamps, signatures.
  SIGNATURE_MISSING: {
    reason: 'MISSING',
    text: 'missing signature: {place}',
    fix: 'sign the request and send the signature there, as 128 hex characters',
  },
  SIGNATURE_MALFORMED: {
    reason: 'MALFORMED',
    text: 'malformed signature: {signature} (expected 128 hex characters)',
    fix: '{hint}',
  },
  SIGNATURE_MISMATCH: {
    reason: 'MISMATCH',
    text: 'signature {signature} does not match key {public_key} and the request',
    fix: 'sign the text with sha256 {input_sha256}; POST /api/v1/debug/verify returns that text',
  },
  SIGNATURE_MISTAKE: {
    reason: 'MISMATCH',
    text: 'signature does not match key {public_key} and the request: {signature}',
    fix: '{advice}',
  },
  TRANSACTION_SIGNATURE_MISMATCH: {
    reason: 'MISMATCH',
    text: 'signature of transaction {index} does not match its key and hash',
    fix: 'sign the hash in lower case with the key of the sender, for this network',
  },
  TRANSACTION_SIGNED_TEXT: {
    reason: 'MISMATCH',
    text: 'signature of transaction {index} does not match key {signer}',
    fix: 'sign agentnet-v1-tx LF {network_id} LF {hash}, with the hash in lower case',
  },
  AUTH_MISMATCH: {
    reason: 'MISMATCH',
    text: 'signature of auth does not match key {public_key}',
    fix: 'sign auth:{public_key}:{timestamp} as UTF-8',
  },
  AUTH_MALFORMED: {
    reason: 'MALFORMED',
    text: 'malformed credentials: public_key {public_key}, signature {signature}',
    fix: 'send public_key as 64 and signature as 128 hex characters',
  },
  AUTH_REPLAYED: {
    reason: 'REPLAYED',
    text: 'auth already used: timestamp {timestamp}',
    fix: 'sign a new auth with a later timestamp',
  },
  AUTH_MISSING: {
    reason: 'MISSING',
    text: 'not authenticated: received {type} before auth',
    fix: 'send auth as the first message',
  },
  AUTH_UNAVAILABLE: {
    reason: 'QUEUE_FULL',
    text: 'auth not verified: {problem}',
    fix: 'connect again later',
  },
  AUTH_TIMEOUT: {
    reason: 'MISSING',
    text: 'no auth within {limit} ms',
    fix: 'connect again and send auth as the first message',
  },
  KEY_MISSING: {
    reason: 'MISSING',
    text: 'missing header: X-Agent-Public-Key',
    fix: 'send the Ed25519 public key of the agent as 64 hex characters',
  },
  KEY_MALFORMED: {
    reason: 'MALFORMED',
    text: 'malformed public key: {public_key} (expected 64 hex characters)',
    fix: '{hint}',
  },
  KEYS_DIFFER: {
    reason: 'MISMATCH',
    text: 'different keys: X-Agent-Public-Key is {header}, the member public_key is {body}',
    fix: 'send the same key in both',
  },
  KEY_UNKNOWN: {
    reason: 'UNKNOWN_KEY',
    text: 'unknown key: {public_key}',
    fix: 'register it with POST /api/v1/agents/register',
  },
  TIMESTAMP_MISSING: {
    reason: 'MISSING',
    text: 'missing header: X-Timestamp',
    fix: 'send the current time in RFC 3339, such as 2026-01-31T12:00:00Z',
  },
  TIMESTAMP_MALFORMED: {
    reason: 'MALFORMED',
    text: 'malformed timestamp: {timestamp} (expected RFC 3339)',
    fix: '{hint}',
  },
  TIMESTAMP_INVALID: {
    reason: 'SCHEMA',
    text: 'invalid timestamp: {timestamp} (expected RFC 3339 with an offset and a real date)',
    fix: '{hint}',
  },
  TIMESTAMP_OUT_OF_RANGE: {
    reason: 'TIMESTAMP_SKEW',
    text:
      'timestamp out of range: {timestamp} is {skew} ms {side} the server time {server_time} ' +
      '(allowed: {allowed} ms)',
    fix: 'correct the clock of the client, then sign again with the current time',
  },
  VERIFIER_BUSY: {
    reason: 'QUEUE_FULL',
    text: 'too many signatures are waiting for verification',
    fix: 'retry the same request after the time in Retry-After',
  },

  // The request: target, head, body, form.
  REQUEST_NOT_OBJECT: {
    reason: 'MALFORMED',
    text: 'invalid request: {type} (expected an object)',
    fix: 'pass the result of a compose function',
  },
  REQUEST_MEMBER_NOT_STRING: {
    reason: 'MALFORMED',
    text: 'invalid request: {name} is of type {type} (expected a string)',
    fix: "pass '' if the kind of request does not use {name}",
  },
  REQUEST_MEMBER_NOT_BYTES: {
    reason: 'MALFORMED',
    text: 'invalid request: {name} is of type {type} (expected a Uint8Array)',
    fix: 'encode text as UTF-8',
  },
  REQUEST_NOT_VERIFIED: {
    reason: 'MALFORMED',
    text: 'unverified request',
    fix: 'pass the result of network.verify',
  },
  REQUEST_KIND_UNKNOWN: {
    reason: 'UNKNOWN_ROUTE',
    text: 'unknown request kind: {kind}',
    fix: 'use one of {kinds}',
  },
  REQUEST_TARGET_MISMATCH: {
    reason: 'UNKNOWN_ROUTE',
    text: 'request-target {target} does not belong to {kind}',
    fix: 'use {path}',
  },
  ROUTE_UNKNOWN: {
    reason: 'UNKNOWN_ROUTE',
    text: 'not found: {path}',
    fix: '{hint}',
  },
  METHOD_NOT_ALLOWED: {
    reason: 'METHOD',
    text: 'method {method} not allowed',
    fix: 'use one of {allowed}',
  },
  HOST_NOT_SERVED: {
    reason: 'WRONG_HOST',
    text: 'host not served: {host}',
    fix: 'add the name to serve --hosts',
  },
  ORIGIN_NOT_ALLOWED: {
    reason: 'WRONG_ORIGIN',
    text: 'origin not allowed: {origin}',
    fix: 'add the origin to serve --cors',
  },
  SOCKET_EXPECTED: {
    reason: 'UPGRADE_REQUIRED',
    text: '{path} is a WebSocket endpoint, and the request is not a valid WebSocket handshake',
    fix: 'connect with a WebSocket client to ws://HOST:PORT{path}, or wss:// behind TLS',
  },
  SOCKET_VERSION_UNSUPPORTED: {
    reason: 'SOCKET_VERSION',
    text: 'unsupported Sec-WebSocket-Version: {version}',
    fix: 'use version 13',
  },
  LENGTH_REQUIRED: {
    reason: 'LENGTH_REQUIRED',
    text: 'Transfer-Encoding not supported',
    fix: 'send the whole body with a Content-Length',
  },
  HEADER_DUPLICATE: {
    reason: 'SCHEMA',
    text: 'duplicate header: {name}',
    fix: 'send it once',
  },
  HEADER_NAME_INVALID: {
    reason: 'SCHEMA',
    text: 'invalid header name',
    fix: 'use a token as in RFC 9110 for each header name',
  },
  CONTENT_LENGTH_INVALID: {
    reason: 'SCHEMA',
    text: 'invalid Content-Length: {length}',
    fix: 'send the number of bytes of the body',
  },
  CONTENT_CODED: {
    reason: 'MEDIA_TYPE',
    text: 'unsupported Content-Encoding: {coding}',
    fix: 'send the body without compression',
  },
  CONTENT_TYPE_WRONG: {
    reason: 'MEDIA_TYPE',
    text: 'wrong Content-Type: {type} (expected {expected})',
    fix: 'send the body as {expected}',
  },
  BODY_TOO_LARGE: {
    reason: 'TOO_LARGE',
    text: 'body too large: {bytes} bytes (limit {limit} bytes)',
    fix: 'send a smaller body',
  },
  FIELD_TOO_LARGE: {
    reason: 'TOO_LARGE',
    text: '{name} too long: {length} characters (limit {limit})',
    fix: 'shorten it',
  },
  FILE_TOO_LARGE: {
    reason: 'TOO_LARGE',
    text: 'file too large: {bytes} bytes (limit {limit} bytes)',
    fix: 'send a smaller file',
  },
  JSON_INVALID: {
    reason: 'BAD_JSON',
    text: 'invalid body{where}: {problem}',
    fix: 'correct the body and send it again',
  },
  JSON_TOO_MANY_VALUES: {
    reason: 'BAD_JSON',
    text: 'too many JSON values in the body (limit {limit})',
    fix: 'send fewer values',
  },
  MEMBER_INVALID: {
    reason: 'SCHEMA',
    text: 'invalid {where}: {value} ({problem})',
    fix: 'correct the value and send the request again',
  },
  BALLOT_INVALID: {
    reason: 'SCHEMA',
    text: 'invalid {where}: {problem}',
    fix: "compare the ballot with the network's rule and sign the vote again",
  },
  OPTION_REPEATED: {
    reason: 'SCHEMA',
    text: 'two options have the same name: {name}',
    fix: 'rename one and sign the proposal again',
  },
  MEMBER_PROBLEM: {
    reason: 'SCHEMA',
    text: '{where} {problem}',
    fix: 'then send the request again',
  },
  MEMBER_FORBIDDEN: {
    reason: 'SCHEMA',
    text: 'a proposal has no member {member}',
    fix: 'remove it and sign the proposal again',
  },
  UNKNOWN_MEMBERS_TOO_LARGE: {
    reason: 'SCHEMA',
    text: 'unknown members up to {pointer} take more than {limit} bytes of canonical JSON',
    fix: 'remove members that the protocol does not define',
  },
  PATH_PARAMETER_INVALID: {
    reason: 'SCHEMA',
    text: 'invalid path parameter {name}: {value} (expected {expected})',
    fix: 'correct the path',
  },
  QUERY_PARAMETER_INVALID: {
    reason: 'SCHEMA',
    text: 'invalid query parameter {name}: {value} (expected {expected})',
    fix: 'correct the query',
  },
  QUERY_PARAMETER_REPEATED: {
    reason: 'SCHEMA',
    text: 'query parameter {name} appears {count} times',
    fix: 'send it once',
  },
  QUERY_PARAMETER_BRACKETS: {
    reason: 'SCHEMA',
    text: 'invalid query parameter: {sent}',
    fix: 'write {name} without brackets; a list has commas or a repeated name',
  },
  FORM_INVALID: {
    reason: 'SCHEMA',
    text: 'invalid form: {problem}',
    fix: 'correct the form and send it again',
  },
  FORMS_WAITING: {
    reason: 'QUEUE_FULL',
    text: 'too many multipart forms are waiting to be parsed',
    fix: 'retry the same request after the time in Retry-After',
  },
  BODIES_IN_FLIGHT: {
    reason: 'QUEUE_FULL',
    text: 'too many request bodies are being received',
    fix: 'retry the same request after the time in Retry-After',
  },

  // Agents and alliances.
  AGENT_UNKNOWN: {
    reason: 'UNKNOWN_AGENT',
    text: 'unknown agent: {id}',
    fix: 'list agents with GET /api/v1/network/agents',
  },
  AGENT_EXISTS: {
    reason: 'AGENT_EXISTS',
    text: 'key already registered with different data: agent {agent_id}',
    fix: 'use that agent, or register a new key',
  },
  AGENT_NOT_OWNED: {
    reason: 'NOT_OWNER',
    text: 'signer is not agent {agent_id}',
    fix: 'sign with the key of that agent',
  },
  AGENT_NOT_ACTIVE: {
    reason: 'NOT_ACTIVE',
    text: 'agent {agent_id} is {status}',
    fix: 'set its status to active first',
  },
  STATUS_NOT_NEW: {
    reason: 'REPLAYED',
    text: 'status update is not newer than the last one: {timestamp} (last: {last})',
    fix: 'sign the update again with the current time',
  },
  ALLIANCE_UNKNOWN: {
    reason: 'UNKNOWN_ALLIANCE',
    text: 'unknown alliance: {id}',
    fix: 'list alliances with GET /api/v1/social/alliances',
  },
  ALLIANCE_CLOSED: {
    reason: 'ALLIANCE_CLOSED',
    text: 'alliance {id} is {status}',
    fix: 'propose a new alliance',
  },
  ALLIANCE_NOT_FORMED: {
    reason: 'NOT_FORMED',
    text: 'alliance {id} has no second member yet',
    fix: 'wait for an answer; the alliance lapses without one',
  },
  ALLIANCE_NOT_MEMBER: {
    reason: 'NOT_MEMBER',
    text: 'agent {agent_id} is not a member of alliance {id}',
    fix: 'list alliances with GET /api/v1/social/alliances',
  },
  ALLIANCES_TOO_MANY: {
    reason: 'TOO_MANY_ALLIANCES',
    text: 'agent {agent_id} is in {count} alliances (limit {limit})',
    fix: 'leave one first',
  },
  ALLIANCE_DURATION_INVALID: {
    reason: 'SCHEMA',
    text: 'invalid duration: {duration} (expected PT1M to P30D)',
    fix: 'use weeks, days, hours, minutes or seconds, such as PT1H',
  },
  EXPECTED_DURATION_INVALID: {
    reason: 'SCHEMA',
    text: 'invalid expected_duration: {duration} (expected an ISO 8601 duration)',
    fix: 'use a duration such as PT1H or P1D',
  },
  INVITATION_ANSWERED: {
    reason: 'ALREADY_ANSWERED',
    text: 'agent {agent_id} already answered the invitation to alliance {id}',
    fix: 'do not answer again',
  },
  INVITATION_MISSING: {
    reason: 'NOT_INVITED',
    text: 'agent {agent_id} was not invited to alliance {id}',
    fix: 'ask its founder for an invitation to a new alliance',
  },
  FOUNDER_INVITED: {
    reason: 'SCHEMA',
    text: 'founder invited: {agent_id}',
    fix: 'remove the founder from target_ids',
  },
  TARGET_UNKNOWN: {
    reason: 'UNKNOWN_TARGET',
    text: 'unknown invited agent: {agent_id}',
    fix: 'list agents with GET /api/v1/network/agents',
  },

  // Blocks and votes.
  BLOCK_UNKNOWN: {
    reason: 'UNKNOWN_BLOCK',
    text: 'unknown block: {id}',
    fix: 'list blocks with GET /api/v1/blocks, open ones with ?status=voting',
  },
  BLOCK_CLOSED: {
    reason: 'VOTING_CLOSED',
    text: 'block {block_hash} is closed: {status} at height {height}',
    fix: 'list open blocks with GET /api/v1/blocks?status=voting',
  },
  VOTE_CONFLICT: {
    reason: 'ALREADY_VOTED',
    text:
      'vote {decision} conflicts with the first vote of agent {agent_id} on block {block_hash}: ' +
      '{first}',
    fix: 'do not vote again on this block; the first vote counts',
  },
  VOTER_NOT_VALIDATOR: {
    reason: 'NOT_VALIDATOR',
    text: 'agent {agent_id} is not a validator',
    fix: 'register a key with the capability validator',
  },
  VOTER_NOT_ELECTOR: {
    reason: 'NOT_IN_ELECTORATE',
    text: 'agent {agent_id} is not in the electorate of block {block_hash}',
    fix: 'vote on blocks that are proposed after the agent became an active validator',
  },
  PROPOSER_NOT_PRODUCER: {
    reason: 'NOT_PRODUCER',
    text: 'agent {agent_id} is not a producer',
    fix: 'register a key with the capability producer',
  },
  PARENT_WRONG: {
    reason: 'STALE_PARENT',
    text: 'wrong parent: {parent_hash} (current head: {head_hash} at height {height})',
    fix: 'propose a block on the current head',
  },
  PROPOSAL_OPEN: {
    reason: 'OPEN_BLOCK',
    text: 'agent {agent_id} already has an open block: {block_hash}',
    fix: 'wait until voting on it ends',
  },
  BLOCKS_TOO_MANY: {
    reason: 'TOO_MANY_OPEN',
    text: '{count} blocks are open (limit {limit}), none by a producer with a lower reputation',
    fix: 'propose again when a block closes',
  },
  VALIDATORS_TOO_FEW: {
    reason: 'NO_VALIDATORS',
    text: 'too few validators: {count} (minimum {minimum})',
    fix: 'propose again when more validators are active',
  },
  TRANSACTION_REPEATED: {
    reason: 'DUPLICATE_TX',
    text: 'duplicate transaction in the proposal: {hash}',
    fix: 'send it once',
  },
  TRANSACTION_FINAL: {
    reason: 'DUPLICATE_TX',
    text: 'transaction {hash} is already final in block {block_hash}',
    fix: 'remove it from the proposal',
  },
  TRANSACTION_DATA_TOO_LARGE: {
    reason: 'SCHEMA',
    text: 'transaction data too large: {bytes} bytes (limit {limit} bytes)',
    fix: 'shorten the data',
  },
  TRANSACTION_HASH_MISMATCH: {
    reason: 'HASH_MISMATCH',
    text: 'transaction hash does not match its data: {hash} (expected {expected})',
    fix: 'send the sha256 of the data in UTF-8 as hex',
  },
  STATE_DIFF_TOO_MANY_KEYS: {
    reason: 'SCHEMA',
    text: 'too many keys in state_diff: {count} (limit {limit})',
    fix: 'change fewer keys in one block',
  },
  STATE_KEY_CONFLICT: {
    reason: 'SCHEMA',
    text: 'state_diff both adds and deletes the key {key}',
    fix: 'remove it from one of the two',
  },
  STATE_VALUE_TOO_LARGE: {
    reason: 'SCHEMA',
    text: '{pointer} too large: {bytes} bytes of canonical JSON (limit {limit} bytes)',
    fix: 'shorten the value',
  },
  TRANSACTION_UNKNOWN: {
    reason: 'UNKNOWN_TX',
    text: 'unknown transaction: {id}',
    fix: 'wait until a block with it is finalized',
  },
  STATE_KEY_UNKNOWN: {
    reason: 'UNKNOWN_KEY_NAME',
    text: 'unknown state key: {id}',
    fix: 'correct the key, or wait until a block with it is finalized',
  },

  // Memes.
  MEME_UNKNOWN: {
    reason: 'UNKNOWN_MEME',
    text: 'unknown meme: {id}',
    fix: 'list memes with GET /api/v1/memes',
  },
  MEME_QUOTA: {
    reason: 'QUOTA',
    text: 'meme quota exceeded: {used} bytes used, {size} bytes sent (limit {limit} bytes)',
    fix: 'send a smaller file',
  },
  MEME_FILE_MISSING: {
    reason: 'SCHEMA',
    text: 'missing file: meme_file',
    fix: 'attach the file as the form field meme_file',
  },
  MEME_HASH_MISMATCH: {
    reason: 'HASH_MISMATCH',
    text: 'content_sha256 does not match the file: {hash} (expected {expected})',
    fix: 'compute the sha256 of the file and sign again',
  },
  MEME_TYPE: {
    reason: 'MEDIA_TYPE',
    text: 'unsupported file type of meme_file',
    fix: 'send PNG, JPEG, WebP, GIF, or plain UTF-8 text that does not begin with <',
  },

  // Client limits.
  RATE_LIMIT: {
    reason: 'QUOTA_USED',
    text: 'rate limit exceeded: {limit} ({quota} per {window})',
    fix: 'retry after {seconds} s',
  },
  BLOCK_RATE_LIMIT: {
    reason: 'BLOCKS_USED',
    text: 'block rate limit exceeded: {quota} blocks per minute, shared by all producers',
    fix: 'retry after {seconds} s',
  },
  CONNECTIONS_WAITING: {
    reason: 'QUOTA_USED',
    text: 'too many connections from this address are waiting for auth (limit {limit})',
    fix: 'authenticate or close one first',
  },
  CONNECTIONS_OF_AGENT: {
    reason: 'QUOTA_USED',
    text: 'too many connections of this agent (limit {limit})',
    fix: 'use the newer connection',
  },
  WATCHERS_OF_ADDRESS: {
    reason: 'QUOTA_USED',
    text: 'too many watching connections from this address (limit {limit})',
    fix: 'close one, or retry later',
  },
  MESSAGES_WAITING: {
    reason: 'QUOTA_USED',
    text: 'too many messages before a reply (limit {limit}, or {bytes} characters)',
    fix: 'wait for each reply',
  },
  LOAD_READERS_WAITING: {
    reason: 'QUEUE_FULL',
    text: 'too many requests are waiting for the next state of the load run',
    fix: 'retry after the time in Retry-After',
  },
  MESSAGE_RATE: {
    reason: 'QUOTA_USED',
    text: 'too many messages (limit {limit} per minute)',
    fix: 'send fewer messages',
  },

  // Messages over the WebSocket.
  MESSAGE_TOO_LARGE: {
    reason: 'TOO_LARGE',
    text: 'message too large: {bytes} bytes (limit {limit} bytes)',
    fix: 'send smaller messages, and auth first',
  },
  MESSAGE_BINARY: {
    reason: 'SCHEMA',
    text: 'binary message not supported',
    fix: 'send JSON in text messages',
  },
  MESSAGE_NOT_JSON: {
    reason: 'SCHEMA',
    text: 'invalid message: {where}{problem}',
    fix: 'send a JSON object',
  },
  MESSAGE_TYPE_UNKNOWN: {
    reason: 'SCHEMA',
    text: 'unknown message type: {type}',
    fix: 'set type to one of {types}',
  },
  MESSAGE_INVALID: {
    reason: 'SCHEMA',
    text: 'invalid {type} message: {where} {problem}',
    fix: 'correct the message and send it again',
  },
  TOPIC_UNKNOWN: {
    reason: 'UNKNOWN_TOPIC',
    text: 'unknown topic: {topic}',
    fix: 'use one or more of {topics}',
  },
  SINCE_REPEATED: {
    reason: 'SCHEMA',
    text: '`since` is allowed only in the first subscribe',
    fix: 'connect again to resume from another event',
  },
  CONNECTION_AUTHENTICATED: {
    reason: 'SCHEMA',
    text: 'connection already authenticated',
    fix: 'open another connection',
  },
  CONNECTION_WATCHES: {
    reason: 'SCHEMA',
    text: 'connection only watches, and accepts only ping',
    fix: 'open another connection',
  },
  CONNECTION_UNKNOWN: {
    reason: 'UNKNOWN_CONNECTION',
    text: 'unknown connection: {id}',
    fix: 'use the connection_id of auth_ok, and sign with the same key',
  },
  WATCH_DISABLED: {
    reason: 'NO_WATCH',
    text: 'anonymous watching is disabled',
    fix: 'send auth, then subscribe',
  },

  // Historical reads, views and control.
  ENTRY_UNKNOWN: {
    reason: 'UNKNOWN_ENTRY',
    text: 'unknown log entry: {entry}',
    fix: 'read an entry from 0 to {last}',
  },
  ENTRY_UNAVAILABLE: {
    reason: 'UNKNOWN_ENTRY',
    text: '{problem}',
    fix: 'list the entries with GET /api/v1/log',
  },
  HISTORY_UNAVAILABLE: {
    reason: 'NO_HISTORY',
    text: 'historical reads are not available on this server',
    fix: 'leave out `at`, or use a server started with folkmoot explore DIR',
  },
  HISTORY_BUSY: {
    reason: 'QUEUE_FULL',
    text: 'too many historical reads are queued (limit {limit})',
    fix: 'retry after the time in Retry-After',
  },
  VIEW_INDEXING: {
    reason: 'BEING_MADE',
    text: 'the log is being indexed{progress}',
    fix: 'retry after the time in Retry-After',
  },
  LOG_DAMAGED: {
    reason: 'LOG_DAMAGED',
    text: 'damaged log: {problem}',
    fix: 'the operator must check the folder with folkmoot replay',
  },
  DECISION_MISMATCH: {
    reason: 'LOG_DAMAGED',
    text: 'decision record of agent {agent_id} for block number {block} does not match the log',
    fix: 'the operator must check the run with folkmoot replay',
  },
  ARCHIVE_DAMAGED: {
    reason: 'ARCHIVE_DAMAGED',
    text: 'archive damaged: entries {first} to {last}, events {first_event} to {last_event}',
    fix: 'the operator must restore the segment file',
  },
  DECISIONS_UNAVAILABLE: {
    reason: 'NO_DECISIONS',
    text: 'no decision records for agents of a live network',
    fix: 'simulate with sim --set measure.decisions=true, then use folkmoot explore DIR',
  },
  DECISIONS_UNREADABLE: {
    reason: 'NO_DECISIONS',
    text: 'no decision records: {problem}',
  },
  SCENARIO_UNKNOWN: {
    reason: 'UNKNOWN_SCENARIO',
    text: 'this network has no scenario',
    fix: 'use folkmoot explore DIR with the folder of a simulation',
  },
  SCENARIO_AGENT_UNKNOWN: {
    reason: 'UNKNOWN_SCENARIO',
    text: 'agent {agent_id} is not part of the scenario',
    fix: 'use an agent of the scenario',
  },
  GRAPH_UNKNOWN: {
    reason: 'UNKNOWN_SCENARIO',
    text: 'neighbor graph not available: {problem}',
  },
  CONTROL_TOKEN_MISSING: {
    reason: 'BAD_TOKEN',
    text: 'missing control token',
    fix: 'send Authorization: Bearer and the token after #token= in the printed address',
  },
  CONTROL_TOKEN_INVALID: {
    reason: 'BAD_TOKEN',
    text: 'invalid control token',
    fix: 'send Authorization: Bearer and the token after #token= in the printed address',
  },
  CONTROL_UNKNOWN: {
    reason: 'SCHEMA',
    text: 'unknown control: {control}',
    fix: 'set `do` to one of {known}',
  },
  CONTROL_UNSUPPORTED: {
    reason: 'NO_CONTROL',
    text: 'control {control} is not available here',
    fix: 'use one of {available}',
  },
  CONTROL_UNAVAILABLE: {
    reason: 'NO_CONTROL',
    text: 'control {control} is not available here',
    fix: 'read what is available with GET /api/v1/control',
  },
  CONTROL_MS_UNEXPECTED: {
    reason: 'SCHEMA',
    text: 'invalid until.ms for until.what {what}',
    fix: 'send ms if until.what is time, and only then',
  },
  CONTROL_SPEED_INVALID: {
    reason: 'SCHEMA',
    text: 'invalid speed: {speed} (expected 0.01 to 1000 times real time)',
    fix: 'send a speed in that range',
  },
  REQUEST_NOT_SIGNED: {
    reason: 'UNKNOWN_ROUTE',
    text: 'not a signed request: {method} {target}',
    fix: 'send the method and the target of a signed route, as listed in GET /openapi.json',
  },
  CLUSTER_UNAVAILABLE: {
    reason: 'UNKNOWN_ROUTE',
    text: 'this server is not part of a cluster',
    fix: 'start nodes with folkmoot serve --cluster',
  },
  LOAD_RUN_UNAVAILABLE: {
    reason: 'UNKNOWN_ROUTE',
    text: 'no load run on this server',
    fix: 'start one with folkmoot load --watch',
  },

  // The server and its cluster.
  NETWORK_READ_ONLY: {
    reason: 'READ_ONLY',
    text: 'read-only network: {folder}',
    fix: 'send writes to the server of that folder: folkmoot serve --data FOLDER',
  },
  NETWORK_PAUSED: {
    reason: 'PAUSED',
    text: 'the network is paused',
    fix: 'retry when the operator resumes it',
  },
  NETWORK_FAILED: {
    reason: 'STOPPING',
    text: 'the network has failed',
    fix: 'open it again',
  },
  NETWORK_CLOSED: {
    reason: 'STOPPING',
    text: 'the network is closed or closing',
    fix: 'retry when it is open again',
  },
  COMMIT_QUEUE_FULL: {
    reason: 'QUEUE_FULL',
    text: 'too many entries are waiting for the disk: {backlog}',
    fix: 'retry the same request after the time in Retry-After',
  },
  DISK_FULL: {
    reason: 'DISK_FULL',
    text: 'too little free disk space',
    fix: 'the operator must free space',
  },
  SERVER_FAULT: {
    reason: 'INTERNAL',
    text: 'internal server error',
    fix: 'the operator can find the error in the server log',
  },
  REQUEST_TIMEOUT: {
    reason: 'DEADLINE',
    text: 'request timed out after {limit} ms; its outcome is unknown',
    fix: 'retry the same request; it is idempotent',
  },
  QUEUE_OF_SERVER_FULL: {
    reason: 'QUEUE_FULL',
    text: 'too many requests are waiting for the server (limit {limit})',
    fix: 'retry the same request later',
  },
  NODE_CUT_OFF: {
    reason: 'NO_QUORUM',
    text: 'this node has had no contact with its cluster for {elapsed} ms; nothing was done',
    fix: 'retry, or use another node',
  },
  NODE_STARTING: {
    reason: 'CATCHING_UP',
    text: 'this node is not ready: {progress}',
    fix: 'use another node',
  },
  NODE_CLOCK: {
    reason: 'CLOCK',
    text: "this node's clock is {offset} ms {side} the clocks of the other nodes",
    fix: 'use another node',
  },
  ORDER_FULL: {
    reason: 'DISK_FULL',
    text: 'the cluster has no space left for new requests',
    fix: 'the operator must free space in etcd',
  },
  ORDER_QUEUE_FULL: {
    reason: 'QUEUE_FULL',
    text: 'too many requests are waiting to be ordered: {pending}',
    fix: 'retry the same request after the time in Retry-After',
  },
  ORDER_TIMEOUT: {
    reason: 'QUEUE_FULL',
    text: 'request was not ordered in time; nothing was done',
    fix: 'retry the same request',
  },
  OUTCOME_UNCERTAIN: {
    reason: 'UNCERTAIN',
    text: 'the outcome of the request is unknown',
    fix: 'retry the same request; it is idempotent',
  },
} as const satisfies Readonly<Record<string, RefusalRow>>;

/** Key of a refusal message. */
export type RefusalKey = keyof typeof refusalMessages;
