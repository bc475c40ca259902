/**
 * Refusal messages, by reason and key. A program acts on the reason; the message tells a person
 * which value was wrong and what the client should do next. No log entry, digest or event contains
 * a message, so its wording can change.
 */
import type { KeyIn, MessageGroups } from './messages.js';

/** By reason: a key of `reasons`. schema/reason.ts checks this, because it imports this module. */
export const refusalMessages = {
  MISSING: {
    SIGNATURE_MISSING: `missing signature: {place};
      sign the request and send the signature there, as 128 hex characters`,
    AUTH_MISSING: 'not authenticated: received {type} before auth; send auth as the first message',
    AUTH_TIMEOUT: 'no auth within {limit} ms; connect again and send auth as the first message',
    KEY_MISSING: `missing header: X-Agent-Public-Key;
      send the Ed25519 public key of the agent as 64 hex characters`,
    TIMESTAMP_MISSING: `missing header: X-Timestamp;
      send the current time in RFC 3339, such as 2026-01-31T12:00:00Z`,
  },
  MALFORMED: {
    SIGNATURE_MALFORMED: 'malformed signature: {signature} (expected 128 hex characters); {hint}',
    AUTH_MALFORMED: `malformed credentials: public_key {public_key}, signature {signature};
      send public_key as 64 and signature as 128 hex characters`,
    KEY_MALFORMED: 'malformed public key: {public_key} (expected 64 hex characters); {hint}',
    TIMESTAMP_MALFORMED: 'malformed timestamp: {timestamp} (expected RFC 3339); {hint}',
    REQUEST_NOT_OBJECT:
      'invalid request: {type} (expected an object); pass the result of a compose function',
    REQUEST_MEMBER_NOT_STRING: `invalid request: {name} is of type {type} (expected a string);
      pass '' if the kind of request does not use {name}`,
    REQUEST_MEMBER_NOT_BYTES:
      'invalid request: {name} is of type {type} (expected a Uint8Array); encode text as UTF-8',
    REQUEST_NOT_VERIFIED: 'unverified request; pass the result of network.verify',
  },
  MISMATCH: {
    SIGNATURE_MISMATCH: `signature {signature} does not match key {public_key} and the request;
      sign the text with sha256 {input_sha256}; POST /api/v1/debug/verify returns that text`,
    SIGNATURE_MISTAKE:
      'signature does not match key {public_key} and the request: {signature}; {advice}',
    TRANSACTION_SIGNATURE_MISMATCH: `signature of transaction {index} does not match its key and
      hash; sign the hash in lower case with the key of the sender, for this network`,
    TRANSACTION_SIGNED_TEXT: `signature of transaction {index} does not match key {signer};
      sign agentnet-v1-tx LF {network_id} LF {hash}, with the hash in lower case`,
    AUTH_MISMATCH: `signature of auth does not match key {public_key};
      sign auth:{public_key}:{timestamp} as UTF-8`,
    KEYS_DIFFER: `different keys: X-Agent-Public-Key is {header}, the member public_key is {body};
      send the same key in both`,
  },
  REPLAYED: {
    AUTH_REPLAYED:
      'auth already used: timestamp {timestamp}; sign a new auth with a later timestamp',
    STATUS_NOT_NEW: `status update is not newer than the last one: {timestamp} (last: {last});
      sign the update again with the current time`,
  },
  QUEUE_FULL: {
    AUTH_UNAVAILABLE: 'auth not verified: {problem}; connect again later',
    VERIFIER_BUSY: `too many signatures are waiting for verification;
      retry the same request after the time in Retry-After`,
    FORMS_WAITING: `too many multipart forms are waiting to be parsed;
      retry the same request after the time in Retry-After`,
    BODIES_IN_FLIGHT: `too many request bodies are being received;
      retry the same request after the time in Retry-After`,
    LOAD_READERS_WAITING: `too many requests are waiting for the next state of the load run;
      retry after the time in Retry-After`,
    HISTORY_BUSY:
      'too many historical reads are queued (limit {limit}); retry after the time in Retry-After',
    COMMIT_QUEUE_FULL: `too many entries are waiting for the disk: {backlog};
      retry the same request after the time in Retry-After`,
    QUEUE_OF_SERVER_FULL:
      'too many requests are waiting for the server (limit {limit}); retry the same request later',
    ORDER_QUEUE_FULL: `too many requests are waiting to be ordered: {pending};
      retry the same request after the time in Retry-After`,
    ORDER_TIMEOUT: 'request was not ordered in time; nothing was done; retry the same request',
  },
  UNKNOWN_KEY: {
    KEY_UNKNOWN: 'unknown key: {public_key}; register it with POST /api/v1/agents/register',
  },
  SCHEMA: {
    TIMESTAMP_INVALID:
      'invalid timestamp: {timestamp} (expected RFC 3339 with an offset and a real date); {hint}',
    HEADER_DUPLICATE: 'duplicate header: {name}; send it once',
    HEADER_NAME_INVALID: 'invalid header name; use a token as in RFC 9110 for each header name',
    CONTENT_LENGTH_INVALID:
      'invalid Content-Length: {length}; send the number of bytes of the body',
    MEMBER_INVALID:
      'invalid {where}: {value} ({problem}); correct the value and send the request again',
    BALLOT_INVALID: `invalid {where}: {problem};
      compare the ballot with the network's rule and sign the vote again`,
    OPTION_REPEATED:
      'two options have the same name: {name}; rename one and sign the proposal again',
    MEMBER_PROBLEM: '{where} {problem}; then send the request again',
    MEMBER_FORBIDDEN: 'a proposal has no member {member}; remove it and sign the proposal again',
    UNKNOWN_MEMBERS_TOO_LARGE: `unknown members up to {pointer} take more than {limit} bytes of
      canonical JSON; remove members that the protocol does not define`,
    PATH_PARAMETER_INVALID:
      'invalid path parameter {name}: {value} (expected {expected}); correct the path',
    QUERY_PARAMETER_INVALID:
      'invalid query parameter {name}: {value} (expected {expected}); correct the query',
    QUERY_PARAMETER_REPEATED: 'query parameter {name} appears {count} times; send it once',
    QUERY_PARAMETER_BRACKETS: `invalid query parameter: {sent};
      write {name} without brackets; a list has commas or a repeated name`,
    FORM_INVALID: 'invalid form: {problem}; correct the form and send it again',
    ALLIANCE_DURATION_INVALID: `invalid duration: {duration} (expected PT1M to P30D);
      use weeks, days, hours, minutes or seconds, such as PT1H`,
    EXPECTED_DURATION_INVALID: `invalid expected_duration: {duration} (expected an ISO 8601
      duration); use a duration such as PT1H or P1D`,
    FOUNDER_INVITED: 'founder invited: {agent_id}; remove the founder from target_ids',
    TRANSACTION_DATA_TOO_LARGE:
      'transaction data too large: {bytes} bytes (limit {limit} bytes); shorten the data',
    STATE_DIFF_TOO_MANY_KEYS:
      'too many keys in state_diff: {count} (limit {limit}); change fewer keys in one block',
    STATE_KEY_CONFLICT:
      'state_diff both adds and deletes the key {key}; remove it from one of the two',
    STATE_VALUE_TOO_LARGE: `{pointer} too large: {bytes} bytes of canonical JSON (limit {limit}
      bytes); shorten the value`,
    MEME_FILE_MISSING: 'missing file: meme_file; attach the file as the form field meme_file',
    MESSAGE_BINARY: 'binary message not supported; send JSON in text messages',
    MESSAGE_NOT_JSON: 'invalid message: {where}{problem}; send a JSON object',
    MESSAGE_TYPE_UNKNOWN: 'unknown message type: {type}; set type to one of {types}',
    MESSAGE_INVALID:
      'invalid {type} message: {where} {problem}; correct the message and send it again',
    SINCE_REPEATED:
      '`since` is allowed only in the first subscribe; connect again to resume from another event',
    CONNECTION_AUTHENTICATED: 'connection already authenticated; open another connection',
    CONNECTION_WATCHES: 'connection only watches, and accepts only ping; open another connection',
    CONTROL_UNKNOWN: 'unknown control: {control}; set `do` to one of {known}',
    CONTROL_MS_UNEXPECTED:
      'invalid until.ms for until.what {what}; send ms if until.what is time, and only then',
    CONTROL_SPEED_INVALID:
      'invalid speed: {speed} (expected 0.01 to 1000 times real time); send a speed in that range',
    CONTROL_RUN_INVALID: 'invalid run: {problem}; correct it and send the run again',
  },
  TIMESTAMP_SKEW: {
    TIMESTAMP_OUT_OF_RANGE: `timestamp out of range: {timestamp} is {skew} ms {side} the server time
      {server_time} (allowed: {allowed} ms); correct the clock of the client, then sign again with
      the current time`,
  },
  UNKNOWN_ROUTE: {
    REQUEST_KIND_UNKNOWN: 'unknown request kind: {kind}; use one of {kinds}',
    REQUEST_TARGET_MISMATCH: 'request-target {target} does not belong to {kind}; use {path}',
    ROUTE_UNKNOWN: 'not found: {path}; {hint}',
    REQUEST_NOT_SIGNED: `not a signed request: {method} {target};
      send the method and the target of a signed route, as listed in GET /openapi.json`,
    CLUSTER_UNAVAILABLE:
      'this server is not part of a cluster; start nodes with folkmoot serve --cluster',
    LOAD_RUN_UNAVAILABLE: 'no load run on this server; start one with folkmoot load --watch',
  },
  METHOD: {
    METHOD_NOT_ALLOWED: 'method {method} not allowed; use one of {allowed}',
  },
  WRONG_HOST: {
    HOST_NOT_SERVED: 'host not served: {host}; add the name to serve --hosts',
  },
  WRONG_ORIGIN: {
    ORIGIN_NOT_ALLOWED: 'origin not allowed: {origin}; add the origin to serve --cors',
  },
  UPGRADE_REQUIRED: {
    SOCKET_EXPECTED: `{path} is a WebSocket endpoint, and the request is not a valid WebSocket
      handshake; connect with a WebSocket client to ws://HOST:PORT{path}, or wss:// behind TLS`,
  },
  SOCKET_VERSION: {
    SOCKET_VERSION_UNSUPPORTED: 'unsupported Sec-WebSocket-Version: {version}; use version 13',
  },
  LENGTH_REQUIRED: {
    LENGTH_REQUIRED: 'Transfer-Encoding not supported; send the whole body with a Content-Length',
  },
  MEDIA_TYPE: {
    CONTENT_CODED: 'unsupported Content-Encoding: {coding}; send the body without compression',
    CONTENT_TYPE_WRONG:
      'wrong Content-Type: {type} (expected {expected}); send the body as {expected}',
    MEME_TYPE: `unsupported file type of meme_file;
      send PNG, JPEG, WebP, GIF, or plain UTF-8 text that does not begin with <`,
  },
  TOO_LARGE: {
    BODY_TOO_LARGE: 'body too large: {bytes} bytes (limit {limit} bytes); send a smaller body',
    FIELD_TOO_LARGE: '{name} too long: {length} characters (limit {limit}); shorten it',
    FILE_TOO_LARGE: 'file too large: {bytes} bytes (limit {limit} bytes); send a smaller file',
    MESSAGE_TOO_LARGE: `message too large: {bytes} bytes (limit {limit} bytes);
      send smaller messages, and auth first`,
  },
  BAD_JSON: {
    JSON_INVALID: 'invalid body{where}: {problem}; correct the body and send it again',
    JSON_TOO_MANY_VALUES: 'too many JSON values in the body (limit {limit}); send fewer values',
  },
  UNKNOWN_AGENT: {
    AGENT_UNKNOWN: 'unknown agent: {id}; list agents with GET /api/v1/network/agents',
  },
  AGENT_EXISTS: {
    AGENT_EXISTS: `key already registered with different data: agent {agent_id};
      use that agent, or register a new key`,
  },
  NOT_OWNER: {
    AGENT_NOT_OWNED: 'signer is not agent {agent_id}; sign with the key of that agent',
  },
  NOT_ACTIVE: {
    AGENT_NOT_ACTIVE: 'agent {agent_id} is {status}; set its status to active first',
  },
  UNKNOWN_ALLIANCE: {
    ALLIANCE_UNKNOWN: 'unknown alliance: {id}; list alliances with GET /api/v1/social/alliances',
  },
  ALLIANCE_CLOSED: {
    ALLIANCE_CLOSED: 'alliance {id} is {status}; propose a new alliance',
  },
  NOT_FORMED: {
    ALLIANCE_NOT_FORMED:
      'alliance {id} has no second member yet; wait for an answer; the alliance lapses without one',
  },
  NOT_MEMBER: {
    ALLIANCE_NOT_MEMBER: `agent {agent_id} is not a member of alliance {id};
      list alliances with GET /api/v1/social/alliances`,
  },
  TOO_MANY_ALLIANCES: {
    ALLIANCES_TOO_MANY: 'agent {agent_id} is in {count} alliances (limit {limit}); leave one first',
  },
  ALREADY_ANSWERED: {
    INVITATION_ANSWERED:
      'agent {agent_id} already answered the invitation to alliance {id}; do not answer again',
  },
  NOT_INVITED: {
    INVITATION_MISSING: `agent {agent_id} was not invited to alliance {id};
      ask its founder for an invitation to a new alliance`,
  },
  UNKNOWN_TARGET: {
    TARGET_UNKNOWN:
      'unknown invited agent: {agent_id}; list agents with GET /api/v1/network/agents',
  },
  UNKNOWN_BLOCK: {
    BLOCK_UNKNOWN:
      'unknown block: {id}; list blocks with GET /api/v1/blocks, open ones with ?status=voting',
  },
  VOTING_CLOSED: {
    BLOCK_CLOSED: `block {block_hash} is closed: {status} at height {height};
      list open blocks with GET /api/v1/blocks?status=voting`,
  },
  ALREADY_VOTED: {
    VOTE_CONFLICT: `vote {decision} conflicts with the first vote of agent {agent_id} on block
      {block_hash}: {first}; do not vote again on this block; the first vote counts`,
  },
  NOT_VALIDATOR: {
    VOTER_NOT_VALIDATOR:
      'agent {agent_id} is not a validator; register a key with the capability validator',
  },
  NOT_IN_ELECTORATE: {
    VOTER_NOT_ELECTOR: `agent {agent_id} is not in the electorate of block {block_hash};
      vote on blocks that are proposed after the agent became an active validator`,
  },
  NOT_PRODUCER: {
    PROPOSER_NOT_PRODUCER:
      'agent {agent_id} is not a producer; register a key with the capability producer',
  },
  STALE_PARENT: {
    PARENT_WRONG: `wrong parent: {parent_hash} (current head: {head_hash} at height {height});
      propose a block on the current head`,
  },
  OPEN_BLOCK: {
    PROPOSAL_OPEN:
      'agent {agent_id} already has an open block: {block_hash}; wait until voting on it ends',
  },
  TOO_MANY_OPEN: {
    BLOCKS_TOO_MANY: `{count} blocks are open (limit {limit}), none by a producer with a lower
      reputation; propose again when a block closes`,
  },
  NO_VALIDATORS: {
    VALIDATORS_TOO_FEW: `too few validators: {count} (minimum {minimum});
      propose again when more validators are active`,
  },
  DUPLICATE_TX: {
    TRANSACTION_REPEATED: 'duplicate transaction in the proposal: {hash}; send it once',
    TRANSACTION_FINAL:
      'transaction {hash} is already final in block {block_hash}; remove it from the proposal',
  },
  HASH_MISMATCH: {
    TRANSACTION_HASH_MISMATCH: `transaction hash does not match its data: {hash} (expected
      {expected}); send the sha256 of the data in UTF-8 as hex`,
    MEME_HASH_MISMATCH: `content_sha256 does not match the file: {hash} (expected {expected});
      compute the sha256 of the file and sign again`,
  },
  UNKNOWN_TX: {
    TRANSACTION_UNKNOWN: 'unknown transaction: {id}; wait until a block with it is finalized',
  },
  UNKNOWN_KEY_NAME: {
    STATE_KEY_UNKNOWN:
      'unknown state key: {id}; correct the key, or wait until a block with it is finalized',
  },
  UNKNOWN_MEME: {
    MEME_UNKNOWN: 'unknown meme: {id}; list memes with GET /api/v1/memes',
  },
  QUOTA: {
    MEME_QUOTA: `meme quota exceeded: {used} bytes used, {size} bytes sent (limit {limit} bytes);
      send a smaller file`,
  },
  QUOTA_USED: {
    RATE_LIMIT: 'rate limit exceeded: {limit} ({quota} per {window}); retry after {seconds} s',
    CONNECTIONS_WAITING: `too many connections from this address are waiting for auth (limit
      {limit}); authenticate or close one first`,
    CONNECTIONS_OF_AGENT:
      'too many connections of this agent (limit {limit}); use the newer connection',
    WATCHERS_OF_ADDRESS:
      'too many watching connections from this address (limit {limit}); close one, or retry later',
    MESSAGES_WAITING: `too many messages before a reply (limit {limit}, or {bytes} characters);
      wait for each reply`,
    MESSAGE_RATE: 'too many messages (limit {limit} per minute); send fewer messages',
  },
  BLOCKS_USED: {
    BLOCK_RATE_LIMIT: `block rate limit exceeded: {quota} blocks per minute, shared by all
      producers; retry after {seconds} s`,
  },
  UNKNOWN_TOPIC: {
    TOPIC_UNKNOWN: 'unknown topic: {topic}; use one or more of {topics}',
  },
  UNKNOWN_CONNECTION: {
    CONNECTION_UNKNOWN:
      'unknown connection: {id}; use the connection_id of auth_ok, and sign with the same key',
  },
  NO_WATCH: {
    WATCH_DISABLED: 'anonymous watching is disabled; send auth, then subscribe',
  },
  UNKNOWN_ENTRY: {
    ENTRY_UNKNOWN: 'unknown log entry: {entry}; read an entry from 0 to {last}',
    ENTRY_UNAVAILABLE: '{problem}; list the entries with GET /api/v1/log',
  },
  NO_HISTORY: {
    HISTORY_UNAVAILABLE: `historical reads are not available on this server;
      leave out \`at\`, or use a server started with folkmoot explore DIR`,
  },
  BEING_MADE: {
    VIEW_INDEXING: 'the log is being indexed{progress}; retry after the time in Retry-After',
  },
  LOG_DAMAGED: {
    LOG_DAMAGED: 'damaged log: {problem}; the operator must check the folder with folkmoot replay',
    DECISION_MISMATCH: `decision record of agent {agent_id} for block number {block} does not match
      the log; the operator must check the run with folkmoot replay`,
  },
  ARCHIVE_DAMAGED: {
    ARCHIVE_DAMAGED: `archive damaged: entries {first} to {last}, events {first_event} to
      {last_event}; the operator must restore the segment file`,
  },
  NO_DECISIONS: {
    DECISIONS_UNAVAILABLE: `no decision records for agents of a live network;
      simulate with sim --set measure.decisions=true, then use folkmoot explore DIR`,
    DECISIONS_UNREADABLE: 'no decision records: {problem}',
  },
  UNKNOWN_SCENARIO: {
    SCENARIO_UNKNOWN:
      'this network has no scenario; use folkmoot explore DIR with the folder of a simulation',
    SCENARIO_AGENT_UNKNOWN:
      'agent {agent_id} is not part of the scenario; use an agent of the scenario',
    GRAPH_UNKNOWN: 'neighbor graph not available: {problem}',
  },
  BAD_TOKEN: {
    CONTROL_TOKEN_MISSING: `missing control token;
      send Authorization: Bearer and the token after #token= in the printed address`,
    CONTROL_TOKEN_INVALID: `invalid control token;
      send Authorization: Bearer and the token after #token= in the printed address`,
  },
  NO_CONTROL: {
    CONTROL_RUN_BUSY: 'run {run} is in progress; wait until it ends, or send cancel',
    CONTROL_UNSUPPORTED: 'control {control} is not available here; use one of {available}',
    CONTROL_UNAVAILABLE:
      'control {control} is not available here; read what is available with GET /api/v1/control',
  },
  READ_ONLY: {
    NETWORK_READ_ONLY: `read-only network: {folder};
      send writes to the server of that folder: folkmoot serve --data FOLDER`,
  },
  PAUSED: {
    NETWORK_PAUSED: 'the network is paused; retry when the operator resumes it',
  },
  STOPPING: {
    NETWORK_FAILED: 'the network has failed; open it again',
    NETWORK_CLOSED: 'the network is closed or closing; retry when it is open again',
  },
  DISK_FULL: {
    DISK_FULL: 'too little free disk space; the operator must free space',
    ORDER_FULL:
      'the cluster has no space left for new requests; the operator must free space in etcd',
  },
  INTERNAL: {
    SERVER_FAULT: 'internal server error; the operator can find the error in the server log',
  },
  DEADLINE: {
    REQUEST_TIMEOUT: `request timed out after {limit} ms;
      its outcome is unknown; retry the same request; it is idempotent`,
  },
  NO_QUORUM: {
    NODE_CUT_OFF: `this node has had no contact with its cluster for {elapsed} ms;
      nothing was done; retry, or use another node`,
  },
  CATCHING_UP: {
    NODE_STARTING: 'this node is not ready: {progress}; use another node',
  },
  CLOCK: {
    NODE_CLOCK:
      "this node's clock is {offset} ms {side} the clocks of the other nodes; use another node",
  },
  UNCERTAIN: {
    OUTCOME_UNCERTAIN:
      'the outcome of the request is unknown; retry the same request; it is idempotent',
  },
} as const satisfies MessageGroups;

export type RefusalKey = KeyIn<typeof refusalMessages>;
