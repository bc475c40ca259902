/**
 * Violation: a difference between a network's behaviour and its rules, with a self-contained text.
 * This file also compares events and answers.
 */
import type { CommandKind } from '../../engine/protocol/schema/command.js';
import type { Event, EventData } from '../../engine/protocol/schema/event.js';
import type { AnswerOf } from '../../engine/protocol/schema/view.js';

/** Violated rule and the step at fault. */
export interface Violation {
  /** Engine time of the step. */
  at: number;
  /** Name of a safety rule, or `outcome`, `answer`, `event`, `read`. */
  rule: string;
  /** Agent, block or alliance concerned. */
  actor: string;
  expected: string;
  found: string;
  /** Step kind: a command, a precheck, an advance of time, or the end. */
  during: CommandKind | `precheck of ${CommandKind}` | 'time' | 'end';
  /** Hash of the block concerned, or ''. */
  block: string;
}

/** Finding from a check, without the step. */
export type BrokenRule = Pick<Violation, 'rule' | 'actor' | 'expected' | 'found'> & {
  block?: string;
};

/** Formats a violation as one line. */
export function violationText(violation: Violation): string {
  const { at, rule, actor, expected, found, during, block } = violation;
  const on = block !== '' && block !== actor ? ` on block ${shortenId(block)}` : '';
  const when = `during ${during}${on}, at ${instantText(at)}`;
  return `rule ${rule}: ${named(actor)}: ${found}; expected ${expected} (${when})`;
}

/** Shortens an id to its first characters, which are enough to search for. */
export function shortenId(id: string): string {
  const long = /^([a-z]+_)?([0-9a-f]{8})[0-9a-f]{8,}$/.exec(id);
  return long ? `${long[1] ?? ''}${long[2]}..` : id;
}

const named = (actor: string) =>
  /^[0-9a-f]{64}$/.test(actor) ? `block ${shortenId(actor)}` : actor;

interface Difference {
  /** Member's path, such as `tally.approve`; '' for the whole value. */
  where: string;
  expected: string;
  found: string;
}

/** Returns the first member in which two JSON values differ, or null. */
export function difference(expected: unknown, found: unknown, where = ''): Difference | null {
  if (Object.is(expected, found)) return null;
  if (!isObject(expected) || !isObject(found) || Array.isArray(expected) !== Array.isArray(found)) {
    return { where, expected: shown(expected), found: shown(found) };
  }
  for (const name of Object.keys(expected)) {
    const inner = where === '' ? name : `${where}.${name}`;
    const one = difference(expected[name], found[name], inner);
    if (one) return one;
  }
  const extra = Object.keys(found).find((name) => !(name in expected));
  if (extra === undefined) return null;
  const inner = where === '' ? extra : `${where}.${extra}`;
  return { where: inner, expected: 'nothing', found: shown(found[extra]) };
}

const shown = (value: unknown) => (value === undefined ? 'nothing' : JSON.stringify(value));

/*
 * Event comparison. Members of vote events are compared by name, which is several times faster than
 * a generic comparison.
 */

export function isSameEvent(expected: Event, found: Event): boolean {
  if (expected.seq !== found.seq || expected.type !== found.type) return false;
  if (countOf(found) !== 3) return false;
  if (expected.type === 'block_validation') {
    return isSameVote(expected.data, found.data as EventData['block_validation']);
  }
  if (expected.type === 'reputation_update') {
    return isSameScore(expected.data, found.data as EventData['reputation_update']);
  }
  return isSame(expected.data, found.data);
}

function isSameVote(
  expected: EventData['block_validation'],
  found: EventData['block_validation'],
): boolean {
  return (
    expected.block_hash === found.block_hash &&
    expected.validator.id === found.validator.id &&
    expected.validator.personality === found.validator.personality &&
    expected.decision === found.decision &&
    expected.reason === found.reason &&
    expected.timestamp === found.timestamp &&
    isSame(expected.ballot, found.ballot) &&
    countOf(found) === (expected.ballot === undefined ? 5 : 6) &&
    countOf(found.validator) === 2
  );
}

function isSameScore(
  expected: EventData['reputation_update'],
  found: EventData['reputation_update'],
): boolean {
  return (
    expected.agent_id === found.agent_id &&
    expected.old_score === found.old_score &&
    expected.new_score === found.new_score &&
    expected.reason === found.reason &&
    expected.timestamp === found.timestamp &&
    countOf(found) === 5
  );
}

export function isSameVoteAnswer(expected: AnswerOf['vote'], found: AnswerOf['vote']): boolean {
  const { tally } = expected;
  return (
    expected.block_hash === found.block_hash &&
    expected.agent_id === found.agent_id &&
    expected.decision === found.decision &&
    expected.block_status === found.block_status &&
    tally.approve === found.tally.approve &&
    tally.reject === found.tally.reject &&
    tally.electorate === found.tally.electorate &&
    tally.needed === found.tally.needed &&
    expected.timestamp === found.timestamp &&
    countOf(found) === 6 &&
    countOf(found.tally) === 4
  );
}

/** Compares any two JSON values without allocations. */
export function isSame(expected: unknown, found: unknown): boolean {
  if (Object.is(expected, found)) return true;
  if (!isObject(expected) || !isObject(found)) return false;
  if (Array.isArray(expected) !== Array.isArray(found)) return false;
  let members = 0;
  for (const name in expected) {
    members += 1;
    const one = expected[name];
    const other = found[name];
    if (one !== other && !isSame(one, other)) return false;
  }
  return countOf(found) === members;
}

function countOf(value: object): number {
  let members = 0;
  for (const _ in value) members += 1;
  return members;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** Last formatted instant. A step repeatedly uses one instant. */
let latest = { at: Number.NaN, text: '' };
/** Second of the last instant, and its text. Nearby instants differ only in the milliseconds. */
let second = Number.NaN;
let prefix = '';

export function instantText(at: number): string {
  if (at !== latest.at) latest = { at, text: textOf(at) };
  return latest.text;
}

function textOf(at: number): string {
  const ms = at % 1_000;
  if (at - ms !== second) {
    second = at - ms;
    prefix = new Date(at).toISOString().slice(0, -4);
  }
  return `${prefix}${ms < 10 ? '00' : ms < 100 ? '0' : ''}${ms}Z`;
}
