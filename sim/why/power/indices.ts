/**
 * The Banzhaf and Shapley-Shubik indices of a game, exactly, by its generating function (Brams and
 * Affuso 1976; Bilbao and others 2000). What would take too long is refused, never rounded.
 */
import { Coalitions } from './coalitions.js';
import { type Game, reduced, sumOf } from './game.js';
import { moduliFor, remainderReader } from './remainders.js';

/** Additions that one index may take: some ten seconds of one core; and numbers it may hold. */
export const powerLimits = { steps: 4_000_000_000, cells: 33_554_432 } as const;

export interface Power {
  /** Coalitions of the others that this voter turns from losing to winning. */
  swings: readonly bigint[] | null;
  /** Of all coalitions of the others: the chance to be decisive when all votes are even chances. */
  decisive: readonly number[] | null;
  /** Share of all swings: the normalized Banzhaf index. */
  banzhaf: readonly number[] | null;
  /** Share of all orders in which this voter is the one that makes it win. */
  shapley_shubik: readonly number[] | null;
  /** Why an index is not there; empty where both are. */
  refused: string[];
}

/** By position. Voters of one weight, with the same standing in vetoes, have the same power. */
export function powerOf(given: Game): Power {
  const game = reduced(given);
  const refused: string[] = [];
  const swings = swingsBySize(game, false, 'banzhaf', refused);
  const bySize = evenShares(game) ?? swingsBySize(game, true, 'shapley_shubik', refused);
  const counts = swings?.map(([all]) => all!) ?? null;
  const voters = game.weights.length;
  const sum = counts?.reduce((all, one) => all + one, 0n) ?? 0n;
  const coalitions = 1n << BigInt(Math.max(0, voters - 1));
  return {
    swings: counts,
    decisive: counts?.map((one) => ratio(one, coalitions)) ?? null,
    banzhaf: counts?.map((one) => (sum === 0n ? 0 : ratio(one, sum))) ?? null,
    shapley_shubik: Array.isArray(bySize) ? shapleyOf(bySize) : (bySize?.shares ?? null),
    refused,
  };
}

/** Where all are alike, each has the same share: no counting is needed. */
function evenShares({ weights, quota, veto }: Game): { shares: number[] } | null {
  const alike = weights.every((weight) => weight === weights[0]);
  if (!alike || veto.length > 0) return null;
  const decides = quota >= 1 && quota <= sumOf(weights);
  return { shares: weights.map(() => (decides ? 1 / weights.length : 0)) };
}

/** Voters that are alike. */
interface Class {
  weight: number;
  /** Which veto group, or -1. */
  group: number;
}

/** Of each voter: swings of coalitions of each size, or of all sizes together. */
function swingsBySize(game: Game, sized: boolean, index: string, refused: string[]) {
  const { weights, quota, veto } = game;
  const groupOf = new Map(veto.flatMap((group, at) => group.map((voter) => [voter, at] as const)));
  const classes = new Map<string, Class>();
  const names = weights.map((weight, voter) => {
    const group = groupOf.get(voter) ?? -1;
    const name = `${weight} ${group}`;
    if (!classes.has(name)) classes.set(name, { weight, group });
    return name;
  });
  const width = Math.max(1, quota);
  const sizes = sized ? weights.length : 1;
  const moduli = moduliFor(weights.length + 1);
  // Halving the groups takes all of them in once for each time that they can be halved.
  const rounds = 1 + veto.length.toString(2).length;
  const passes = weights.length * rounds + classes.size;
  // Of coalitions as large as all voters there are few: half of the rows are empty meanwhile.
  const steps = Math.ceil((sizes * width * passes * moduli.length) / (sized ? 2 : 1));
  if (sizes * width > powerLimits.cells || steps > powerLimits.steps) {
    refused.push(
      `${index}: ${weights.length} electors with a weight of ${sumOf(weights)} in all, after ` +
        `division by what their weights have in common, would take ${steps} additions and ` +
        `${sizes * width} numbers; at most ${powerLimits.steps} and ${powerLimits.cells}`,
    );
    return null;
  }
  const found = [...classes.values()];
  const remainders = moduli.map((modulus) => classSwings(game, found, sizes, width, modulus));
  const read = remainderReader(moduli);
  const swings = new Map(
    [...classes.keys()].map((name, at) => [
      name,
      Array.from({ length: sizes }, (_, size) => read(remainders.map((one) => one[at]![size]!))),
    ]),
  );
  return names.map((name) => swings.get(name)!);
}

