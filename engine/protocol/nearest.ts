/** The closest known name to one that is not known, for hints such as "did you mean". */
import { lowerAscii } from './unicode/unicode.js';

/** A longer name is not compared: the work grows with the square of it. */
const LONGEST = 64;

/**
 * The known name with the fewest edits (an insertion, a deletion, a substitution or a swap of two
 * neighbours each count one; the case of ASCII letters does not), the first of equals; null where
 * even that takes more than one edit in three characters.
 */
export function nearest(name: string, known: Iterable<string>): string | null {
  if (name.length === 0 || name.length > LONGEST) return null;
  const wanted = lowerAscii(name);
  let best: string | null = null;
  let fewest = Number.POSITIVE_INFINITY;
  for (const one of known) {
    if (one.length > LONGEST) continue;
    const count = edits(wanted, lowerAscii(one));
    if (count >= fewest || count > Math.max(name.length, one.length) / 3) continue;
    fewest = count;
    best = one;
  }
  return best;
}

/** The optimal string alignment distance, row by row. */
function edits(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const here = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      const swapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      here[column] = Math.min(
        above[column]! + 1,
        here[column - 1]! + 1,
        above[column - 1]! + (same ? 0 : 1),
        row > 1 && column > 1 && swapped ? before[column - 2]! + 1 : Number.POSITIVE_INFINITY,
      );
    }
    [before, above] = [above, here];
  }
  return above[b.length]!;
}
