/** What a certificate is: its members, and how it is written as text. Safe in a browser. */
import { canonical } from '../protocol/canonical.js';
import { parseJson } from '../protocol/json.js';
import { pointerStep } from '../protocol/text.js';

/** The first version of the format. */
export const CERTIFICATE_FORMAT = 'folkmoot certificate 1';

/** Larger ones are neither made nor read unless the caller says so. */
export const CERTIFICATE_BYTES = 16 * 1024 * 1024;

/** Both digest chains of the log after an entry: hex. */
export interface ChainDigests {
  digest: string;
  log_digest: string;
}

/** What a certificate says; checking recomputes every member of it. */
export interface CertificateClaim {
  network_id: string;
  block_hash: string;
  height: number;
  status: 'finalized' | 'rejected';
  /** Weights: for, against, and of the whole electorate. */
  approve: number;
  reject: number;
  total: number;
}

/** A request as it stands in the log, but for its number. */
export interface CertifiedEntry {
  at: number;
  kind: string;
  public_key: string;
  target: string;
  timestamp: string;
  signature: string;
  body: string;
}

/** One entry of the log, as far as the digest chain needs it. */
export interface CertificateLink {
  /** Of whatever the decision rests on, and of no other. */
  entry?: CertifiedEntry;
  log_digest: string;
  /** The texts that the digest covers: events, then changed records. */
  results: string[];
}

/** Entries of the log without a gap, with the digests before and after them. */
export interface CertificateSpan {
  first: number;
  before: ChainDigests;
  links: CertificateLink[];
  after: ChainDigests;
}

/** The JSON of a certificate. */
export interface Certificate {
  format: typeof CERTIFICATE_FORMAT;
  claim: CertificateClaim;
  spans: CertificateSpan[];
}

/** The one text of a certificate: canonical JSON and a line feed. */
export function certificateText(certificate: Certificate): string {
  return `${canonical(certificate)}\n`;
}

/** Why a certificate is refused; a value to callers, thrown on the way to them. */
export class CertificateError extends Error {
  override name = 'CertificateError';
  constructor(
    /** A JSON Pointer into the certificate; '' for the whole. */
    readonly where: string,
    message: string,
  ) {
    super(message);
  }
}

const encoder = new TextEncoder();

/** @throws {CertificateError} */
export function readCertificate(given: string | Uint8Array, mostBytes: number): Certificate {
  // No character takes less than a byte: what is too long is not encoded first.
  const size = given.length > mostBytes ? given.length : bytesOf(given).length;
  if (size > mostBytes) {
    throw new CertificateError('', `it has ${size} bytes or more; at most ${mostBytes} are read`);
  }
  const parsed = parseJson(bytesOf(given));
  if ('message' in parsed)
    throw new CertificateError(parsed.pointer, `is refused: ${parsed.message}`);
  assertShape(certificateShape, parsed.value, '');
  const certificate = parsed.value as Certificate;
  if (!sameBytes(encoder.encode(certificateText(certificate)), bytesOf(given))) {
    throw new CertificateError(
      '',
      'it is not written as canonical JSON (RFC 8785) and one line feed',
    );
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
    throw new CertificateError(where, `expected an integer from ${minimum} to ${maximum}`);
  }
  if (shape.type === 'array') return assertItems(shape, value, where);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new CertificateError(where, 'expected an object');
  }
  const lacking = shape.required.find((name) => !Object.hasOwn(value, name));
  if (lacking !== undefined) throw new CertificateError(where, `has no member ${lacking}`);
  for (const [name, member] of Object.entries(value)) {
    const inner = `${where}/${pointerStep(name)}`;
    const of = Object.hasOwn(shape.properties, name) ? shape.properties[name] : undefined;
    if (of === undefined)
      throw new CertificateError(inner, 'is a member that certificates do not have');
    assertShape(of, member, inner);
  }
}

function assertText(shape: Shape & { type: 'string' }, value: unknown, where: string): void {
  if (typeof value !== 'string') throw new CertificateError(where, 'expected a text');
  if (shape.enum && !shape.enum.includes(value)) {
    throw new CertificateError(
      where,
      `expected ${shape.enum.map((one) => `"${one}"`).join(' or ')}`,
    );
  }
  if (shape.pattern !== undefined && !new RegExp(shape.pattern).test(value)) {
    throw new CertificateError(where, `does not match ${shape.pattern}`);
  }
}

function assertItems(shape: Shape & { type: 'array' }, value: unknown, where: string): void {
  if (!Array.isArray(value)) throw new CertificateError(where, 'expected an array');
  const { items, minItems, maxItems } = shape;
  if (value.length < minItems || value.length > maxItems) {
    throw new CertificateError(
      where,
      `expected ${minItems} to ${maxItems} items, found ${value.length}`,
    );
  }
  for (const [index, item] of value.entries()) assertShape(items, item, `${where}/${index}`);
}

/*
 * The shape of a certificate as JSON Schema. The published schema is generated from it, and
 * `readCertificate` checks by it. Plain data, because compiling a schema fails in some browsers.
 */

/** As much of JSON Schema as is used here; members beyond `properties` are always refused. */
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
  pattern: '^[0-9a-f]{64}$',
  description,
});
const count = (description: string): Shape & { type: 'integer' } => ({
  type: 'integer',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description,
});

/** The last millisecond of the year 9999: timestamps have four digits for a year. */
const LATEST = 253_402_300_799_999;

const digests = (description: string): Shape =>
  object({ digest: hash('of entries and results'), log_digest: hash('of entries') }, description);

const entry = object(
  {
    at: { ...count('engine time, milliseconds since 1970'), maximum: LATEST },
    kind: { type: 'string', enum: ['genesis', 'register', 'propose', 'vote', 'tick'] },
    public_key: text('of the signer, hex; of genesis and ticks empty'),
    target: text('as it stands in the log'),
    timestamp: text('as it stands in the log'),
    signature: text('as it stands in the log; that of a proposal or vote is in its body'),
    body: text('the raw body, as it was sent'),
  },
  'an entry on which the decision rests, as it stands in the log',
);

const link = object(
  {
    entry,
    log_digest: hash('of the log after this entry'),
    results: {
      type: 'array',
      items: text('canonical JSON'),
      minItems: 0,
      maxItems: 1_000_000,
      description: 'of each event, then of each changed record, as the digest covers them',
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
      description: 'entry by entry',
    },
    after: digests('after the last entry'),
  },
  'entries of the log without a gap',
);

/** Of a whole certificate. */
const certificateShape: Shape = object(
  {
    format: { type: 'string', enum: [CERTIFICATE_FORMAT] },
    claim: object(
      {
        network_id: { type: 'string', pattern: '^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$' },
        block_hash: hash('of the block that was decided'),
        height: count('of the block'),
        status: { type: 'string', enum: ['finalized', 'rejected'] },
        approve: count('weight for it'),
        reject: count('weight against it'),
        total: count('weight of the electorate'),
      },
      'what is certified; all of it is recomputed',
    ),
    spans: {
      type: 'array',
      items: span,
      minItems: 1,
      maxItems: 1_000_000,
      description: 'ascending, with gaps in between',
    },
  },
  'why a block was finalized or rejected; see certificates.md',
);

/** The document. */
export function certificateJsonSchema(): object {
  const $schema = 'https://json-schema.org/draft/2020-12/schema';
  return { $schema, $id: 'urn:folkmoot:certificate', ...certificateShape };
}
