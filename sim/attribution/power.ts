/**
 * Power of electors: exact Banzhaf and Shapley-Shubik indices for a voting game, computed from its
 * generating function (Brams and Affuso 1976; Bilbao and others 2000). A game that would take too
 * long is refused. Results are never approximated.
 */
import { type RuleGenesis, ruleOf } from '../../engine/rules/network-rule.js';
import { SMALLEST_GROUP } from '../../engine/rules/poll-counter.js';

/** Limits per index: additions (about ten seconds on one core) and numbers in memory. */
const powerLimits = { steps: 4_000_000_000, cells: 33_554_432 } as const;

interface Power {
  /** Number of coalitions of the other voters in which the voter is critical. */
  swings: readonly bigint[] | null;
  /**
   * Swings as a share of all coalitions of the other voters: the probability of being critical if
   * every vote is a fair coin flip.
   */
  decisive: readonly number[] | null;
  /** Share of all swings: the normalized Banzhaf index. */
  banzhaf: readonly number[] | null;
  /** Share of all orders in which the voter is pivotal: the Shapley-Shubik index. */
  shapley_shubik: readonly number[] | null;
  /** Reasons for missing indices; empty if both indices were computed. */
  refused: string[];
}

/** Computes results by position. Voters with equal weight and veto group have equal power. */
export function computePower(given: Game): Power {
  const game = reduced(given);
  const refused: string[] = [];
  const swings = swingsBySize(game, false, 'banzhaf', refused);
  const bySize = evenShares(game) ?? swingsBySize(game, true, 'shapley_shubik', refused);
  const counts = swings?.map(([all]) => all!) ?? null;
  const shapley = Array.isArray(bySize) ? shapleyOf(bySize) : (bySize?.shares ?? null);
  return powerOf(counts, game.weights.length, shapley, refused);
}

/** Largest electorate whose coalitions are tried one by one. */
const TRIED_ELECTORS = 16;

/**
 * Computes the power in a game that weights alone do not describe, by trying all coalitions.
 *
 * @param wins returns true if the block is finalized when these voters approve and all others
 *   reject. Bit `n` of the argument stands for the voter at position `n`.
 */
export function tryCoalitions(voters: number, wins: (coalition: number) => boolean): Power {
  if (voters > TRIED_ELECTORS) {
    const reason = `${voters} electors; the rule does not decide by weight alone, and coalitions`;
    const refused = [
      `banzhaf, shapley_shubik: ${reason} are tried for at most ${TRIED_ELECTORS} electors`,
    ];
    return { swings: null, decisive: null, banzhaf: null, shapley_shubik: null, refused };
  }
  const won = Array.from({ length: 1 << voters }, (_, coalition) => wins(coalition));
  const bySize = Array.from({ length: voters }, () => new Array<bigint>(voters).fill(0n));
  for (const [coalition, without] of won.entries()) {
    const size = [...coalition.toString(2)].filter((bit) => bit === '1').length;
    for (let voter = 0; voter < voters; voter += 1) {
      const isMember = (coalition >> voter) % 2 === 1;
      if (!isMember && !without && won[coalition + (1 << voter)]) bySize[voter]![size]! += 1n;
    }
  }
  const counts = bySize.map((sizes) => sizes.reduce((all, one) => all + one, 0n));
  return powerOf(counts, voters, shapleyOf(bySize), []);
}

/** @param counts swings by voter */
function powerOf(
  counts: readonly bigint[] | null,
  voters: number,
  shapley_shubik: readonly number[] | null,
  refused: string[],
): Power {
  const sum = counts?.reduce((all, one) => all + one, 0n) ?? 0n;
  const coalitions = 1n << BigInt(Math.max(0, voters - 1));
  return {
    swings: counts,
    decisive: counts?.map((one) => ratio(one, coalitions)) ?? null,
    banzhaf: counts?.map((one) => (sum === 0n ? 0 : ratio(one, sum))) ?? null,
    shapley_shubik,
    refused,
  };
}

/** Returns equal shares if all weights are equal, without counting coalitions. */
function evenShares({ weights, quota, veto }: Game): { shares: number[] } | null {
  const alike = weights.every((weight) => weight === weights[0]);
  if (!alike || veto.length > 0) return null;
  const decides = quota >= 1 && quota <= sumOf(weights);
  return { shares: weights.map(() => (decides ? 1 / weights.length : 0)) };
}

/** Class of interchangeable voters. */
interface Class {
  weight: number;
  /** Index of the veto group, or -1. */
  group: number;
}