/** Modulo one number: by class, then by size. */
function classSwings(
  { weights, quota, veto }: Game,
  classes: readonly Class[],
  sizes: number,
  width: number,
  modulus: number,
): number[][] {
  const vetoing = new Set(veto.flat());
  const free = weights.filter((_, voter) => !vetoing.has(voter));
  const groups = veto.map((members) => members.map((voter) => weights[voter]!));
  const swings = classes.map(() => [] as number[]);
  const take = (group: number, all: Coalitions, lifted: readonly number[] | null) => {
    for (const [at, one] of classes.entries()) {
      if (one.group !== group) continue;
      const found = all.without(one.weight).between(quota - one.weight, quota);
      swings[at] = lifted ? found.map((sum, size) => (sum + lifted[size]!) % modulus) : found;
    }
  };
  const start = new Coalitions(sizes, width, modulus);
  for (const weight of free) start.join(weight);
  const every = start.copy();
  for (const group of groups) every.joinSome(group);
  take(-1, every, null);
  eachWithout(start, [...groups.entries()], (group, others) => {
    // Alone of its group, a member lifts the veto of coalitions that are heavy enough already.
    const heavy = heavyEnough(others, free.length, groups.toSpliced(group, 1), sizes, modulus);
    for (const weight of groups[group]!) others.join(weight);
    take(group, others, heavy);
  });
  return swings;
}

type Numbered = [group: number, weights: readonly number[]];

/** Calls for each group with the coalitions of all others, each of these with a member in it. */
function eachWithout(
  before: Coalitions,
  groups: readonly Numbered[],
  call: (group: number, others: Coalitions) => void,
): void {
  if (groups.length === 0) return;
  if (groups.length === 1) return call(groups[0]![0], before);
  const half = groups.length >> 1;
  const parts = [groups.slice(0, half), groups.slice(half)] as const;
  for (const [inside, outside] of [parts, parts.toReversed()] as const) {
    const others = before.copy();
    for (const [, weights] of outside!) others.joinSome(weights);
    eachWithout(others, inside!, call);
  }
}

/** Of each size: all coalitions less those that are counted, which weigh less than the quota. */
function heavyEnough(
  counted: Coalitions,
  free: number,
  groups: readonly (readonly number[])[],
  sizes: number,
  modulus: number,
): number[] {
  // As if nobody weighed anything.
  const all = new Coalitions(sizes, 1, modulus);
  for (let one = 0; one < free; one += 1) all.join(0);
  for (const group of groups) all.joinSome(group.map(() => 0));
  const light = counted.between(0, Number.POSITIVE_INFINITY);
  return all.between(0, 1).map((sum, size) => (sum - light[size]! + modulus) % modulus);
}

/** A swing of a coalition of k of n voters stands for k! (n - 1 - k)! of the n! orders. */
function shapleyOf(swings: readonly (readonly bigint[])[]): number[] {
  const voters = swings.length;
  const factorials = [1n];
  for (let one = 1; one <= voters; one += 1) factorials.push(factorials.at(-1)! * BigInt(one));
  const orders = factorials[voters]!;
  const known = new Map<readonly bigint[], number>();
  return swings.map((bySize) => {
    const before = known.get(bySize);
    if (before !== undefined) return before;
    const sum = bySize.reduce(
      (all, count, size) => all + count * factorials[size]! * factorials[voters - 1 - size]!,
      0n,
    );
    known.set(bySize, ratio(sum, orders));
    return ratio(sum, orders);
  });
}

const DIGITS = 1_000_000_000_000_000_000n;

/** A fraction of one, to 18 digits after the point. */
const ratio = (part: bigint, whole: bigint): number => Number((part * DIGITS) / whole) / 1e18;
