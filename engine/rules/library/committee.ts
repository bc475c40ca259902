import { sha256Hex } from '#sha256';
import type { BallotCounter, Elector, PollBlock, Values, Verdict, VoteRule } from '../rule.js';

/**
 * A committee decides a block. The committee is drawn from the block's hash: each unit of an
 * elector's weight independently gets a seat with the same probability, so that `size` seats are
 * expected. The draw is public. A producer that tries many proposals can therefore choose among as
 * many committees.
 *
 * A block is finalized if more than `for_bps` of the seats approve, and rejected as soon as too few
 * seats remain for that. Both can happen before all electors have voted. With `of_drawn` 0 the
 * threshold is a share of the expected seats, as in Algorand, where no agent knows the seats drawn;
 * a smaller committee can then fail to decide. Votes of electors without a seat do not count.
 */
export const rule: VoteRule = {
  title: 'More than a set share of a committee approves; the block hash determines the committee',
  source:
    'Gilad, Hemo, Micali, Vlachos and Zeldovich 2017, Algorand: scaling Byzantine agreements for ' +
    'cryptocurrencies, SOSP 17',
  parameters: {
    size: { about: 'expected number of seats', default: 100, minimum: 1, maximum: 10_000 },
    for_bps: {
      about: 'share of seats that must be exceeded, in 1/10,000',
      default: 6_667,
      minimum: 0,
      maximum: 9_999,
    },
    of_drawn: {
      about: '1: share of the seats drawn; 0: share of the expected seats',
      default: 1,
      minimum: 0,
      maximum: 1,
    },
  },
  decidesEarly: true,
  tally({ block, electors, votes, over }, values) {
    const seats = recallCommittee(electors, values, block);
    const sums = { approve: 0, reject: 0 };
    for (const { elector, decision } of votes) sums[decision] += seats[elector]!;
    return decide(sums, { drawn: sumOf(seats), ...sizeOf(electors, values) }, values, over);
  },
  counter(electors, values, block): BallotCounter {
    const seats = drawCommittee(electors, values, block);
    const committee = { drawn: sumOf(seats), ...sizeOf(electors, values) };
    const sums = { approve: 0, reject: 0 };
    return {
      add({ elector, decision }) {
        sums[decision] += seats[elector]!;
      },
      verdict: (over) => decide(sums, committee, values, over),
    };
  },
};

const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0);

/** Returns the total weight, and the expected number of seats: at most the total weight. */
function sizeOf(electors: readonly Elector[], { size }: Values) {
  const total = sumOf(electors.map(({ weight }) => weight));
  return { total, expected: Math.min(size!, total) };
}

function decide(
  { approve, reject }: Readonly<Record<'approve' | 'reject', number>>,
  { drawn, expected }: { drawn: number; expected: number },
  { for_bps, of_drawn }: Values,
  over: boolean,
): Verdict {
  const standings = { approve, reject, seats: drawn };
  const needed = for_bps! * (of_drawn === 1 ? drawn : expected);
  if (approve * 10_000 > needed) return { status: 'finalized', standings };
  if (reject > 0 && (drawn - reject) * 10_000 <= needed) return { status: 'rejected', standings };
  return { status: over ? 'expired' : null, standings };
}

/** Last draw by electorate. Cached, because an auditor tallies after each vote. */
const draws = new WeakMap<
  readonly Elector[],
  { hash: string; values: Values; seats: readonly number[] }
>();

function recallCommittee(
  electors: readonly Elector[],
  values: Values,
  block: PollBlock,
): readonly number[] {
  const last = draws.get(electors);
  if (last?.hash === block.hash && last.values === values) return last.seats;
  const seats = drawCommittee(electors, values, block);
  draws.set(electors, { hash: block.hash, values, seats });
  return seats;
}

/** Returns the number of seats of each elector. */
function drawCommittee(
  electors: readonly Elector[],
  values: Values,
  { hash }: PollBlock,
): number[] {
  const { total, expected } = sizeOf(electors, values);
  // Inversion needs a chance of at most one half. Beyond that, the rule draws the units that get
  // no seat.
  const isLarge = 2 * expected > total;
  const lot = new Lot(isLarge ? total - expected : expected, total);
  return electors.map(({ agent, weight }) => {
    const drawn = lot.draw(`${hash} ${agent}`, weight);
    return isLarge ? weight - drawn : drawn;
  });
}

/** Bits of a fixed-point number. */
const BITS = 256n;
const ONE = 1n << BITS;

/**
 * Draws numbers from binomial distributions with the chance `part / total`, at most one half. A
 * number is the inverse of a SHA-256 in the cumulative distribution, in 256-bit fixed point. For
 * large weights it is a sum over chunks of units with few expected seats each, so the probability
 * of 0 stays above 2^-17, and the error of every probability below 2^-200.
 */
class Lot {
  readonly #part: bigint;
  readonly #rest: bigint;
  readonly #total: bigint;
  /** Units in a chunk. */
  readonly #chunk: number;
  readonly #none = new Map<number, bigint>();

  constructor(part: number, total: number) {
    this.#part = BigInt(part);
    this.#total = BigInt(total);
    this.#rest = this.#total - this.#part;
    this.#chunk = part === 0 ? total : Math.floor((8 * total) / part);
  }

  /** Returns the number of units that are drawn. */
  draw(seed: string, units: number): number {
    let drawn = 0;
    if (this.#part === 0n) return drawn;
    for (let chunk = 0, left = units; left > 0; chunk += 1) {
      const size = Math.min(left, this.#chunk);
      drawn += this.#invert(BigInt(`0x${sha256Hex(`${seed} ${chunk}`)}`), size);
      left -= size;
    }
    return drawn;
  }

  /** Returns the smallest number whose cumulative probability exceeds `uniform`. */
  #invert(uniform: bigint, units: number): number {
    let probability = this.#noneOf(units);
    let sum = probability;
    let drawn = 0;
    while (uniform >= sum && drawn < units) {
      const factor = BigInt(units - drawn) * this.#part;
      drawn += 1;
      probability = (probability * factor) / (BigInt(drawn) * this.#rest);
      sum += probability;
    }
    return drawn;
  }

  /** Returns the probability that none of the units is drawn: (rest / total) ^ units. */
  #noneOf(units: number): bigint {
    const known = this.#none.get(units);
    if (known !== undefined) return known;
    let [power, base] = [ONE, (this.#rest << BITS) / this.#total];
    for (let bits = units; bits > 0; bits = Math.floor(bits / 2)) {
      if (bits % 2 === 1) power = (power * base) >> BITS;
      base = (base * base) >> BITS;
    }
    this.#none.set(units, power);
    return power;
  }
}
