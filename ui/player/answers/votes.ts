/** What agents said to the blocks of the picture: one agent to each, and allies to the same. */
import type { Picture } from '../../../api/view/model.js';

/** An agent's word to one block: null where it has not voted on it. */
export interface VoteOn {
  block: number;
  decision: 'approve' | 'reject' | null;
}

/** Of all blocks of the picture, ascending; those without any votes left are not in it. */
export function votesOf({ blocks }: Picture, agent: number): VoteOn[] {
  return blocks
    .filter(({ ballots, status }) => ballots.length > 0 || status === 'voting')
    .map(({ number, ballots }) => {
      const ballot = ballots.find((one) => one >>> 1 === agent);
      const decision = ballot === undefined ? null : ballot & 1 ? 'reject' : 'approve';
      return { block: number, decision };
    });
}

/** How alike the members of an alliance voted. */
export interface Agreement {
  alliance: number;
  /** Pairs of members that voted on the same block, over all blocks of the picture. */
  pairs: number;
  /** Of these, with the same vote. */
  alike: number;
}

export function agreements({ blocks, alliances }: Picture): Agreement[] {
  const decided = blocks.map(
    ({ ballots }) => new Map(ballots.map((ballot) => [ballot >>> 1, ballot & 1])),
  );
  return alliances.map(({ number, members }) => {
    let [pairs, alike] = [0, 0];
    for (const votes of decided) {
      let [against, all] = [0, 0];
      for (const member of members) {
        const vote = votes.get(member);
        if (vote === undefined) continue;
        all += 1;
        against += vote;
      }
      pairs += (all * (all - 1)) / 2;
      alike += (against * (against - 1)) / 2 + ((all - against) * (all - against - 1)) / 2;
    }
    return { alliance: number, pairs, alike };
  });
}
