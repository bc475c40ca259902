/** What the server has of an agent at the entry that is shown, as far as it knows the past. */
import { agents, knows, totals } from '../../data/store.js';
import { data } from '../../parts/server/api.js';
import { pathAt, useAtEntry } from '../../parts/server/at-entry.js';

interface AgentData {
  description: string;
  reason: string;
  registration_time: string;
}
export interface Scores {
  overall_score: number;
  meme_quality: number;
  decision_consistency: number;
  peer_ratings: number;
  alliance_strength: number;
}

export interface Standing {
  /** Where there are no scores, of this only what never changes is of the entry. */
  agent: AgentData;
  /** Null where the server does not know those of the entry. */
  scores: Scores | null;
}

/** Live, it changes when a block is decided, or its status. */
export function useStanding(number: number, id: string) {
  const { finalized, rejected } = totals.value!;
  const live = `${finalized + rejected} ${agents.status[number]} ${agents.reputation[number]}`;
  return useAtEntry(`${id} ${knows('history')}`, live, (entry) => standing(id, entry));
}

async function standing(id: string, entry: number | null): Promise<Standing> {
  const part = encodeURIComponent(id);
  const read = async (of: number | null) => ({
    agent: await data<AgentData>(pathAt(`/api/v1/agents/${part}`, of)),
    scores: await data<Scores>(pathAt(`/api/v1/social/reputation/${part}`, of)),
  });
  if (entry === null || knows('history')) return read(entry);
  return { agent: (await read(null)).agent, scores: null };
}
