/**
 * A second implementation of the rules that choose among options, written from the definitions in
 * docs/rules.md. It shares no code with the rules, and takes the slowest way that is obviously
 * right: all paths, all pairs, exact fractions.
 */
import type { RankingItems } from '../rankings.js';
import type { TestPoll, TestVote } from './polls.js';

/** A ballot that counts, with its weight. */
interface Counted {
  weight: bigint;
  ballot: Record<string, unknown>;
}

interface Outcome {
  chosen: string;
  standings: Record<string, number>;
}

type Parameters = Readonly<Record<string, number>>;
type Method = (
  options: readonly string[],
  ballots: readonly Counted[],
  values: Parameters,
) => Outcome;

const weightOf = ({ weight = 1 }: TestVote) => BigInt(weight);
const sumOf = (numbers: readonly bigint[]) => numbers.reduce((sum, one) => sum + one, 0n);

/** Returns the verdict at the end of voting. All parameters must be given. */
export function decideByDefinition(policy: string, poll: TestPoll, values: Parameters) {
  const { options, votes, absent = [] } = poll;
  const cast = sumOf(votes.map(weightOf));
  const total = cast + sumOf(absent.map(BigInt));
  const approvals = votes.filter(({ decision = 'approve' }) => decision === 'approve');
  const approve = sumOf(approvals.map(weightOf));
  const isLow = cast * 10_000n < BigInt(values.turnout_bps!) * total;
  const decided = approve > cast - approve ? 'finalized' : 'rejected';
  const status = isLow ? 'expired' : decided;
  if (options.length === 0) return { status };
  const ballots = approvals
    .filter(({ ballot }) => ballot !== undefined)
    .map((vote) => ({ weight: weightOf(vote), ballot: vote.ballot as Counted['ballot'] }));
  const { chosen, standings } = methods[policy]!(options, ballots, values);
  return status === 'finalized' ? { status, choice: chosen, standings } : { status, standings };
}

type Points = (option: string, options: readonly string[]) => number;

/** Sums up the points that each ballot gives to each option. */
function bySums(pointsOf: (ballot: Counted['ballot']) => Points): Method {
  return (options, ballots) => {
    const counted = ballots.map(({ weight, ballot }) => ({ weight, points: pointsOf(ballot) }));
    const sums = options.map((option) =>
      sumOf(counted.map(({ weight, points }) => weight * BigInt(points(option, options)))),
    );
    const winner = firstOf(options, (at) => sums.every((sum) => sum <= sums[at]!));
    return outcome(options, sums, winner);
  };
}

const outcome = (
  options: readonly string[],
  numbers: readonly (bigint | number)[],
  chosen: string,
) => ({ chosen, standings: Object.fromEntries(options.map((o, at) => [o, Number(numbers[at])])) });

/** Returns the first option whose position has the property. */
const firstOf = (options: readonly string[], isWinner: (at: number) => boolean) =>
  options.find((_, at) => isWinner(at))!;

/** Returns the number of the tier of each option that a ranking names. */
const tiersIn = ({ ranking }: Counted['ballot']): ReadonlyMap<string, number> =>
  new Map((ranking as RankingItems).flatMap((tier, at) => [tier].flat().map((name) => [name, at])));

/** Returns a function that tells if the ranking places a above b. */
function preference(ballot: Counted['ballot']): (a: string, b: string) => boolean {
  const tiers = tiersIn(ballot);
  const tierOf = (option: string) => tiers.get(option) ?? Number.POSITIVE_INFINITY;
  return (a, b) => tierOf(a) < tierOf(b);
}

/** A pair of options that more weight ranks in this order than in the other. */
interface Won {
  winner: string;
  loser: string;
  votes: bigint;
  against: bigint;
}

function findWonPairs(options: readonly string[], ballots: readonly Counted[]): Won[] {
  const voters = ballots.map(({ weight, ballot }) => ({ weight, prefers: preference(ballot) }));
  const weigh = (a: string, b: string) =>
    sumOf(voters.filter(({ prefers }) => prefers(a, b)).map(({ weight }) => weight));
  return options.flatMap((winner) =>
    options
      .map((loser) => ({
        ...{ winner, loser },
        ...{ votes: weigh(winner, loser), against: weigh(loser, winner) },
      }))
      .filter(({ votes, against }) => votes > against),
  );
}

/** Follows every path from an option that visits none twice. Returns the strongest by its end. */
function strongestFrom(start: string, won: readonly Won[], values: Parameters) {
  const strongest = new Map<string, bigint>();
  const follow = (from: string, visited: readonly string[], weakest: bigint | null): void => {
    for (const { winner, loser, votes, against } of won) {
      if (winner !== from || visited.includes(loser)) continue;
      const strength = values.margins === 1 ? votes - against : votes;
      const least = weakest !== null && weakest < strength ? weakest : strength;
      if (least > (strongest.get(loser) ?? 0n)) strongest.set(loser, least);
      follow(loser, [...visited, loser], least);
    }
  };
  follow(start, [start], null);
  return strongest;
}

