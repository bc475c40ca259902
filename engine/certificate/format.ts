/** Certificate format: types, JSON Schema, encoding and parsing. Runs in browsers. */
import { canonical } from '../protocol/canonical.js';
import { parseJson } from '../protocol/json.js';
import { formatMessage, type MessageTable, type MessageValues } from '../protocol/messages.js';
import { describePattern, digestPattern, namePattern } from '../protocol/patterns.js';
import { pointerStep } from '../protocol/text.js';

export const CERTIFICATE_FORMAT = 'folkmoot certificate 1';

/** Default size limit, for building and for reading. */
export const CERTIFICATE_BYTES = 16 * 1024 * 1024;

/** Both log digests after an entry, in hex. */
export interface ChainDigests {
  digest: string;
  log_digest: string;
}

/** Claim made by a certificate. The check recomputes every member. */
export interface CertificateClaim {
  network_id: string;
  block_hash: string;
  height: number;
  status: 'finalized' | 'rejected';
  /** Weights in favor, against, and of the whole electorate. */
  approve: number;
  reject: number;
  total: number;
  /** Option that the rule chose. */
  choice?: string;
}

/** A request as in the log, without its entry number. */
export interface CertifiedEntry {
  at: number;
  kind: string;
  public_key: string;
  target: string;
  timestamp: string;
  signature: string;
  body: string;
}

/** The parts of a log entry that the digest chains need. */
export interface CertificateLink {
  /** Present only if the decision depends on the request. */
  entry?: CertifiedEntry;
  log_digest: string;
  /** Texts covered by the digest: events, then changed records. */
  results: string[];
}

/** Consecutive log entries, with the digests before and after them. */
export interface CertificateSpan {
  first: number;
  before: ChainDigests;
  links: CertificateLink[];
  after: ChainDigests;
}

/** A certificate as JSON. */
export interface Certificate {
  format: typeof CERTIFICATE_FORMAT;
  claim: CertificateClaim;
  spans: CertificateSpan[];
}

/** Encodes a certificate as canonical JSON followed by a line feed. */
export function certificateText(certificate: Certificate): string {
  return `${canonical(certificate)}\n`;
}

type Reason = {
  [Code in CertificateProblem]: keyof MessageValues<CertificateMessages[Code]> extends never
    ? [code: Code]
    : [code: Code, values: MessageValues<CertificateMessages[Code]>];
}[CertificateProblem];

/** Thrown to refuse a certificate. `checkCertificate` catches the error and returns a value. */
export class CertificateError extends Error {
  override name = 'CertificateError';
  readonly code: string;
  constructor(
    /** JSON Pointer into the certificate; '' for the whole document. */
    readonly where: string,
    ...[code, values]: Reason
  ) {
    super(formatMessage<string>(certificateMessages[code], values ?? {}));
    this.code = code;
  }
}

const encoder = new TextEncoder();

/** @throws {CertificateError} */
export function readCertificate(given: string | Uint8Array, mostBytes: number): Certificate {
  // A character takes at least one byte, so a text that is too long needs no encoding.
  const size = given.length > mostBytes ? given.length : bytesOf(given).length;
  if (size > mostBytes) {
    throw new CertificateError('', 'TOO_LARGE', { size, most: mostBytes });
  }
  const parsed = parseJson(bytesOf(given));
  if ('message' in parsed) {
    throw new CertificateError(parsed.pointer, 'BAD_JSON', { problem: parsed.message });
  }
  assertShape(certificateShape, parsed.value, '');
  const certificate = parsed.value as Certificate;
  if (!sameBytes(encoder.encode(certificateText(certificate)), bytesOf(given))) {
    throw new CertificateError('', 'NOT_CANONICAL_LINE');
  }
  return certificate;
}

const bytesOf = (given: string | Uint8Array) =>
  typeof given === 'string' ? encoder.encode(given) : given;

const sameBytes = (a: Uint8Array, b: Uint8Array) =>
  a.length === b.length && a.every((byte, index) => byte === b[index]);