/** Counts each voter's swings, by coalition size or in total. */
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
  // Recursive halving processes every group once per level.
  const rounds = 1 + veto.length.toString(2).length;
  const passes = weights.length * rounds + classes.size;
  // Large coalitions are few, so half the rows are empty on average.
  const steps = Math.ceil((sizes * width * passes * moduli.length) / (sized ? 2 : 1));
  if (sizes * width > powerLimits.cells || steps > powerLimits.steps) {
    refused.push(
      `${index}: too expensive: ${weights.length} electors of total weight ${sumOf(weights)}, ` +
        `after division by the common divisor, need ${steps} additions and ` +
        `${sizes * width} numbers (limits ${powerLimits.steps} and ${powerLimits.cells})`,
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

/** Counts swings modulo a number, by class and size. */
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
    // A voter that joins as the first of its group lifts the veto on heavy enough coalitions.
    const heavy = heavyEnough(others, free.length, groups.toSpliced(group, 1), sizes, modulus);
    for (const weight of groups[group]!) others.join(weight);
    take(group, others, heavy);
  });
  return swings;
}

type Numbered = [group: number, weights: readonly number[]];

/**
 * Calls `call` for each group with the coalitions of all other groups, each of which contributes at
 * least one member.
 */
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

/** Counts coalitions that reach the quota, by size: all coalitions minus the lighter ones. */
function heavyEnough(
  counted: Coalitions,
  free: number,
  groups: readonly (readonly number[])[],
  sizes: number,
  modulus: number,
): number[] {
  // Count with all weights zero.
  const all = new Coalitions(sizes, 1, modulus);
  for (let one = 0; one < free; one += 1) all.join(0);
  for (const group of groups) all.joinSome(group.map(() => 0));
  const light = counted.between(0, Number.POSITIVE_INFINITY);
  return all.between(0, 1).map((sum, size) => (sum - light[size]! + modulus) % modulus);
}

/** Computes the index: a swing by k among n voters covers k! (n - 1 - k)! of the n! orders. */
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

/** Quotient with 18 decimals. */
const ratio = (part: bigint, whole: bigint): number => Number((part * DIGITS) / whole) / 1e18;

/*
 * Game for a quorum rule: the coalitions of approving electors that finalize a block against the
 * votes of all others. Its indices measure the power that the weights give, regardless of how
 * electors decide.
 */

/** Weights are integers whose sum is at most 2^53 - 1. */
export interface Game {
  weights: readonly number[];
  /** Weight of a winning coalition. */
  quota: number;
  /** Positions by group. A winning coalition needs a member from each of these groups. */
  veto: readonly (readonly number[])[];
}

const sumOf = (weights: readonly number[]): number =>
  weights.reduce((sum, weight) => sum + weight, 0);

/** Returns the decision's game, with full turnout; null if weights alone do not decide. */
export function decisionGame(
  genesis: RuleGenesis,
  weights: readonly number[],
  personalities: readonly string[],
): Game | null {
  const rule = ruleOf(genesis);
  const quota = rule.quota(sumOf(weights), weights.length);
  if (quota === null) return null;
  return { weights, quota, veto: rule.usesVetoes ? vetoGroups(personalities) : [] };
}

/** Parameters of rules that require a turnout, in 1/10,000 of all weight. */
const TURNOUTS = ['participation_bps', 'turnout_bps'];

/** Returns the game for the turnout that the rule requires; null if it requires none. */
export function turnoutGame(genesis: RuleGenesis, weights: readonly number[]): Game | null {
  const { values } = ruleOf(genesis);
  const turnout = TURNOUTS.map((name) => values[name]).find((value) => value !== undefined) ?? 0;
  if (turnout === 0) return null;
  const quota = Math.ceil((turnout * sumOf(weights)) / 10_000);
  return { weights, quota, veto: [] };
}

function vetoGroups(personalities: readonly string[]): number[][] {
  const groups = new Map<string, number[]>();
  for (const [position, personality] of personalities.entries()) {
    const group = groups.get(personality);
    if (group) group.push(position);
    else groups.set(personality, [position]);
  }
  return [...groups.values()].filter(({ length }) => length >= SMALLEST_GROUP);
}

/**
 * Returns an equivalent game with smaller numbers: weights divided by their common divisor, and the
 * dual game if its quota is smaller. Each voter has the same number of swings in both games.
 */
function reduced({ weights, quota, veto }: Game): Game {
  const common = weights.reduce(divisor, 0) || 1;
  const small = weights.map((weight) => weight / common);
  const needed = Math.ceil(quota / common);
  const blocking = sumOf(small) - needed + 1;
  const dual = veto.length === 0 && blocking > 0 && blocking < needed;
  return { weights: small, quota: dual ? blocking : needed, veto };
}

const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));

