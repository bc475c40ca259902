/**
 * Counts a block's votes again with something changed: who voted how, who was an elector, what a
 * vote weighs. Nobody is asked again: whoever would have voted otherwise still votes as it did.
 */
import { type BlockStatus, type Decision, decide } from '../../../engine/internal.js';
import type { Evidence } from '../evidence.js';

/**
 * What would have become of the block. `open`: the votes that were cast do not decide; what others
 * would have voted, who came too late for the count, is not in the log.
 */
export type Recounted = BlockStatus | 'open';

export interface Changed {
  /** By position. */
  weights?: readonly number[];
  /** Positions that are no electors. */
  left?: ReadonlySet<number>;
  /** In the order in which they are counted. */
  votes?: readonly { elector: number; decision: Decision }[];
}

type Tally = Parameters<typeof decide>[1];

/** Electors of one personality that can veto together. */
const SMALLEST_VETO = 3;

export function recount(evidence: Evidence, changed: Changed = {}): Recounted {
  const { genesis, electors } = evidence;
  const weights = changed.weights ?? electors.map(({ weight }) => weight);
  const left = changed.left ?? new Set();
  const groups = new Groups();
  const tally: Tally = { approve: 0, reject: 0, total: 0, voted: 0, electors: 0, vetoed: false };
  for (const [position, { personality }] of electors.entries()) {
    if (left.has(position)) continue;
    tally.total += weights[position]!;
    tally.electors += 1;
    groups.add(personality);
  }
  for (const { elector, decision } of changed.votes ?? evidence.votes) {
    if (left.has(elector)) continue;
    tally[decision] += weights[elector]!;
    tally.voted += 1;
    const unanimous = groups.vote(electors[elector]!.personality, decision);
    tally.vetoed ||= genesis.policy === 'veto' && unanimous;
    const decided = decide(genesis, tally, false);
    if (decided) return decided;
  }
  const { block, status } = evidence;
  if (status === 'voting' || status === 'orphaned') return status;
  // Whoever has not voted by the end might have, had the block stayed open.
  const silent = new Set(electors.keys());
  for (const { elector } of [...evidence.votes, ...(changed.votes ?? [])]) silent.delete(elector);
  for (const elector of left) silent.delete(elector);
  const ended = block.closed_at >= block.deadline || silent.size === 0;
  return ended ? decide(genesis, tally, true)! : 'open';
}

/** Who rejects as one. */
class Groups {
  readonly #sizes = new Map<string, number>();
  readonly #rejections = new Map<string, number>();

  add(personality: string): void {
    this.#sizes.set(personality, (this.#sizes.get(personality) ?? 0) + 1);
  }

  /** Whether by this vote a group has rejected as one. */
  vote(personality: string, decision: Decision): boolean {
    if (decision === 'approve') return false;
    const rejections = (this.#rejections.get(personality) ?? 0) + 1;
    this.#rejections.set(personality, rejections);
    const size = this.#sizes.get(personality)!;
    return size >= SMALLEST_VETO && rejections === size;
  }
}
