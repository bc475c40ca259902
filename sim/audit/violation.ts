/** One mismatch between what a network did and what its rules say, readable by itself. */
import type { CommandKind } from '../../engine/internal.js';
import { instantText } from './instant.js';
import { isObject } from './same.js';

/** A rule of the network that was broken, with the step in which. */
export interface Violation {
  /** Engine time of the step. */
  at: number;
  /** Which rule was broken: a safety rule's name, or `outcome`, `answer`, `event`, `read`. */
  rule: string;
  /** The agent, block or alliance that it concerns. */
  actor: string;
  expected: string;
  found: string;
  /** What happened: a command, a look ahead at one, the passing of time, or the end. */
  during: CommandKind | `precheck of ${CommandKind}` | 'time' | 'end';
  /** The block that it concerns; '' where it concerns none. */
  block: string;
}

/** What a check finds; where it happened is added by who called it. */
export type BrokenRule = Pick<Violation, 'rule' | 'actor' | 'expected' | 'found'> & {
  block?: string;
};

/** In one line, for people. */
export function violationText(violation: Violation): string {
  const { at, rule, actor, expected, found, during, block } = violation;
  const on = block !== '' && block !== actor ? ` on block ${brief(block)}` : '';
  const when = `during ${during}${on}, at ${instantText(at)}`;
  return `rule ${rule}: ${named(actor)}: ${found}; expected ${expected} (${when})`;
}

/** Ids by their first characters: enough to find them by. */
export function brief(id: string): string {
  const long = /^([a-z]+_)?([0-9a-f]{8})[0-9a-f]{8,}$/.exec(id);
  return long ? `${long[1] ?? ''}${long[2]}..` : id;
}

const named = (actor: string) => (/^[0-9a-f]{64}$/.test(actor) ? `block ${brief(actor)}` : actor);

export interface Difference {
  /** Which member, as `tally.approve`; '' for the whole. */
  where: string;
  expected: string;
  found: string;
}

/** The first member in which two JSON values differ, or null. */
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

export const shown = (value: unknown) => (value === undefined ? 'nothing' : JSON.stringify(value));