/**
 * Counts coalitions by weight and size: the coefficients of a generating function. The counts
 * exceed 2^53, so each instance counts modulo a number below 2^52, exactly in doubles.
 * `remainderReader` combines several instances.
 */
class Coalitions {
  /** `rows[size][weight]`; one row if sizes are not distinguished. */
  readonly #rows: Float64Array[];
  readonly #modulus: number;
  /** Size of the largest coalition. */
  #largest = 0;

  /** Starts with the empty coalition. Coalitions with weight `width` or more are not counted. */
  constructor(sizes: number, width: number, modulus: number) {
    this.#rows = Array.from({ length: sizes }, () => new Float64Array(width));
    this.#rows[0]![0] = 1;
    this.#modulus = modulus;
  }

  copy(): Coalitions {
    const copy = new Coalitions(this.#rows.length, this.#rows[0]!.length, this.#modulus);
    for (const [size, row] of this.#rows.entries()) copy.#rows[size]!.set(row);
    copy.#largest = this.#largest;
    return copy;
  }

  /** Multiplies by 1 + x^weight: adds a voter who may be a member. */
  join(weight: number): void {
    const rows = this.#rows;
    this.#largest = Math.min(rows.length - 1, this.#largest + 1);
    if (rows.length === 1) return this.#add(rows[0]!, rows[0]!, weight);
    for (let size = this.#largest; size >= 1; size -= 1) {
      this.#add(rows[size]!, rows[size - 1]!, weight);
    }
  }

  /** Multiplies by a group's coalitions with at least one member. */
  joinSome(weights: readonly number[]): void {
    const none = this.copy();
    for (const weight of weights) this.join(weight);
    for (const [size, row] of this.#rows.entries()) this.#subtract(row, none.#rows[size]!, 0);
  }

  /** Divides by 1 + x^weight: removes a voter. The division is exact. */
  without(weight: number): Coalitions {
    const left = this.copy();
    const rows = left.#rows;
    if (rows.length === 1) left.#subtract(rows[0]!, rows[0]!, weight);
    for (let size = 1; size <= left.#largest; size += 1) {
      left.#subtract(rows[size]!, rows[size - 1]!, weight);
    }
    return left;
  }

  /** Counts coalitions by size whose weight is at least `from` and less than `to`. */
  between(from: number, to: number): number[] {
    return this.#rows.map((row) => {
      let sum = 0;
      for (let at = Math.max(0, from); at < Math.min(to, row.length); at += 1) {
        sum += row[at]!;
        if (sum >= this.#modulus) sum -= this.#modulus;
      }
      return sum;
    });
  }

  /** Iterates downwards, so that a single row adds the old values. */
  #add(to: Float64Array, from: Float64Array, by: number): void {
    const modulus = this.#modulus;
    for (let at = to.length - 1; at >= by; at -= 1) {
      const sum = to[at]! + from[at - by]!;
      to[at] = sum >= modulus ? sum - modulus : sum;
    }
  }

  /** Iterates upwards, so that a single row subtracts the new values. */
  #subtract(to: Float64Array, from: Float64Array, by: number): void {
    const modulus = this.#modulus;
    for (let at = by; at < to.length; at += 1) {
      const rest = to[at]! - from[at - by]!;
      to[at] = rest < 0 ? rest + modulus : rest;
    }
  }
}

const BITS = 52;

/** Returns pairwise coprime numbers below 2^52 whose product is above 2^`bits`. */
function moduliFor(bits: number): number[] {
  const found: number[] = [];
  // Each modulus is above 2^51.
  const count = Math.ceil(bits / (BITS - 1));
  for (let next = 2 ** 52 - 1; found.length < count; next -= 2) {
    if (found.every((one) => bigDivisor(BigInt(one), BigInt(next)) === 1n)) found.push(next);
  }
  return found;
}

const bigDivisor = (a: bigint, b: bigint): bigint => (b === 0n ? a : bigDivisor(b, a % b));

/** Chinese remainder theorem: finds the number below the moduli's product with these remainders. */
function remainderReader(moduli: readonly number[]): (of: readonly number[]) => bigint {
  const product = moduli.reduce((all, modulus) => all * BigInt(modulus), 1n);
  const parts = moduli.map((modulus) => {
    const others = product / BigInt(modulus);
    return others * inverse(others % BigInt(modulus), BigInt(modulus));
  });
  return (of) => parts.reduce((sum, part, at) => sum + part * BigInt(of[at]!), 0n) % product;
}

function inverse(value: bigint, modulus: bigint): bigint {
  let [a, b, x, y] = [value, modulus, 1n, 0n];
  while (b !== 0n) [a, b, x, y] = [b, a % b, y, x - (a / b) * y];
  return ((x % modulus) + modulus) % modulus;
}
