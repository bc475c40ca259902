import {
  type Approvals,
  approvals,
  createElection,
  createTie,
  electAt,
  findHighest,
  OPTIONS,
  TieSearch,
} from '../election.js';
import type { Tie } from '../rule.js';

/** Least common multiple of 1 to 16, so that the share of a ballot is always an integer. */
const WHOLE = 720_720;

/**
 * Elects a committee of options, seat by seat: a ballot that approves k members counts for a
 * further option with 1 / (k + 1) of its weight. `choice` is the first member. `standings` show the
 * committee: with s seats the first member has s, the last 1, and all other options 0. A block is
 * finalized if more weight approves than rejects. Of options with equal weight, the first wins.
 */
export const rule = createElection<Approvals, readonly number[]>({
  title: 'More weight approves than rejects; a proportional committee of options is elected',
  source:
    'Thiele 1895, Om flerfoldsvalg; Lackner and Skowron 2023, Multi-Winner Voting with Approval ' +
    'Preferences, Springer, section 2.2 (sequential proportional approval voting)',
  parameters: {
    seats: { about: 'options to elect', default: 3, minimum: 1, maximum: OPTIONS },
  },
  ...approvals,
  elect(ballots, options, { seats }) {
    const size = Math.min(seats!, options.length);
    const members: number[] = [];
    while (members.length < size) members.push(findNext(ballots, members, options.length)[0]!);
    const places = options.map((_, option) =>
      members.includes(option) ? size - members.indexOf(option) : 0,
    );
    const findTie = () => findSeatTie(ballots, options, size);
    return electAt(options, places, members[0]!, findTie);
  },
});

interface ApprovalBallot {
  weight: number;
  /** Positions of the approved options. */
  ballot: readonly number[];
}

/** Returns the options with the largest sum for the next seat. */
function findNext(
  ballots: readonly ApprovalBallot[],
  members: readonly number[],
  count: number,
): number[] {
  // A score is below 2^27 * 720,720, and thus a safe integer.
  const scores = Array.from({ length: count }, (_, option) => (members.includes(option) ? -1 : 0));
  for (const { weight, ballot: approved } of ballots) {
    const elected = approved.filter((option) => members.includes(option)).length;
    const share = (weight * WHOLE) / (elected + 1);
    for (const option of approved) if (scores[option]! >= 0) scores[option]! += share;
  }
  return findHighest(scores);
}

/**
 * Returns the tie for the first seat, or else the first tie that decided which options get a seat.
 * Each sequence of seats is that of some order of the options: the option that is elected first
 * comes first in it.
 */
function findSeatTie(
  ballots: readonly ApprovalBallot[],
  options: readonly string[],
  size: number,
): Tie | null {
  const elect = (members: readonly number[]) => findNext(ballots, members, options.length);
  const sizes = { options: options.length, ballots: ballots.length };
  const search = new TieSearch(sizes, (members) =>
    members.length === size
      ? { won: members }
      : { next: elect(members).map((option) => [...members, option]) },
  );
  const members: number[] = [];
  for (let seat = 1; seat <= size; seat += 1) {
    const step = `seat ${seat}`;
    const next = elect(members);
    if (next.length > 1 && seat === 1) return createTie(options, next, step);
    const seated = next.length > 1 ? search.winners(members) : new Set<number>();
    if (!search.isExact) return createTie(options, options.keys(), step, false);
    if (seated.size > size) return createTie(options, seated, step);
    members.push(next[0]!);
  }
  return null;
}
