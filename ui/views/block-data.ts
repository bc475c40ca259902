/** Block data: as stored on the server, as of the current entry, and as checked in a worker. */
import type { BlockView } from '../../engine/protocol/schema/view.js';
import { data, pages } from '../components/requests.js';
import type { BlockItem } from '../data/messages.js';
import { agents, network } from '../data/store.js';
import { checkBlock } from '../verify/client.js';
import type { BlockChecked } from '../verify/messages.js';

export interface BlockData extends Omit<BlockView, 'status' | 'tally'> {
  status: string;
  tally: { approve: number; reject: number; electorate: number };
  /** Entry that contains the proposal. */
  entry: number;
  proposal: Readonly<Record<string, unknown>>;
  public_key: string;
}

interface Elector {
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
  /** Number of electors. An exported file lists only the electors that voted. */
  electors: number;
  votes: Vote[];
  /** True if the block has more votes than the page fetched. */
  more: boolean;
}

interface VotesPage {
  electorate: Elector[];
  electors?: number;
  votes: Vote[];
  next_cursor: string | null;
}

const VOTE_PAGES = 60;

export async function wholeBlock(hash: string): Promise<Whole> {
  const path = `/api/v1/blocks/${encodeURIComponent(hash)}`;
  const block = await data<BlockData>(path);
  let electorate: Elector[] = [];
  let electors = 0;
  const votes: Vote[] = [];
  const { more } = await pages<VotesPage>(`${path}/votes?limit=1000`, VOTE_PAGES, (page) => {
    if (page.electorate.length > 0) electorate = page.electorate;
    electors = page.electors ?? electorate.length;
    votes.push(...page.votes);
  });
  return { block, electorate, electors, votes, more };
}

/** @throws {PageError} if the worker fails to load */
export async function checkBlockData({ block, electorate, votes }: Whole): Promise<BlockChecked> {
  const { signatures } = await data<{ signatures?: string }>('/api/v1/meta');
  const { network_id, policy, participation_bps, rule } = network.peek()!;
  return checkBlock({
    hash: block.block_hash,
    network_id,
    signed: signatures !== 'none',
    rule: { policy, participation_bps, rule },
    producer: block.public_key,
    proposal: block.proposal,
    electorate: electorate.map(({ agent_id, weight }) => {
      const number = agents.numberOf(agent_id);
      const personality = number === null ? '' : (agents.rows[number]?.personality ?? '');
      return { agent_id, number, weight, personality };
    }),
    votes,
  });
}

/**
 * Restricts a block to its state at the current entry.
 *
 * @param known the block in the snapshot; undefined if it closed before every block in the snapshot
 * @param ballots agent number * 2 for each voter; needed only for a block in voting
 */
export function atEntry(
  whole: Whole,
  known: BlockItem | undefined,
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
  // A non-elector's vote has no known time and does not count. The view always shows such a vote.
  const wasThere = ({ public_key }: Vote) => voted.has(numbers.get(public_key) ?? -1);
  const isElector = ({ public_key }: Vote) => numbers.has(public_key);
  return { ...whole, block, votes: whole.votes.filter((one) => !isElector(one) || wasThere(one)) };
}

/** Restricts a check to the votes at the current entry, and recounts these votes. */
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