function assertShape(shape: Shape, value: unknown, where: string): void {
  if (shape.type === 'string') return assertText(shape, value, where);
  if (shape.type === 'integer') {
    const { minimum, maximum } = shape;
    if (Number.isSafeInteger(value) && Number(value) >= minimum && Number(value) <= maximum) return;
    throw new CertificateError(where, 'NOT_AN_INTEGER', { minimum, maximum });
  }
  if (shape.type === 'array') return assertItems(shape, value, where);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new CertificateError(where, 'NOT_AN_OBJECT');
  }
  const lacking = shape.required.find((name) => !Object.hasOwn(value, name));
  if (lacking !== undefined) {
    throw new CertificateError(where, 'MEMBER_MISSING', { name: lacking });
  }
  for (const [name, member] of Object.entries(value)) {
    const inner = `${where}/${pointerStep(name)}`;
    const of = Object.hasOwn(shape.properties, name) ? shape.properties[name] : undefined;
    if (of === undefined) throw new CertificateError(inner, 'MEMBER_UNKNOWN');
    assertShape(of, member, inner);
  }
}

function assertText(shape: Shape & { type: 'string' }, value: unknown, where: string): void {
  if (typeof value !== 'string') throw new CertificateError(where, 'NOT_A_STRING');
  if (shape.enum && !shape.enum.includes(value)) {
    const values = shape.enum.map((one) => `"${one}"`).join(' or ');
    throw new CertificateError(where, 'NOT_ONE_OF', { values });
  }
  if (shape.pattern !== undefined && !new RegExp(shape.pattern).test(value)) {
    throw new CertificateError(where, 'NO_MATCH', {
      expected: describePattern(shape.pattern) ?? 'a different string',
    });
  }
}

function assertItems(shape: Shape & { type: 'array' }, value: unknown, where: string): void {
  if (!Array.isArray(value)) throw new CertificateError(where, 'NOT_AN_ARRAY');
  const { items, minItems, maxItems } = shape;
  if (value.length < minItems || value.length > maxItems) {
    const bounds = { minimum: minItems, maximum: maxItems };
    throw new CertificateError(where, 'ITEM_COUNT', { ...bounds, count: value.length });
  }
  for (const [index, item] of value.entries()) assertShape(items, item, `${where}/${index}`);
}

/*
 * JSON Schema of a certificate. The published schema is generated from this one, and
 * `readCertificate` validates with it. The schema is interpreted as data, since compiling a schema
 * fails in some browsers.
 */

/** Subset of JSON Schema used here. Unknown members are always refused. */
type Shape =
  | { type: 'string'; pattern?: string; enum?: readonly string[]; description?: string }
  | { type: 'integer'; minimum: number; maximum: number; description?: string }
  | {
      type: 'array';
      items: Shape;
      minItems: number;
      maxItems: number;
      description?: string;
    }
  | {
      type: 'object';
      properties: Readonly<Record<string, Shape>>;
      required: readonly string[];
      additionalProperties: false;
      description?: string;
    };

const object = (
  properties: Readonly<Record<string, Shape>>,
  description: string,
  optional: readonly string[] = [],
): Shape => ({
  type: 'object',
  description,
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  additionalProperties: false,
});

const text = (description: string): Shape => ({ type: 'string', description });
const hash = (description: string): Shape => ({
  type: 'string',
  pattern: digestPattern,
  description,
});
const count = (description: string): Shape & { type: 'integer' } => ({
  type: 'integer',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description,
});

/** Last millisecond of the year 9999. The year in a timestamp has four digits. */
const LATEST = 253_402_300_799_999;

const digests = (description: string): Shape =>
  object({ digest: hash('of entries and results'), log_digest: hash('of entries') }, description);

const entry = object(
  {
    at: { ...count('engine time, milliseconds since 1970'), maximum: LATEST },
    kind: { type: 'string', enum: ['genesis', 'register', 'propose', 'vote', 'tick'] },
    public_key: text('key of the signer, hex; empty for genesis and ticks'),
    target: text('as in the log'),
    timestamp: text('as in the log'),
    signature: text('as in the log; the signature of a proposal or vote is in its body'),
    body: text('raw body of the request'),
  },
  'a log entry on which the decision depends',
);

const link = object(
  {
    entry,
    log_digest: hash('log digest after this entry'),
    results: {
      type: 'array',
      items: text('canonical JSON'),
      minItems: 0,
      maxItems: 1_000_000,
      description: 'events, then changed records, as covered by the digest',
    },
  },
  'one entry of the log',
  ['entry'],
);

