/**
 * The cassette: what deciders were asked in a run, and what they answered. Lines of JSON, each with
 * a checksum over all before it: a header, a record for each question, and an end.
 */
import { canonical, type Static, Type, validator } from '../../../../engine/internal.js';
import { sha256Hex } from '../../../../engine/protocol/signing.js';
import { occasions } from '../../../scenario/schema/deciders/asked.js';
import { Answer } from '../answer.js';
import { type FailureReason, failureReasons } from '../doors/door.js';

/** Version 2 added lines of calls and the member `unusable`. */
export const FORMAT = 'folkmoot-cassette-2';
const EARLIER_FORMAT = 'folkmoot-cassette-1';

const strictly = { additionalProperties: false } as const;
const Digest = Type.String({ pattern: '^[0-9a-f]{64}$' });
const Count = Type.Integer({ minimum: 0 });

const Header = Type.Object(
  {
    format: Type.Enum([FORMAT, EARLIER_FORMAT]),
    /** SHA-256 of the scenario as canonical JSON, without its seed and ways of asking. */
    scenario: Digest,
    seed: Type.String(),
  },
  strictly,
);
export type Header = Static<typeof Header>;

/** Members that identify a question: a record is found by them. */
const key = {
  agent: Count,
  kind: Type.Enum(occasions),
  number: Count,
  /** SHA-256 of the decider: strategy and prompts. */
  decider: Digest,
  /** SHA-256 of `view` as canonical JSON. */
  saw: Digest,
};

/** Tokens of calls that gave no usable answer. */
const Unusable = Type.Optional(Type.Object(Answer.properties.usage.properties, strictly));

const Recorded = Type.Object(
  {
    ...key,
    view: Type.Unknown(),
    /** All calls for the question, those of earlier processes too. */
    calls: Type.Integer({ minimum: 1 }),
    unusable: Unusable,
    answer: Type.Optional(Type.Object(Answer.properties, strictly)),
    failure: Type.Optional(
      Type.Object(
        {
          reason: Type.Enum(Object.keys(failureReasons) as FailureReason[]),
          detail: Type.String(),
        },
        strictly,
      ),
    ),
  },
  strictly,
);
export type Recorded = Static<typeof Recorded>;

/**
 * A line about a call, in the cassette of a run that has not ended: it is written before the call,
 * and written again, with `unusable`, when the call used tokens without a usable answer.
 */
const CallNote = Type.Object({ call: Type.Object(key, strictly), unusable: Unusable }, strictly);
export type CallNote = Static<typeof CallNote>;

const End = Type.Object({ end: Count }, strictly);

/** The content of a line. */
export type Line = { header: Header } | { record: Recorded } | { note: CallNote } | { end: number };

const checks = {
  header: validator(Header),
  record: validator(Recorded),
  note: validator(CallNote),
  end: validator(End),
};

/** The checksum of a line: of its text without it, after that of the line before. */
const sumOf = (before: string, body: string): string => sha256Hex(before + body).slice(0, 32);

/** A line with its checksum, and that by itself, which the next one goes on from. */
export function lineOf(before: string, value: Header | Recorded | CallNote | { end: number }) {
  const body = canonical(value);
  const sum = sumOf(before, body);
  return { line: `${body.slice(0, -1)},"sum":"${sum}"}\n`, sum };
}

/** What a line holds; or null where it is not as it was written. */
export function readLine(before: string, text: string): { value: Line; sum: string } | null {
  const [, open, sum] = /^(\{.*),"sum":"([0-9a-f]{32})"\}$/s.exec(text) ?? [];
  if (open === undefined || sum !== sumOf(before, `${open}}`)) return null;
  const value = lineIn(`${open}}`);
  return value && { value, sum: sum! };
}

function lineIn(body: string): Line | null {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return null;
  }
  if (!checks.header(value)) return { header: value as Header };
  if (!checks.end(value)) return { end: (value as { end: number }).end };
  if (!checks.note(value)) return { note: value as CallNote };
  if (checks.record(value)) return null;
  const record = value as Recorded;
  const whole = sha256Hex(canonical(record.view)) === record.saw;
  const one = (record.answer === undefined) !== (record.failure === undefined);
  return whole && one ? { record } : null;
}
