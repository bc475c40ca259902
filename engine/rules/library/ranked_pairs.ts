import {
  comparePairs,
  createRankedElection,
  createTie,
  electAt,
  marginsParameter,
  type Pairs,
} from '../election.js';
import type { Tie } from '../rule.js';

/**
 * Won pairs are locked from the strongest to the weakest, except those that contradict pairs locked
 * earlier. An option that is above all others, or below none, is chosen. `standings` are the
 * numbers of options below an option. A block is finalized if more weight approves than rejects.
 *
 * A pair is stronger if more weight prefers its winner, or, with equal weight, if less weight
 * prefers its loser (winning votes, the default). With `margins` 1 a pair is stronger if the first
 * weight has the larger lead over the second. Of pairs of equal strength, the one with the first
 * winner in order of options comes first, then the one with the first loser. Of several options
 * below none, the first wins.
 */
export const rule = createRankedElection({
  title: 'More weight approves than rejects; the option above all in locked pairs is chosen',
  source:
    'Tideman 1987, Independence of clones as a criterion for voting rules, ' +
    'Social Choice and Welfare 4(3)',
  parameters: marginsParameter,
  takesTies: true,
  elect(rankings, options, { margins }) {
    const pairs = comparePairs(rankings, options.length);
    const won = sortWonPairs(pairs, margins === 1);
    const above = lockPairs(pairs.length, won);
    const below = above.map((row) => row.filter(Boolean).length);
    return electAt(options, below, findTop(above)[0]!, () => findTie(won, options));
  },
});

/** Returns the options that no option is above. */
const findTop = (above: readonly (readonly boolean[])[]): number[] =>
  [...above.keys()].filter((option) => !above.some((row) => row[option]));

/** Returns the order that the locked pairs give: `above[a][b]` if option a is above option b. */
function lockPairs(count: number, won: readonly WonPair[]): boolean[][] {
  const above = Array.from({ length: count }, () => Array.from({ length: count }, () => false));
  for (const { winner, loser } of won) {
    if (above[loser]![winner]) continue;
    for (const [a, row] of above.entries()) {
      if (a !== winner && !row[winner]) continue;
      for (const b of row.keys()) if (b === loser || above[loser]![b]) row[b] = true;
    }
  }
  return above;
}

/** Returns the won pairs, strongest first. */
function sortWonPairs(pairs: Pairs, byMargin: boolean): WonPair[] {
  const won = pairs.flatMap((row, winner) =>
    row.flatMap((weight, loser) => {
      const against = pairs[loser]![winner]!;
      if (weight <= against) return [];
      const strength = byMargin ? weight - against : weight;
      return [{ winner, loser, strength, against: byMargin ? 0 : against }];
    }),
  );
  // The sort is stable, and `won` is in order of options.
  return won.sort(compareStrength);
}

interface WonPair {
  winner: number;
  loser: number;
  strength: number;
  /** Weight that prefers the loser, which decides between pairs of equal strength; 0 by margins. */
  against: number;
}

const compareStrength = (one: WonPair, other: WonPair): number =>
  other.strength - one.strength || one.against - other.against;

/** Largest number of options in pairs of equal strength, all of whose orders are tried: 5,040. */
const MOST_ORDERED = 7;

/**
 * Tries every order of the options in pairs of equal strength. An option that is in no such pair
 * may come anywhere in the order.
 */
function findTie(won: readonly WonPair[], options: readonly string[]): Tie | null {
  const count = options.length;
  const top = findTop(lockPairs(count, won));
  const equal = won.filter((pair) =>
    won.some((other) => other !== pair && compareStrength(pair, other) === 0),
  );
  const involved = [...new Set(equal.flatMap(({ winner, loser }) => [winner, loser]))];
  // Without a cycle, all pairs are locked in every order.
  if (!hasCycle(count, won)) return createTie(options, top, 'top');
  if (involved.length > MOST_ORDERED) {
    return createTie(options, findSmithSet(count, won), 'pairs', false);
  }
  const winners = new Set<number>();
  for (const order of permute(involved)) {
    const place = (option: number) => order.indexOf(option);
    const sorted = [...won].sort(
      (one, other) =>
        compareStrength(one, other) ||
        place(one.winner) - place(other.winner) ||
        place(one.loser) - place(other.loser),
    );
    const ends = findTop(lockPairs(count, sorted));
    const first = ends.filter((option) => place(option) >= 0).sort((a, b) => place(a) - place(b));
    for (const option of ends) {
      if (place(option) < 0 || option === first[0]) winners.add(option);
    }
  }
  return createTie(options, winners, top.length > 1 ? 'top' : 'pairs');
}

/** Returns true if the won pairs contain a cycle: then some option is above itself. */
function hasCycle(count: number, won: readonly WonPair[]): boolean {
  const left = new Set(Array.from({ length: count }, (_, option) => option));
  for (;;) {
    const top = [...left].filter(
      (option) => !won.some(({ winner, loser }) => loser === option && left.has(winner)),
    );
    if (top.length === 0) return left.size > 0;
    for (const option of top) left.delete(option);
  }
}

/**
 * Returns the smallest set whose options win against all others. Ranked pairs never choose an
 * option outside this set, in any order of equal pairs (Tideman 1987).
 */
function findSmithSet(count: number, won: readonly WonPair[]): number[] {
  const wins = (a: number, b: number) => won.some((one) => one.winner === a && one.loser === b);
  const all = Array.from({ length: count }, (_, option) => option);
  const sets = all.map((start) => {
    const set = new Set([start]);
    // An option joins if a member does not win against it.
    for (const member of set) for (const one of all) if (!wins(member, one)) set.add(one);
    return [...set];
  });
  return sets.sort((one, other) => one.length - other.length)[0]!;
}

function* permute(list: readonly number[]): Generator<readonly number[]> {
  if (list.length === 0) yield [];
  for (const one of list) {
    for (const rest of permute(list.filter((other) => other !== one))) yield [one, ...rest];
  }
}
