/** All that the server has of a block, and its check by the worker. */
import { agents, network } from '../../data/store.js';
import { data, pages } from '../../parts/server/api.js';
import { checkBlock } from '../../verify/ask.js';
import type { BlockChecked } from '../../verify/messages.js';

export interface BlockData {
  block_hash: string;
  parent_hash: string;
  height: number;
  status: string;
  producer: { id: string; public_key: string };
  tally: { approve: number; reject: number; electorate: number };
  transactions: number;
  voting_deadline: string;
  timestamp: string;
  closed_at: string | null;
  /** Of the log, by which it was proposed. */
  entry: number;
  proposal: Readonly<Record<string, unknown>>;
  public_key: string;
}

export interface Elector {
  agent_id: string;
  public_key: string;
  weight: number;
}

export interface Vote {
  public_key: string;
  vote: Readonly<Record<string, unknown>>;
}

export interface Whole {
  block: BlockData;
  electorate: Elector[];
  /** How many there are, also where not all of them are named. */
  electors: number;
  votes: Vote[];
  /** Votes that are not here: there are very many. */
  more: boolean;
}

interface VotesPage {
  electorate: Elector[];
  electors?: number;
  votes: Vote[];
  next_cursor: string | null;
}

const PAGES = 60;

export async function wholeBlock(hash: string): Promise<Whole> {
  const path = `/api/v1/blocks/${encodeURIComponent(hash)}`;
  const block = await data<BlockData>(path);
  let electorate: Elector[] = [];
  let electors = 0;
  const votes: Vote[] = [];
  const { more } = await pages<VotesPage>(`${path}/votes?limit=1000`, PAGES, (page) => {
    if (page.electorate.length > 0) electorate = page.electorate;
    electors = page.electors ?? electorate.length;
    votes.push(...page.votes);
  });
  return { block, electorate, electors, votes, more };
}

/** @throws {Error} when the worker cannot be started */
export async function checked({ block, electorate, votes }: Whole): Promise<BlockChecked> {
  const { signatures } = await data<{ signatures?: string }>('/api/v1/meta');
  const { network_id, policy, participation_bps } = network.peek()!;
  return checkBlock({
    hash: block.block_hash,
    network_id,
    signed: signatures !== 'none',
    rule: { policy, participation_bps },
    producer: block.public_key,
    proposal: block.proposal,
    electorate: electorate.map(({ agent_id, weight }) => {
      const number = agents.numberOf(agent_id);
      const personality = number === null ? '' : (agents.rows[number]?.personality ?? '');
      return { agent_id, weight, personality };
    }),
    votes,
  });
}
