/** A block as it was at the entry that is shown, out of all that came of it. */
import type { BlockShown } from '../../data/messages.js';
import { agents } from '../../data/store.js';
import type { BlockChecked } from '../../verify/messages.js';
import type { Vote, Whole } from './fetch.js';

/**
 * `known`: as the picture has it; left out, it closed before all blocks of the picture. `ballots`:
 * of who had voted, number of the agent * 2; of a closed block none are needed.
 */
export function asOf(
  whole: Whole,
  known: BlockShown | undefined,
  ballots: Iterable<number>,
): Whole {
  if (!known) return whole;
  const { status, approve, reject, total: electorate, closed_at: closed } = known;
  const tally = { approve, reject, electorate };
  const closed_at = closed === null ? null : new Date(closed).toISOString();
  const block = { ...whole.block, status, tally, closed_at };
  if (status !== 'voting') return { ...whole, block };
  const voted = new Set(Array.from(ballots, (ballot) => ballot >>> 1));
  const numbers = new Map(
    whole.electorate.map(({ public_key, agent_id }) => [public_key, agents.numberOf(agent_id)]),
  );
  // Of whom nobody knows when it voted, it is shown: it is no vote that counts.
  const wasThere = ({ public_key }: Vote) => voted.has(numbers.get(public_key) ?? -1);
  const isElector = ({ public_key }: Vote) => numbers.has(public_key);
  return { ...whole, block, votes: whole.votes.filter((one) => !isElector(one) || wasThere(one)) };
}

/** The check of all votes, of those alone that were there: they are counted again. */
export function checkAsOf(check: BlockChecked, whole: Whole, shown: Whole): BlockChecked {
  if (shown.votes.length === whole.votes.length) return check;
  const verdicts = new Map(whole.votes.map((vote, place) => [vote, check.votes[place]!]));
  const weights = new Map(shown.electorate.map(({ public_key, weight }) => [public_key, weight]));
  const tally = { approve: 0, reject: 0 };
  const votes = shown.votes.map((one) => {
    const verdict = verdicts.get(one)!;
    const { decision } = one.vote;
    if (verdict !== 'failed' && (decision === 'approve' || decision === 'reject')) {
      tally[decision] += weights.get(one.public_key) ?? 0;
    }
    return verdict;
  });
  return { ...check, votes, tally };
}
