import { endPoll, turnoutParameter } from '../election.js';
import type { Elector, PollVote, VoteRule } from '../rule.js';

interface Delegation {
  delegate: string;
}

/**
 * A ballot delegates its voter's weight for this block to an agent, which may delegate in turn. The
 * weight counts for the decision of the last agent. A vote's own decision counts if its voter
 * delegates to an agent that has not voted, or if its delegations form a cycle; voters that
 * delegate to such a voter follow its decision. Thus all weight cast counts exactly once.
 * `standings` are weights; `delegated` is the part that counts for the decision of an agent other
 * than its voter. A block is finalized if more weight approves than rejects; equal weights reject
 * it.
 */
export const rule: VoteRule = {
  title: 'More weight approves than rejects; electors may delegate their weight for a block',
  source:
    'Blum and Zuber 2016, Liquid democracy: potentials, problems, and perspectives, Journal of ' +
    'Political Philosophy 24(2)',
  parameters: turnoutParameter,
  ballot: {
    type: 'object',
    properties: { delegate: { type: 'string', minLength: 1, maxLength: 64 } },
    required: ['delegate'],
    additionalProperties: false,
  },
  accepts: ({ delegate }: Delegation) => /^agent_[0-9a-f]{32}$/.test(delegate),
  tally({ electors, votes, over }, values) {
    if (!over) return { status: null };
    const standings = countWeights(electors, votes);
    const total = electors.reduce((sum, { weight }) => sum + weight, 0);
    return { status: endPoll(standings, total, values), standings };
  },
};

function countWeights(electors: readonly Elector[], votes: readonly PollVote[]) {
  const sums = { approve: 0, reject: 0, delegated: 0 };
  const deciders = findDeciders(votes);
  for (const [position, { elector }] of votes.entries()) {
    const { weight } = electors[elector]!;
    const decider = deciders[position]!;
    sums[votes[decider]!.decision] += weight;
    if (decider !== position) sums.delegated += weight;
  }
  return sums;
}

/** Returns, for each vote, the position of the vote whose decision counts. */
function findDeciders(votes: readonly PollVote[]): number[] {
  const positions = new Map(votes.map(({ agent_id }, position) => [agent_id, position]));
  const next = votes.map(({ ballot }, position) => {
    const delegate = (ballot as Delegation | undefined)?.delegate;
    return delegate === undefined ? position : (positions.get(delegate) ?? position);
  });
  const deciders: number[] = votes.map(() => -1);
  /** Walk that reached a vote, by position; 0 if none has. */
  const walks = votes.map(() => 0);
  for (const start of next.keys()) {
    const path: number[] = [];
    let at = start;
    while (deciders[at]! < 0 && walks[at] !== start + 1) {
      walks[at] = start + 1;
      path.push(at);
      at = next[at]!;
    }
    // A vote that this walk meets again is on a cycle, as is the rest of the path after it. A vote
    // that delegates to itself, or to an agent without a vote, is a cycle of one.
    const cycle = deciders[at]! < 0 ? path.splice(path.indexOf(at)) : [];
    for (const member of cycle) deciders[member] = member;
    for (const follower of path) deciders[follower] = deciders[at]!;
  }
  return deciders;
}