const schulze: Method = (options, ballots, values) => {
  const won = findWonPairs(options, ballots);
  const paths = new Map(options.map((option) => [option, strongestFrom(option, won, values)]));
  const strength = (a: string, b: string) => paths.get(a)!.get(b) ?? 0n;
  const beaten = options.map((a) => options.filter((b) => strength(a, b) > strength(b, a)));
  const winner = options.find((option) => !beaten.some((list) => list.includes(option)))!;
  const numbers = beaten.map(({ length }) => length);
  return outcome(options, numbers, winner);
};

const rankedPairs: Method = (options, ballots, values) => {
  const place = (option: string) => BigInt(options.indexOf(option));
  const keysOf = ({ winner, loser, votes, against }: Won): bigint[] => {
    const strength = values.margins === 1 ? [against - votes] : [-votes, against];
    return [...strength, place(winner), place(loser)];
  };
  const isBefore = (one: readonly bigint[], other: readonly bigint[]) => {
    const at = one.findIndex((key, index) => key !== other[index]);
    return at >= 0 && one[at]! < other[at]!;
  };
  let left = findWonPairs(options, ballots).map((one) => ({ ...one, keys: keysOf(one) }));
  const locked: Won[] = [];
  const isAbove = (from: string, to: string): boolean =>
    locked.some(({ winner, loser }) => winner === from && (loser === to || isAbove(loser, to)));
  while (left.length > 0) {
    const next = left.find(({ keys }) => !left.some((other) => isBefore(other.keys, keys)))!;
    left = left.filter((one) => one !== next);
    if (!isAbove(next.loser, next.winner)) locked.push(next);
  }
  const below = options.map((a) => options.filter((b) => isAbove(a, b)).length);
  const winner = options.find((option) => !locked.some(({ loser }) => loser === option))!;
  return outcome(options, below, winner);
};

const instantRunoff: Method = (options, ballots) => {
  const last = new Map<string, bigint>();
  const elect = (remaining: readonly string[]): string => {
    const firstIn = ({ ranking }: Counted['ballot']) =>
      (ranking as string[]).find((name) => remaining.includes(name));
    const sums = remaining.map((option) =>
      sumOf(ballots.filter(({ ballot }) => firstIn(ballot) === option).map(({ weight }) => weight)),
    );
    for (const [at, option] of remaining.entries()) last.set(option, sums[at]!);
    const best = firstOf(remaining, (at) => sums.every((sum) => sum <= sums[at]!));
    if (remaining.length <= 2 || 2n * last.get(best)! > sumOf(sums)) return best;
    const worst = remaining.findLast((_, at) => sums.every((sum) => sum >= sums[at]!));
    return elect(remaining.filter((option) => option !== worst));
  };
  const winner = elect(options);
  return outcome(
    options,
    options.map((option) => last.get(option)!),
    winner,
  );
};

const proportional: Method = (options, ballots, { seats }) => {
  const approves = ({ ballot: { approved } }: Counted, option: string) =>
    (approved as string[]).includes(option);
  const elected: string[] = [];
  const size = Math.min(seats!, options.length);
  // Fractions with the denominator (seats + 1)! are exact.
  let whole = 1n;
  for (let factor = 2n; factor <= BigInt(size) + 1n; factor += 1n) whole *= factor;
  while (elected.length < size) {
    const free = options.filter((option) => !elected.includes(option));
    const sums = free.map((option) =>
      sumOf(
        ballots
          .filter((one) => approves(one, option))
          .map((one) => {
            const members = elected.filter((member) => approves(one, member)).length;
            return (one.weight * whole) / BigInt(members + 1);
          }),
      ),
    );
    elected.push(firstOf(free, (at) => sums.every((sum) => sum <= sums[at]!)));
  }
  const places = options.map((option) =>
    elected.includes(option) ? size - elected.indexOf(option) : 0,
  );
  return outcome(options, places, elected[0]!);
};

export const methods: Readonly<Record<string, Method>> = {
  plurality: bySums(
    ({ option: named }) =>
      (option) =>
        Number(named === option),
  ),
  approval: bySums(
    ({ approved }) =>
      (option) =>
        Number((approved as string[]).includes(option)),
  ),
  score: bySums(({ scores }) => {
    const given = new Map(Object.entries(scores as Record<string, number>));
    return (option) => given.get(option) ?? 0;
  }),
  borda: bySums((ballot) => {
    const prefers = preference(ballot);
    return (a, options) => options.filter((b) => prefers(a, b)).length;
  }),
  schulze,
  ranked_pairs: rankedPairs,
  instant_runoff: instantRunoff,
  proportional,
};
