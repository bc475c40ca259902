/** A block as the safety rules see it: only what was published of it, and the votes seen. */
import type { AnswerOf, Decision, EventData, Genesis } from '../../engine/internal.js';
import { type BrokenRule, brief } from './violation.js';

export interface WatchedBlock {
  hash: string;
  parent: string;
  height: number;
  producer: string;
  /** Weight of the electorate, as the proposal's answer gave it. */
  electorate: number;
  deadline: number;
  approve: number;
  reject: number;
  voters: Set<string>;
  /** Heads by personality, where they may veto. */
  groups: Map<string, { approve: number; reject: number }>;
}

/** What one vote may weigh. */
const weights = { equal: [1, 1], reputation: [1, 100], alliance_bonus: [100, 110] } as const;

/** Counts a vote, with the tally after it as its answer gave it; what is wrong with it, or null. */
export function countVote(
  genesis: Genesis,
  block: WatchedBlock,
  { validator, decision }: EventData['block_validation'],
  { tally }: AnswerOf['vote'],
): BrokenRule | null {
  const { id: by, personality } = validator;
  // One look at the set: a vote that is there already leaves it as large as it was.
  const before = block.voters.size;
  if (block.voters.add(by).size === before) {
    const found = `a second vote of ${brief(by)} was counted`;
    return { rule: 'vote-once', actor: block.hash, expected: 'one vote an elector', found };
  }
  const moved = tally[decision] - block[decision];
  const other = decision === 'approve' ? 'reject' : 'approve';
  const [least, most] = weights[genesis.weights];
  const isFair = moved >= least && moved <= most && tally[other] === block[other];
  if (!isFair || tally.electorate !== block.electorate) {
    const { approve, reject, electorate } = tally;
    const found = `${approve} to ${reject} of ${electorate} after a vote to ${decision}`;
    const was = `${block.approve} to ${block.reject} of ${block.electorate}`;
    const more = least === most ? least : `${least} to ${most}`;
    const expected = `${was}, and ${more} more to ${decision}`;
    return { rule: 'tally', actor: block.hash, expected, found };
  }
  block[decision] += moved;
  if (genesis.policy === 'veto') countHead(block, personality, decision);
  return null;
}

function countHead({ groups }: WatchedBlock, personality: string, decision: Decision): void {
  const group = groups.get(personality);
  if (group) group[decision] += 1;
  else groups.set(personality, { approve: 0, reject: 0, [decision]: 1 });
}

/** Whether the votes seen allow this end; `isDue`: the deadline is over. */
export function checkEnd(
  genesis: Genesis,
  block: WatchedBlock,
  { status, isDue }: { status: string; isDue: boolean },
): BrokenRule | null {
  const { approve, reject, electorate } = block;
  if (status === 'orphaned') return null;
  const allowed = endsAllowed(genesis, block, isDue);
  if (allowed.includes(status)) return null;
  const needs = genesis.policy === 'majority' ? '' : ` (needs ${leastToFinalize(electorate)})`;
  const when = isDue ? 'after the deadline' : 'before the deadline';
  const found = `${status} with ${approve} to ${reject} of ${electorate}${needs}, ${when}`;
  return { rule: 'quorum', actor: block.hash, expected: allowed.join(' or '), found };
}

/** All that the votes seen allow to become of it. What a veto takes is not all visible here. */
function endsAllowed(genesis: Genesis, block: WatchedBlock, isDue: boolean): readonly string[] {
  const { approve, reject, electorate } = block;
  if (genesis.policy === 'majority') {
    if (!isDue && approve + reject < electorate) return ends.voting;
    const turnout = (genesis.participation_bps * electorate) / 10_000;
    if (approve + reject < turnout) return ends.expired;
    return approve > reject ? ends.finalized : ends.rejected;
  }
  if (approve >= leastToFinalize(electorate)) return ends.finalized;
  if (reject >= Math.ceil(electorate / 3)) return ends.rejected;
  if (genesis.policy === 'veto' && mayBeVetoed(block)) {
    return isDue ? ends.vetoedOrExpired : ends.vetoedOrVoting;
  }
  return isDue ? ends.expired : ends.voting;
}

const ends = {
  voting: ['voting'],
  finalized: ['finalized'],
  rejected: ['rejected'],
  expired: ['expired'],
  vetoedOrVoting: ['rejected', 'voting'],
  vetoedOrExpired: ['rejected', 'expired'],
};

/** Whether three of one personality or more have rejected, and none of it approved. */
function mayBeVetoed({ groups }: WatchedBlock): boolean {
  for (const { approve, reject } of groups.values()) if (approve === 0 && reject >= 3) return true;
  return false;
}

const leastToFinalize = (electorate: number) => Math.floor((2 * electorate) / 3) + 1;