const span = object(
  {
    first: count('number of the first entry'),
    before: digests('before the first entry'),
    links: {
      type: 'array',
      items: link,
      minItems: 1,
      maxItems: 1_000_000,
      description: 'one per entry',
    },
    after: digests('after the last entry'),
  },
  'consecutive entries of the log',
);

const certificateShape: Shape = object(
  {
    format: { type: 'string', enum: [CERTIFICATE_FORMAT] },
    claim: object(
      {
        network_id: { type: 'string', pattern: namePattern },
        block_hash: hash('of the decided block'),
        height: count('of the block'),
        status: { type: 'string', enum: ['finalized', 'rejected'] },
        approve: count('weight for it'),
        reject: count('weight against it'),
        total: count('weight of the electorate'),
        choice: {
          type: 'string',
          pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
          description: 'option that the rule chose; absent if it chose none',
        },
      },
      'the claim; a check recomputes all of it',
      ['choice'],
    ),
    spans: {
      type: 'array',
      items: span,
      minItems: 1,
      maxItems: 1_000_000,
      description: 'ascending, separated by gaps',
    },
  },
  'proof that a block was finalized or rejected; see certificates.md',
);

export function certificateJsonSchema(): object {
  const $schema = 'https://json-schema.org/draft/2020-12/schema';
  return { $schema, $id: 'urn:folkmoot:certificate', ...certificateShape };
}

