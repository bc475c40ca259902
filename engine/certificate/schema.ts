/**
 * The shape of a certificate as JSON Schema: the document is made of it, and `shape.ts` checks by
 * it. Plain data, since what compiles schemas does not run in every browser.
 */
import { CERTIFICATE_FORMAT } from './format.js';

/** As much of JSON Schema as is used here; members beyond `properties` are always refused. */
export type Shape =
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
export const certificateShape: Shape = object(
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
