/** Reasons to refuse a certificate, by code. */
import type { MessageTable } from '../protocol/messages.js';

export const certificateMessages = {
  // Encoding and form.
  TOO_LARGE: { text: 'certificate too large: at least {size} bytes (expected at most {most})' },
  BAD_JSON: { text: '{problem}' },
  NOT_CANONICAL: { text: 'not canonical JSON (RFC 8785)' },
  NOT_CANONICAL_LINE: { text: 'not canonical JSON (RFC 8785) followed by one line feed' },
  NOT_AN_INTEGER: { text: 'expected an integer from {minimum} to {maximum}' },
  NOT_AN_OBJECT: { text: 'expected an object' },
  NOT_AN_ARRAY: { text: 'expected an array' },
  NOT_A_STRING: { text: 'expected a string' },
  NOT_ONE_OF: { text: 'expected {values}' },
  NO_MATCH: { text: 'expected {expected}' },
  ITEM_COUNT: { text: 'expected {minimum} to {maximum} items, got {count}' },
  MEMBER_MISSING: { text: 'missing member: {name}' },
  MEMBER_UNKNOWN: { text: 'unknown member' },

  // Digest chains.
  LOG_START: { text: 'the first span must begin with entry 0 and with digests of zeros' },
  SPAN_ORDER: { text: 'span begins at entry {first} (expected more than {previous})' },
  SPAN_START: { text: 'the first link of a span must have the request of its entry' },
  DIGEST_MISMATCH: { text: '{name} after entry {seq} is {claimed}, but recomputes to {found}' },
  TRUSTED_ENTRY_MISSING: { text: 'entry {seq} is not in the certificate, which has {entries}' },
  TRUSTED_DIGEST_MISMATCH: {
    text: 'digest after entry {seq} is {found}, not {trusted}, so it is from another log',
  },

  // Results of entries.
  NOT_A_RECORD: { text: 'not a record of the protocol (section 17)' },
  NOT_AN_EVENT: { text: 'not an event of the protocol (section 10)' },
  NO_OBJECT_IN_RESULT: { text: 'expected an object in a result, got {value}' },
  NO_AGENT_IN_RESULT: { text: 'expected an agent in a result, got {value}' },
  CHANGED_TWICE: { text: 'entry changes {what} twice' },
  EVENT_AFTER_RECORD: { text: 'event after a record (expected all events first)' },
  WRITTEN_TWICE: { text: '{id} written again (expected once)' },
  NUMBER_ORDER: { text: '{what}: number {found} out of sequence (expected {expected})' },
  BLOCK_STATE: { text: '{id} changes from {before} to {state}' },
  PERSONALITY_CHANGED: { text: 'personality of agent {id} changes from {before} to {personality}' },
  AGENT_RECORDS: { text: 'the two records of the agent contradict each other' },

  // Requests.
  BODY_TOO_LARGE: {
    text: 'body of {kind} too large: at least {size} bytes (expected at most {most})',
  },
  SYSTEM_ENTRY: { text: '{kind} must not have a key, target, timestamp or signature' },
  TICK_BODY: { text: 'tick must not have a body' },
  TOO_MANY_TRANSACTIONS: { text: 'too many transactions: {count} (expected at most {most})' },
  NOT_A_TRANSACTION: { text: 'not a transaction of the protocol (section 2)' },
  GENESIS_PARAMETER: { text: 'invalid genesis parameter: {name}' },
  UNSIGNED_NETWORK: { text: 'a network without signatures cannot be certified' },
  PROPOSAL_MEMBER: { text: 'proposal must not have the member {name}' },
  WRONG_PROPOSAL: {
    text: 'proposal by key {key} on network {network} has block hash {found} (expected {hash})',
  },
  PARENT_HASH: { text: 'invalid parent_hash: {value}' },
  DUPLICATE_TRANSACTION: { text: 'duplicate transaction in the proposal' },
  PROPOSAL_OPTIONS: { text: 'invalid options in the proposal (section 2)' },
  TRANSACTION_HASH: { text: 'hash of transaction {index} does not match its data' },
  SIGNATURE: { text: 'signature of {what} is not by key {key}' },
  VOTE_BLOCK: { text: 'vote of entry {seq} is for another block: {block}' },
  VOTE_DECISION: { text: 'invalid decision in the vote of entry {seq}: {value}' },
  VOTE_MEMBERS: { text: 'invalid reason or meme_references in the vote of entry {seq}' },
  NOT_A_REGISTRATION: { text: 'entry {seq} does not register a validator' },
  HEADER_KEY: { text: 'key in the header of entry {seq} differs from the registered key' },
  NOT_A_KEY: { text: 'invalid public key: {value}' },
  REQUEST_MISSING: { text: 'missing request of entry {seq} (expected {kind})' },
  REQUEST_UNUSED: { text: 'the decision does not depend on the request of entry {seq}' },
  SPAN_UNUSED: { text: 'the decision does not depend on this span' },

  // Electorate and votes.
  NO_ELECTORATE: { text: 'no proposal in the certificate writes electorate {number}' },
  ELECTORATE_LENGTHS: { text: 'electorate has different numbers of agents and weights' },
  ELECTORATE_ORDER: { text: 'agents of the electorate are not in ascending order' },
  TOO_FEW_ELECTORS: { text: 'too few electors: {count} (min_validators is {least})' },
  WEIGHT: { text: 'invalid weight with weighting {weights}: {weight}' },
  ELECTOR_UNREGISTERED: { text: 'no entry in the certificate registers elector {ordinal}' },
  REGISTRATION_RECORD: { text: 'record of the agent differs from the registration in entry {seq}' },
  DUPLICATE_VOTE: { text: 'agent {agent} votes again in entry {seq}' },
  VOTER_MISMATCH: { text: 'agent {ordinal} is {known}, but the vote names {agent}' },
  NOT_AN_ELECTOR: { text: 'agent {agent} is not elector {ordinal}' },
  VOTE_RECORD: { text: 'record of the vote in entry {seq} differs from the vote' },
  VOTE_BALLOT: { text: 'vote of entry {seq}: /ballot{pointer} {problem}' },
  VOTE_EVENT: { text: 'event of a vote in entry {seq} differs from the vote' },
  VOTE_EVENT_MISSING: { text: 'missing event of the vote in entry {seq}' },
  VOTE_AFTER_DECISION: { text: 'vote of entry {seq} is after the decision' },
  VOTE_OUTSIDE_PERIOD: { text: 'vote of entry {seq} is outside the voting period' },

  // Block and claim.
  ENTRY_ORDER: { text: 'entry {seq} ({kind}, time {at}) is out of order' },
  BLOCK_RECORDS: { text: 'expected two records of block {hash}, of its proposal and its end' },
  BLOCK_CONTEXT: { text: 'invalid ordinal or electorate in the record of the block' },
  BLOCK_NUMBER: { text: 'entry {seq} does not give number {ordinal} to the block' },
  BLOCK_EVENT_COUNT: { text: 'expected exactly one {type} of the block, in entry {seq}' },
  BLOCK_EVENT: { text: 'block event in entry {seq} differs from the recomputed event: {value}' },
  BLOCK_RECORD: {
    text: 'record of the block in entry {seq}: {name} is {found}; recomputing gives {expected}',
  },
  BLOCK_END: {
    text: 'entry {seq} closes the block before its deadline and without a deciding vote',
  },
  BLOCK_HEIGHT: { text: 'height {height} must belong to the finalized block only' },
  CLAIM_MISMATCH: { text: 'claim is {claimed}, but recomputes to {found}' },
} as const satisfies MessageTable;

export type CertificateMessages = typeof certificateMessages;

/** Code for a reason to refuse a certificate. */
export type CertificateProblem = keyof CertificateMessages;