const certificateMessages = {
  // Encoding and form.
  TOO_LARGE: 'certificate too large: at least {size} bytes (expected at most {most})',
  BAD_JSON: '{problem}',
  NOT_CANONICAL: 'not canonical JSON (RFC 8785)',
  NOT_CANONICAL_LINE: 'not canonical JSON (RFC 8785) followed by one line feed',
  NOT_AN_INTEGER: 'expected an integer from {minimum} to {maximum}',
  NOT_AN_OBJECT: 'expected an object',
  NOT_AN_ARRAY: 'expected an array',
  NOT_A_STRING: 'expected a string',
  NOT_ONE_OF: 'expected {values}',
  NO_MATCH: 'expected {expected}',
  ITEM_COUNT: 'expected {minimum} to {maximum} items, got {count}',
  MEMBER_MISSING: 'missing member: {name}',
  MEMBER_UNKNOWN: 'unknown member',

  // Digest chains.
  LOG_START: 'the first span must begin with entry 0 and with digests of zeros',
  SPAN_ORDER: 'span begins at entry {first} (expected more than {previous})',
  SPAN_START: 'the first link of a span must have the request of its entry',
  DIGEST_MISMATCH: '{name} after entry {seq} is {claimed}, but recomputes to {found}',
  TRUSTED_ENTRY_MISSING: 'entry {seq} is not in the certificate, which has {entries}',
  TRUSTED_DIGEST_MISMATCH:
    'digest after entry {seq} is {found}, not {trusted}, so it is from another log',

  // Results of entries.
  NOT_A_RECORD: 'not a record of the protocol (section 17)',
  NOT_AN_EVENT: 'not an event of the protocol (section 10)',
  NO_OBJECT_IN_RESULT: 'expected an object in a result, got {value}',
  NO_AGENT_IN_RESULT: 'expected an agent in a result, got {value}',
  CHANGED_TWICE: 'entry changes {what} twice',
  EVENT_AFTER_RECORD: 'event after a record (expected all events first)',
  WRITTEN_TWICE: '{id} written again (expected once)',
  NUMBER_ORDER: '{what}: number {found} out of sequence (expected {expected})',
  BLOCK_STATE: '{id} changes from {before} to {state}',
  PERSONALITY_CHANGED: 'personality of agent {id} changes from {before} to {personality}',
  AGENT_RECORDS: 'the two records of the agent contradict each other',

  // Requests.
  BODY_TOO_LARGE: 'body of {kind} too large: at least {size} bytes (expected at most {most})',
  SYSTEM_ENTRY: '{kind} must not have a key, target, timestamp or signature',
  TICK_BODY: 'tick must not have a body',
  TOO_MANY_TRANSACTIONS: 'too many transactions: {count} (expected at most {most})',
  NOT_A_TRANSACTION: 'not a transaction of the protocol (section 2)',
  GENESIS_PARAMETER: 'invalid genesis parameter: {name}',
  UNSIGNED_NETWORK: 'a network without signatures cannot be certified',
  PROPOSAL_MEMBER: 'proposal must not have the member {name}',
  WRONG_PROPOSAL:
    'proposal by key {key} on network {network} has block hash {found} (expected {hash})',
  PARENT_HASH: 'invalid parent_hash: {value}',
  DUPLICATE_TRANSACTION: 'duplicate transaction in the proposal',
  PROPOSAL_OPTIONS: 'invalid options in the proposal (section 2)',
  TRANSACTION_HASH: 'hash of transaction {index} does not match its data',
  SIGNATURE: 'signature of {what} is not by key {key}',
  VOTE_BLOCK: 'vote of entry {seq} is for another block: {block}',
  VOTE_DECISION: 'invalid decision in the vote of entry {seq}: {value}',
  VOTE_MEMBERS: 'invalid reason or meme_references in the vote of entry {seq}',
  NOT_A_REGISTRATION: 'entry {seq} does not register a validator',
  HEADER_KEY: 'key in the header of entry {seq} differs from the registered key',
  NOT_A_KEY: 'invalid public key: {value}',
  REQUEST_MISSING: 'missing request of entry {seq} (expected {kind})',
  REQUEST_UNUSED: 'the decision does not depend on the request of entry {seq}',
  SPAN_UNUSED: 'the decision does not depend on this span',

  // Electorate and votes.
  NO_ELECTORATE: 'no proposal in the certificate writes electorate {number}',
  ELECTORATE_LENGTHS: 'electorate has different numbers of agents and weights',
  ELECTORATE_ORDER: 'agents of the electorate are not in ascending order',
  TOO_FEW_ELECTORS: 'too few electors: {count} (min_validators is {least})',
  WEIGHT: 'invalid weight with weighting {weights}: {weight}',
  ELECTOR_UNREGISTERED: 'no entry in the certificate registers elector {ordinal}',
  REGISTRATION_RECORD: 'record of the agent differs from the registration in entry {seq}',
  DUPLICATE_VOTE: 'agent {agent} votes again in entry {seq}',
  VOTER_MISMATCH: 'agent {ordinal} is {known}, but the vote names {agent}',
  NOT_AN_ELECTOR: 'agent {agent} is not elector {ordinal}',
  VOTE_RECORD: 'record of the vote in entry {seq} differs from the vote',
  VOTE_BALLOT: 'vote of entry {seq}: /ballot{pointer} {problem}',
  VOTE_EVENT: 'event of a vote in entry {seq} differs from the vote',
  VOTE_EVENT_MISSING: 'missing event of the vote in entry {seq}',
  VOTE_AFTER_DECISION: 'vote of entry {seq} is after the decision',
  VOTE_OUTSIDE_PERIOD: 'vote of entry {seq} is outside the voting period',

  // Block and claim.
  ENTRY_ORDER: 'entry {seq} ({kind}, time {at}) is out of order',
  BLOCK_RECORDS: 'expected two records of block {hash}, of its proposal and its end',
  BLOCK_CONTEXT: 'invalid ordinal or electorate in the record of the block',
  BLOCK_NUMBER: 'entry {seq} does not give number {ordinal} to the block',
  BLOCK_EVENT_COUNT: 'expected exactly one {type} of the block, in entry {seq}',
  BLOCK_EVENT: 'block event in entry {seq} differs from the recomputed event: {value}',
  BLOCK_RECORD:
    'record of the block in entry {seq}: {name} is {found}; recomputing gives {expected}',
  BLOCK_END: 'entry {seq} closes the block before its deadline and without a deciding vote',
  BLOCK_HEIGHT: 'height {height} must belong to the finalized block only',
  CLAIM_MISMATCH: 'claim is {claimed}, but recomputes to {found}',
} as const satisfies MessageTable;

type CertificateMessages = typeof certificateMessages;

/** Code for a reason to refuse a certificate. */
type CertificateProblem = keyof CertificateMessages;
