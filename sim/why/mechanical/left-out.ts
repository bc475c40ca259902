/**
 * Mechanical counterfactuals: the same votes counted again without an agent, the votes that refer
 * to a meme, or an alliance. Of a live log, whose guests cannot be asked again, it is all there is.
 */
import type { Evidence } from '../evidence.js';
import { type Changed, type Recounted, recount } from './recount.js';

export interface LeftOut {
  /**
   * `elector`: an agent is no elector; `references`: votes that refer to a meme are not counted;
   * `members`: nor the votes of an alliance's members; `bonus`: they weigh what they would without
   * it; `weights`: all votes weigh the same.
   */
  kind: 'elector' | 'references' | 'members' | 'bonus' | 'weights';
  /** Id of the agent, meme or alliance; '' for weights. */
  id: string;
  name: string;
  /** Votes that are not counted, or weigh otherwise. */
  votes: number;
  outcome: Recounted;
  /** Whether that is another outcome. */
  changes: boolean;
}

/** Each thing that can be left out, what would change the outcome first. */
export function leftOut(evidence: Evidence): LeftOut[] {
  const actual = recount(evidence);
  const row = (
    kind: LeftOut['kind'],
    [id, name]: readonly [string, string],
    votes: number,
    changed: Changed,
  ): LeftOut => {
    const outcome = recount(evidence, changed);
    return { kind, id, name, votes, outcome, changes: outcome !== actual };
  };
  const rows = [
    ...evidence.electors.map(({ agent_id, name }, elector) => {
      const votes = evidence.votes.filter((vote) => vote.elector === elector).length;
      return row('elector', [agent_id, name], votes, { left: new Set([elector]) });
    }),
    ...[...references(evidence)].map(([meme, voters]) =>
      row('references', [meme, ''], voters.size, withheld(evidence, voters)),
    ),
    ...evidence.alliances.map(({ alliance_id, purpose, members }) => {
      const voters = votersAmong(evidence, members);
      return row('members', [alliance_id, purpose], voters.size, withheld(evidence, voters));
    }),
    ...bonuses(evidence).map(({ id, name, weights }) =>
      row('bonus', [id, name], reweighed(evidence, weights), { weights }),
    ),
  ];
  if (evidence.genesis.weights !== 'equal') {
    const weights = evidence.electors.map(() => 1);
    rows.push(row('weights', ['', 'all votes weigh the same'], evidence.votes.length, { weights }));
  }
  return rows.sort((a, b) => Number(b.changes) - Number(a.changes) || b.votes - a.votes);
}

/** Positions of the voters that refer to each meme. */
function references({ votes }: Evidence): Map<string, Set<number>> {
  const found = new Map<string, Set<number>>();
  for (const { elector, meme_references } of votes) {
    for (const meme of meme_references) {
      const voters = found.get(meme) ?? new Set();
      found.set(meme, voters.add(elector));
    }
  }
  return found;
}

const withheld = ({ votes }: Evidence, voters: ReadonlySet<number>): Changed => ({
  votes: votes.filter(({ elector }) => !voters.has(elector)),
});

function votersAmong({ electors, votes }: Evidence, members: readonly string[]): Set<number> {
  const ids = new Set(members);
  const voters = votes.filter(({ elector }) => ids.has(electors[elector]!.agent_id));
  return new Set(voters.map(({ elector }) => elector));
}

/** Without each alliance that adds to somebody's weight. */
function bonuses(evidence: Evidence): { id: string; name: string; weights: number[] }[] {
  const { genesis, alliances } = evidence;
  if (genesis.weights !== 'alliance_bonus') return [];
  return alliances.map(({ alliance_id, purpose }) => ({
    id: alliance_id,
    name: purpose,
    weights: alliedWeights(evidence, alliance_id),
  }));
}

/** 100, and 2 for each ally that votes too, up to 10: docs/protocol.md, weights. */
function alliedWeights({ electors, alliances }: Evidence, without: string): number[] {
  const voting = new Set(electors.map(({ agent_id }) => agent_id));
  const left = alliances.filter(({ alliance_id }) => alliance_id !== without);
  return electors.map(({ agent_id }) => {
    const own = left.filter(({ members }) => members.includes(agent_id));
    const allies = new Set(own.flatMap(({ members }) => members).filter((id) => voting.has(id)));
    allies.delete(agent_id);
    return 100 + Math.min(10, 2 * allies.size);
  });
}

function reweighed({ electors, votes }: Evidence, weights: readonly number[]): number {
  return votes.filter(({ elector }) => electors[elector]!.weight !== weights[elector]).length;
}
