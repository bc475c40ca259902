/** When an intervention acts, as it is said on the command line: `entry 500`, `90s`. */
import { conditionMeasures } from '../../scenario/schema/length.js';
import type { Raw } from './action.js';
import { Words } from './words.js';

const units: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

const MOMENT =
  'start, a time such as 90s, entry N, height N, or a condition such as closed >= 4 for 10s';

/** @throws {ScenarioError} naming the character, and what was expected there. */
export function momentOf(text: string, option = '--at'): Raw {
  const words = new Words(option, text);
  const moment = momentIn(words);
  words.end();
  return moment;
}

function momentIn(words: Words): Raw {
  if (words.taken('start')) return { at_ms: 0 };
  if (words.taken('entry')) return { at_entry: wholeOf(words, 'the number of an entry') };
  if (words.taken('height')) return { at_height: wholeOf(words, 'a height') };
  const measure = conditionMeasures.find((name) => name === words.peek);
  if (measure === undefined) return { at_ms: timeOf(words, MOMENT) };
  words.any(MOMENT);
  const of = words.taken('of') ? { group: words.any('the name of a group') } : {};
  const bound = words.one('>=', '<=') === '>=' ? 'at_least' : 'at_most';
  const value = numberOf(words, 'a number');
  const held = words.taken('for') ? { held_ms: timeOf(words, 'a time such as 10s') } : {};
  return { at_condition: { measure, ...of, [bound]: value, ...held } };
}

/** `90s`, `1500ms`, `2m`; milliseconds. */
function timeOf(words: Words, expected: string): number {
  const [, number, unit] = /^(\d{1,12}(?:\.\d{1,9})?)(ms|s|m|h)$/.exec(words.peek ?? '') ?? [];
  if (number === undefined) throw words.wrong(expected);
  words.any(expected);
  return Math.round(Number(number) * units[unit!]!);
}

function wholeOf(words: Words, expected: string): number {
  if (!/^\d{1,12}$/.test(words.peek ?? '')) throw words.wrong(expected);
  return Number(words.any(expected));
}

function numberOf(words: Words, expected: string): number {
  if (!/^\d{1,12}(?:\.\d{1,9})?$/.test(words.peek ?? '')) throw words.wrong(expected);
  return Number(words.any(expected));
}
