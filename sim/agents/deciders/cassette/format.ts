/**
 * The cassette: what deciders were asked in a run, and what they answered. Lines of JSON, each with
 * a checksum over all before it: a header, a record for each question, and an end.
 */
import { canonical, type Static, Type, validator } from '../../../../engine/internal.js';
import { sha256Hex } from '../../../../engine/protocol/signing.js';
import { occasions } from '../../../scenario/schema/deciders/asked.js';
import { Answer } from '../answer.js';
import { type FailureReason, failureReasons } from '../doors/door.js';

export const FORMAT = 'folkmoot-cassette-1';

const strictly = { additionalProperties: false } as const;
const Digest = Type.String({ pattern: '^[0-9a-f]{64}$' });
const Count = Type.Integer({ minimum: 0 });

const Header = Type.Object(
  {
    format: Type.Literal(FORMAT),
    /** SHA-256 of the scenario as canonical JSON, without its seed and ways of asking. */
    scenario: Digest,
    seed: Type.String(),
  },
  strictly,
);
export type Header = Static<typeof Header>;

const Recorded = Type.Object(
  {
    agent: Count,
    kind: Type.Enum(occasions),
    number: Count,
    /** SHA-256 of what the decider is: strategy and prompts. */
    decider: Digest,
    /** SHA-256 of `view` as canonical JSON. */
    saw: Digest,
    view: Type.Unknown(),
    calls: Type.Integer({ minimum: 1 }),
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

const End = Type.Object({ end: Count }, strictly);

/** What a line says. */
export type Line = { header: Header } | { record: Recorded } | { end: number };

const checks = { header: validator(Header), record: validator(Recorded), end: validator(End) };

/** The checksum of a line: of its text without it, after that of the line before. */
const sumOf = (before: string, body: string): string => sha256Hex(before + body).slice(0, 32);

/** A line with its checksum, and that by itself, which the next one goes on from. */
export function lineOf(before: string, value: Header | Recorded | { end: number }) {
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
  if (checks.record(value)) return null;
  const record = value as Recorded;
  const whole = sha256Hex(canonical(record.view)) === record.saw;
  const one = (record.answer === undefined) !== (record.failure === undefined);
  return whole && one ? { record } : null;
}
