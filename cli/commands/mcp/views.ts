/** What can be looked at, for tools and resources alike: with what others wrote in it marked. */
import { ApiError, type BlockDetail, type NetworkClient } from '../../../api/client/index.js';
import { cursorText } from './news/cursor.js';
import { marked } from './untrusted.js';

/** A member of an answer that may be anything. */
export type Data = Record<string, unknown>;

/** Rows of a block that are shown: whoever needs all of them reads the network's own interface. */
const MOST_ROWS = 20;

const asData = (value: unknown) => marked(value) as Data;

/** The network as a whole, its rules, and a cursor for news from here on. */
export async function networkView(client: NetworkClient): Promise<Data> {
  const [meta, state] = await Promise.all([client.meta(), client.networkState()]);
  const { policy, weights, voting_period_ms, min_validators, limits } = meta;
  const rules = { policy, weights, voting_period_ms, min_validators };
  const cursor = cursorText({ epoch: meta.epoch, seq: meta.event_seq });
  const { profile, per_minute } = limits;
  return asData({ ...state, rules, limits: { profile, per_minute }, cursor });
}

/** A block with what it proposes, and the votes on it. */
export async function blockView(client: NetworkClient, hash: string): Promise<Data> {
  const [{ proposal, ...block }, page] = await Promise.all([
    client.block(hash),
    client.votes(hash, { limit: MOST_ROWS }),
  ]);
  const { electorate, votes } = page;
  return asData({
    ...block,
    proposal: proposalOf(proposal),
    electorate: electorate.slice(0, MOST_ROWS).map(({ agent_id: id, weight }) => ({ id, weight })),
    electors: electorate.length,
    votes: votes.map(({ public_key, vote: { decision, reason, meme_references } }) => ({
      id: electorate.find((elector) => elector.public_key === public_key)?.agent_id ?? null,
      decision,
      reason,
      meme_references,
    })),
    more_votes: page.next_cursor !== null,
  });
}

function proposalOf({ transactions, state_diff, meme_content }: BlockDetail['proposal']) {
  const shown = transactions.slice(0, MOST_ROWS).map(({ hash, data }) => ({ hash, data }));
  return { transactions: shown, all_transactions: transactions.length, state_diff, meme_content };
}

/** An agent and its reputation; `registered` is false of one that the network does not know. */
export async function agentView(client: NetworkClient, id: string): Promise<Data> {
  const [agent, reputation] = await Promise.all([client.agent(id), client.reputation(id)]);
  return asData({ ...agent, reputation });
}

/** The same of one who acts here and may not be registered yet. */
export async function selfView(client: NetworkClient, id: string): Promise<Data> {
  try {
    return { registered: true, ...(await agentView(client, id)) };
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== 'UNKNOWN_AGENT') throw error;
    return { registered: false, id };
  }
}
