/**
 * Values that agents state in a deliberation, and statements as remarks. A statement is a remark
 * whose message is canonical JSON, so a log of a simulation or of a live network contains all
 * statements, and a replay checks them. Remarks come from any agent and are untrusted.
 */
import { canonical } from '../../../engine/protocol/canonical.js';
import { parseJson } from '../../../engine/protocol/json.js';
import { findValueProblem, type Topic } from '../../scenario/deliberation.js';
import { LONGEST_REASON } from '../../scenario/schema/deliberation.js';

/** JSON value of the scenario's kind. */
export type Stated = unknown;

export interface Statement {
  /** Round in which it was made, from 0. */
  round: number;
  value: Stated;
  /** Public reason. */
  reason?: string;
  /** True if the agent wants the deliberation to end. */
  stop?: boolean;
  /** Parity of the ordinals of the agents to which an equivocating agent addresses it. */
  half?: 0 | 1;
}

/** Largest message of a remark. */
const LARGEST_MESSAGE = 2_048;

/** Value as text, for comparisons. */
export const keyOf = (value: Stated): string => canonical(value);

/** Returns null if the statement is too large for a remark. */
export function encodeStatement({ round, value, reason, stop, half }: Statement): string | null {
  const text = canonical({ round, value, reason, stop: stop || undefined, half });
  return text.length <= LARGEST_MESSAGE ? text : null;
}

/** Returns null if the message is not a statement about the topic. */
export function parseStatement(message: string, topic: Topic): Statement | null {
  if (!message.startsWith('{')) return null;
  const parsed = parseJson(message);
  if (!('value' in parsed)) return null;
  const { round, value, reason, stop, half } = parsed.value as Partial<Statement>;
  if (!Number.isSafeInteger(round) || round! < 0 || findValueProblem(value, topic)) return null;
  if (reason !== undefined && typeof reason !== 'string') return null;
  return {
    round: round!,
    value,
    ...(reason === undefined ? {} : { reason: reason.slice(0, LONGEST_REASON) }),
    ...(stop === true ? { stop } : {}),
    ...(half === 0 || half === 1 ? { half } : {}),
  };
}

/** First choice of a value: the best option of a ranking or of scores, or the value itself. */
export function firstChoice(value: Stated, { kind, options }: Topic): Stated {
  if (kind === 'ranking') return (value as string[])[0];
  if (kind !== 'scores') return value;
  const points = value as Record<string, number>;
  const given = options.filter((name) => Object.hasOwn(points, name));
  return given.reduce((best, name) => (points[name]! > points[best]! ? name : best));
}

/** Number of values by text, in order of their first occurrence. */
export function countValues(values: readonly Stated[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) {
    const key = keyOf(value);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

/** Returns the most frequent value; null without values, or if two are equally frequent. */
export function mostFrequent(values: readonly Stated[]): { value: Stated; count: number } | null {
  const [first, second] = [...countValues(values)].sort(([, a], [, b]) => b - a);
  if (first === undefined || first[1] === second?.[1]) return null;
  return { value: JSON.parse(first[0]), count: first[1] };
}

/** Difference of the largest and the smallest number; null without numbers. */
export function spreadOf(values: readonly Stated[]): number | null {
  const numbers = values.filter((value) => typeof value === 'number');
  if (numbers.length === 0) return null;
  return Math.max(...numbers) - Math.min(...numbers);
}

/** Names and order of options as an agent is shown them. */
export interface Presentation {
  /** Options in the order shown. */
  options: readonly string[];
  /** Label of each option, in the order shown. Equals `options` if options have names. */
  labels: readonly string[];
}

/** Translates a value between options and labels. Values without options stay as they are. */
export function translate(
  value: Stated,
  kind: Topic['kind'],
  from: readonly string[],
  to: readonly string[],
): Stated {
  const one = (name: unknown): unknown => {
    const at = from.indexOf(name as string);
    return at < 0 ? name : to[at];
  };
  if (kind === 'decision' || kind === 'option') return one(value);
  if (kind === 'ranking') return Array.isArray(value) ? value.map(one) : value;
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (kind !== 'scores' || !isObject) return value;
  return Object.fromEntries(Object.entries(value).map(([name, points]) => [one(name), points]));
}
