/** Line formats of the conformance suite; see docs/conformance.md. */
import { type Static, type TSchema, Type } from '../../engine/protocol/bundled/typebox.js';
import { definePattern, digestPattern } from '../../engine/protocol/patterns.js';
import { reasons } from '../../engine/protocol/schema/reason.js';

/** Incremented when older readers cannot read newer suites. */
export const FORMAT = 1;

const Text = Type.String();
const Hex = Type.String({
  pattern: definePattern('^([0-9a-f]{2})*$', 'bytes as lower-case hex characters'),
});
const Digest = Type.String({ pattern: digestPattern });
const Line = Type.Integer({ minimum: 0 });
const Instant = Type.Integer({ minimum: 0, description: 'milliseconds since 1970' });
/** One byte, repeated. */
const Filled = Type.Object({ byte: Type.Integer({ minimum: 0, maximum: 255 }), bytes: Line });

/** SignedRequest whose body is text, or hex if the body is not UTF-8, or a repeated byte. */
export const InputRequest = Type.Object({
  kind: Text,
  public_key: Text,
  target: Text,
  timestamp: Text,
  signature: Text,
  body: Type.Optional(Text),
  body_hex: Type.Optional(Hex),
  body_filled: Type.Optional(Filled),
  file_base64: Type.Optional(Text),
  file_filled: Type.Optional(Filled),
});

/** Contains `genesis` (line 0), `request`, or neither if only time passes. */
export const InputLine = Type.Object({
  line: Line,
  at: Instant,
  genesis: Type.Optional(Type.Unknown()),
  request: Type.Optional(InputRequest),
  note: Type.Optional(Text),
});

export const ExpectedOutcome = Type.Object({
  result: Type.Enum(['accepted', 'duplicate', 'refused', 'equivocation']),
  data: Type.Optional(Type.Unknown()),
  code: Type.Optional(Text),
  status: Type.Optional(Type.Integer()),
  reason: Type.Optional(Type.Enum(Object.keys(reasons))),
  pointer: Type.Optional(Text),
  details: Type.Optional(Type.Unknown()),
});

export const ExpectedEntry = Type.Object({
  seq: Line,
  at: Instant,
  kind: Text,
  events: Type.Array(Type.Unknown()),
  /** `[table, key, value]`. A deleted record's value is null. */
  records: Type.Array(Type.Unknown()),
  log_digest: Digest,
  digest: Digest,
});

/** Expected effects of a line. Genesis and the passing of time have no outcome. */
export const ExpectedLine = Type.Object({
  line: Line,
  outcome: Type.Optional(ExpectedOutcome),
  entries: Type.Array(ExpectedEntry),
});

/** Another implementation's result. Each member of an expected line is optional. */
export const ResultLine = Type.Object({
  case: Text,
  line: Line,
  outcome: Type.Optional(Type.Unknown()),
  entries: Type.Optional(Type.Array(Type.Unknown())),
  log_digest: Type.Optional(Digest),
  digest: Type.Optional(Digest),
});

export const CaseRow = Type.Object({
  name: Text,
  kind: Type.Enum(['log', 'vectors']),
  about: Text,
  lines: Line,
  log_digest: Digest,
  digest: Digest,
});

export const SuiteFile = Type.Object({
  format: Type.Literal(FORMAT),
  unicode: Text,
  cases: Type.Array(CaseRow),
});

/**
 * Request in a case: a SignedRequest whose body is text, or hex if not UTF-8, or a repeated byte.
 *
 * @interface
 */
export type InputRequest = Static<typeof InputRequest>;
/** Line in a case: `genesis` (line 0), `request`, or neither if only time passes. @interface */
export type InputLine = Static<typeof InputLine>;
/** Expected outcome of a request. @interface */
export type ExpectedOutcome = Static<typeof ExpectedOutcome>;
/** Entry that the line must add to the log, with both digests after the entry. @interface */
export type ExpectedEntry = Static<typeof ExpectedEntry>;
/** Expected effects of a line. Genesis and the passing of time have no outcome. @interface */
export type ExpectedLine = Static<typeof ExpectedLine>;
/** Another implementation's result. Each member of an expected line is optional. @interface */
export type ResultLine = Static<typeof ResultLine>;
/** Case in the suite. @interface */
export type CaseRow = Static<typeof CaseRow>;
/** Contents of suite.json. @interface */
export type SuiteFile = Static<typeof SuiteFile>;

/** JSON Schemas written with the suite, by name. */
export const schemas: Record<string, TSchema> = {
  suite: SuiteFile,
  input: InputLine,
  expected: ExpectedLine,
  result: ResultLine,
};
