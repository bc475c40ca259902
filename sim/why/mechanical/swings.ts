/** Swing votes: whose vote, had it been another or none, would have changed the block's outcome. */
import type { Decision } from '../../../engine/internal.js';
import type { CountedVote, Evidence } from '../evidence.js';
import { type Recounted, recount } from './recount.js';

/** What would have become of the block, had one elector voted otherwise and all others as cast. */
export interface Swing {
  agent_id: string;
  name: string;
  weight: number;
  /** Null where it did not vote. */
  vote: Decision | null;
  /** With this vote of it; null for none. */
  other: Decision | null;
  outcome: Recounted;
}

/** One elector, another vote: only those by which the outcome changes. */
export function swingsOf(evidence: Evidence): Swing[] {
  const actual = recount(evidence);
  const cast = new Map(evidence.votes.map((vote) => [vote.elector, vote]));
  return evidence.electors.flatMap(({ agent_id, name, weight }, elector) => {
    const vote = cast.get(elector)?.decision ?? null;
    const others = ([null, 'approve', 'reject'] as const).filter((other) => other !== vote);
    return others.flatMap((other) => {
      const outcome = recount(evidence, { votes: instead(evidence.votes, elector, other) });
      return outcome === actual ? [] : [{ agent_id, name, weight, vote, other, outcome }];
    });
  });
}

/** In its place; of who did not vote, after all others. */
function instead(votes: readonly CountedVote[], elector: number, other: Decision | null) {
  const voted = votes.some((vote) => vote.elector === elector);
  if (other === null) return votes.filter((vote) => vote.elector !== elector);
  if (!voted) return [...votes, { elector, decision: other }];
  return votes.map((vote) => (vote.elector === elector ? { elector, decision: other } : vote));
}
