/** What the server has of an agent at the entry that is shown, as far as it knows the past. */
import { useRef } from 'preact/hooks';
import { agents, clock, position, totals } from '../../data/store.js';
import { data, Unanswered, useFetched } from '../../parts/server/api.js';

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
  /** The entry; null for the newest. */
  at: number | null;
  /** Where there are no scores, of this only what never changes is of the entry. */
  agent: AgentData;
  /** Null where the server does not know those of the entry. */
  scores: Scores | null;
}

/**
 * Live, it is fetched anew when a block was decided or its status changed; else at each entry.
 * While it comes, the last that came is given with it: it says of which entry it is.
 */
export function useStanding(number: number, id: string) {
  const { mode } = clock.value;
  const entry = position.value!.entry;
  const wanted = useRef<number | null>(null);
  const last = useRef<Standing | null>(null);
  if (mode === 'live') wanted.current = null;
  else if (mode === 'paused' || wanted.current === null) wanted.current = entry;
  const at = wanted.current;
  const { finalized, rejected } = totals.value!;
  const turn = `${finalized + rejected} ${agents.status[number]} ${agents.reputation[number]}`;
  const [fetched, again] = useFetched(`${id} ${at ?? turn}`, () => standing(id, at));
  if (fetched.is !== 'coming') last.current = fetched.is === 'here' ? fetched.data : null;
  return { fetched, again, last: last.current };
}

/** Whether the server refused to say what was: it will again. */
let knowsPast = true;

async function standing(id: string, at: number | null): Promise<Standing> {
  const part = encodeURIComponent(id);
  const read = async (query: string) => ({
    agent: await data<AgentData>(`/api/v1/agents/${part}${query}`),
    scores: await data<Scores>(`/api/v1/social/reputation/${part}${query}`),
  });
  if (at === null) return { at, ...(await read('')) };
  try {
    if (knowsPast) return { at, ...(await read(`?at=${at}`)) };
  } catch (error) {
    if (!(error instanceof Unanswered) || error.reason !== 'NO_HISTORY') throw error;
    knowsPast = false;
  }
  return { at, agent: (await read('')).agent, scores: null };
}
