/** /api/v1/agents and what each did: the whole roster, votes and memes, page by page. */
import { type RecordOf, refuse, type ServedNetwork } from '../../../engine/internal.js';
import { serverBounds } from '../../contract/limit-table.js';
import { inSlices, type Sliced } from '../../slices.js';
import { memesOf } from '../../view/log/index.js';
import {
  badQuery,
  expectedCursor,
  expectedRows,
  number,
  pathProblem,
  rowsOf,
} from '../reads/parameters.js';
import { type Answer, success } from '../response/envelope.js';
import type { Showing } from './shown.js';

const { memeRows, voteBlocks } = serverBounds.view;

/** All registered agents, whatever their status, in order of registration. */
export const roster: Showing = async ({ services: { network } }, query) => {
  const limit = rowsOf(query);
  if (limit === null) return badQuery('limit', expectedRows);
  const from = number(query, 'cursor', 0);
  if (from === null) return badQuery('cursor', expectedCursor);
  const { read } = network;
  return inSlices(rosterOf(read, from, limit));
};

/** Rows may be of neighbouring entries, as those of two pages are. */
function* rosterOf(read: ServedNetwork['read'], from: number, limit: number): Sliced<Answer> {
  const agents: object[] = [];
  const end = from + limit;
  for (let at = from; at < end; at += AT_ONCE) {
    const range = { from: at, limit: Math.min(AT_ONCE, end - at) };
    const some = [...read.records('agent_numbers', range)];
    for (const { key, value } of some) {
      const agent = read.agent(value.agent_id)!;
      agents.push({
        number: key,
        id: agent.id,
        public_key: agent.public_key,
        personality: agent.personality,
        name: agent.name,
        capabilities: agent.capabilities,
        status: agent.status,
        registration_time: agent.registration_time,
        dormant: agent.dormant,
        reputation_score: agent.reputation_score,
        blocks_produced: agent.blocks_produced,
      });
      yield;
    }
    if (some.length < range.limit) return success(200, { agents, next_cursor: null });
  }
  const isMore = [...read.records('agent_numbers', { from: end, limit: 1 })].length > 0;
  return success(200, { agents, next_cursor: isMore ? String(end) : null });
}

/** Records that are read between two pauses. */
const AT_ONCE = 50;

/** The votes of an agent that counted, newest block first. */
export const agentVotes: Showing = async ({ services: { network }, params: [id = ''] }, query) => {
  const refusal = pathProblem('agent_id', id);
  if (refusal) return { refusal };
  const limit = rowsOf(query);
  if (limit === null) return badQuery('limit', expectedRows);
  const before = query.has('cursor') ? number(query, 'cursor', 0) : Number.MAX_SAFE_INTEGER;
  if (before === null) return badQuery('cursor', expectedCursor);
  const profile = network.read.record('agents', id);
  if (!profile) return unknownAgent(id);
  const page = votesOf(network, profile.ordinal, before, limit);
  return success(200, { agent_id: id, ...page });
};

function votesOf({ read }: ServedNetwork, agent: number, before: number, limit: number) {
  const votes = [];
  let scanned = 0;
  for (const { key, value } of read.records('block_numbers', { reverse: true, to: before })) {
    if (votes.length === limit || scanned === voteBlocks) {
      return { votes, next_cursor: String((key as number) + 1) };
    }
    scanned += 1;
    const vote = read.record('votes', [key as number, agent]);
    if (!vote) continue;
    const { state, context } = read.record('blocks', value.block_hash)!;
    const { height } = context;
    votes.push({ block_hash: value.block_hash, height, block_status: state, ...vote });
  }
  return { votes, next_cursor: null };
}

/** Memes of an agent, newest first. */
export const agentMemes: Showing = async (call, query) => {
  const [id = ''] = call.params;
  const refusal = pathProblem('agent_id', id);
  if (refusal) return { refusal };
  if (!call.services.network.read.record('agents', id)) return unknownAgent(id);
  return memesShown(call, query, id);
};

/** Memes of all, newest first. */
export const memes: Showing = (call, query) => memesShown(call, query);

async function memesShown(
  { services: { view, network } }: Parameters<Showing>[0],
  query: URLSearchParams,
  creator?: string,
) {
  const limit = rowsOf(query);
  if (limit === null) return badQuery('limit', expectedRows);
  const before = query.has('cursor') ? number(query, 'cursor', 0) : Number.MAX_SAFE_INTEGER;
  if (before === null) return badQuery('cursor', expectedCursor);
  await view.prepareIndex();
  const asked = { before, limit, rows: memeRows, ...(creator === undefined ? {} : { creator }) };
  const page = await inSlices(memesOf(network, view.index, asked));
  const next_cursor = page.before === null ? null : String(page.before);
  return success(200, { memes: page.memes.map(memeShown), next_cursor });
}

function memeShown(meme: RecordOf['memes']) {
  const { ordinal: _, content_sha256: __, posted_at: at, ...rest } = meme;
  return { ...rest, at };
}

const unknownAgent = (id: string) => ({
  refusal: refuse('UNKNOWN_AGENT', `no agent has the id ${id}`),
});
