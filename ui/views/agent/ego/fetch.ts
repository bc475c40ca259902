/** Who an agent's neighbours are, where the scenario is known, and what cuts them off. */
import { knows } from '../../../data/store.js';
import { data, Unanswered } from '../../../parts/server/api.js';
import { pathAt } from '../../../parts/server/at-entry.js';

export interface Neighbour {
  agent_id: string;
  /** Null for who never registered. */
  number: number | null;
  /** Whether what it says gets through to the agent; and the other way. */
  hears: boolean;
  heard: boolean;
}

export interface Ego {
  topology: string;
  total: number;
  neighbours: Neighbour[];
  /** Who of them are neighbours of each other: places in the list. */
  links: [number, number][];
}

/** As many as a page of the server has. */
const ROWS = '1000';

const unknown =
  'Who hears whom is known of agents of a scenario: while their run is made (folkmoot sim ' +
  '--watch), and afterwards (folkmoot explore DIR).';

export async function egoOf(id: string, entry: number | null): Promise<Ego | { none: string }> {
  if (!knows('neighbours')) return { none: unknown };
  const path = `/api/v1/agents/${encodeURIComponent(id)}/neighbours`;
  try {
    return await data<Ego>(pathAt(path, entry, { limit: ROWS }));
  } catch (error) {
    if (!(error instanceof Unanswered) || error.reason !== 'UNKNOWN_SCENARIO') throw error;
    return { none: error.said };
  }
}
