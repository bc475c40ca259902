/**
 * Character classes and lower case by a fixed Unicode version. A platform's tables change with its
 * version, which would change the replay of a log, so the engine must not use platform tables.
 */
import { lowerRuns, tagBorders } from './unicode-tables.js';

export const UNICODE_VERSION = '16.0';

/** Pattern for use in the documents. Validation uses `isTag`. */
export const TAG_PATTERN = '^[\\p{L}\\p{M}\\p{N}_-]{1,32}$';

const LONGEST_TAG = 32;
const plainTag = /^[A-Za-z0-9_-]{1,32}$/;
const capitals = /[A-Z]+/g;
const capital = /[A-Z]/;

const numbersIn = (text: string): number[] =>
  text.split(' ').map((number) => Number.parseInt(number, 36));

/** Decoded on first use, because most texts are ASCII. */
let borders: number[] | undefined;
let lower: Map<number, number> | undefined;

/** Returns true for 1 to 32 letters, marks, numbers (General_Category L, M, N), `_` or `-`. */
export function isTag(text: string): boolean {
  if (plainTag.test(text)) return true;
  const characters = [...text];
  return (
    characters.length >= 1 &&
    characters.length <= LONGEST_TAG &&
    characters.every((character) => isInTag(character.codePointAt(0)!))
  );
}

/** Maps each code point by its Simple_Lowercase_Mapping, without context or language. */
export function lowerCase(text: string): string {
  if (plainTag.test(text)) return lowerAscii(text);
  lower ??= lowerMap();
  const points = [...text].map((character) => character.codePointAt(0)!);
  return String.fromCodePoint(...points.map((point) => lower!.get(point) ?? point));
}

/** Lower-cases ASCII letters only. */
export function lowerAscii(text: string): string {
  return !capital.test(text) ? text : text.replace(capitals, (found) => found.toLowerCase());
}

function isInTag(point: number): boolean {
  if (point === 0x2d || point === 0x5f) return true;
  borders ??= sums(numbersIn(tagBorders));
  let low = 0;
  let high = borders.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (borders[middle]! <= point) low = middle + 1;
    else high = middle;
  }
  // If the number of borders at or below the point is odd, the last border begins a range.
  return low % 2 === 1;
}

function sums(steps: readonly number[]): number[] {
  let sum = 0;
  return steps.map((step) => {
    sum += step;
    return sum;
  });
}

function lowerMap(): Map<number, number> {
  const map = new Map<number, number>();
  const runs = numbersIn(lowerRuns);
  for (let index = 0; index < runs.length; index += 4) {
    const [from, count, step, by] = runs.slice(index, index + 4) as [
      number,
      number,
      number,
      number,
    ];
    for (let one = 0; one < count; one += 1) map.set(from + one * step, from + one * step + by);
  }
  return map;
}
