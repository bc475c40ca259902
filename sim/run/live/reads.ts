/** What the end of a run reads, fetched from a server beforehand. */
import type { BlockView, NetworkClient } from '../../../api/client/index.js';
import type { RunReads } from '../../measure/index.js';
import { ConcurrencyLimit } from '../../world/gateway/concurrency.js';

const CONNECTIONS = 16;
/** Rows of a page of blocks. */
const PAGE = 1_000;

/**
 * Of blocks since an instant, of the agents named, of those blocks' producers, and of everybody who
 * is active: others who are away are not told of by any list.
 */
export async function readsOf(
  client: NetworkClient,
  { sinceMs, agents: ids }: { sinceMs: number; agents: readonly string[] },
): Promise<RunReads> {
  const blocks = await blocksSince(client, sinceMs);
  const { validators, producers } = await client.agents();
  const active = [...validators, ...producers].map(({ id }) => id);
  const all = new Set([...ids, ...active, ...blocks.map(({ producer }) => producer.id)]);
  const agents = await fetchEach([...all].sort(), (id) => known(client.agent(id)));
  const scores = await fetchEach([...ids], (id) => known(client.reputation(id)));
  const electors = await electorsOf(client, blocks);
  const views = new Map(blocks.map((block) => [block.block_hash, block]));
  return {
    agent: (id) => agents.get(id),
    agents: () => [...agents.values()].filter((agent) => agent !== undefined),
    reputation: (id) => scores.get(id),
    block: (hash) => views.get(hash),
    record: (_, hash) => ({ context: { electors: electors.get(hash) ?? 0 } }),
  };
}

/** Newest first. */
async function blocksSince(client: NetworkClient, sinceMs: number): Promise<BlockView[]> {
  const blocks: BlockView[] = [];
  let cursor: string | undefined;
  do {
    const query = { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) };
    const page = await client.blocks(query);
    blocks.push(...page.blocks.filter(({ timestamp }) => Date.parse(timestamp) >= sinceMs));
    const oldest = page.blocks.at(-1)?.timestamp;
    const more = oldest !== undefined && Date.parse(oldest) >= sinceMs;
    cursor = more ? (page.next_cursor ?? undefined) : undefined;
  } while (cursor !== undefined);
  return blocks;
}

/** Where every vote weighs 1, the electorate's weight says how many there are. */
async function electorsOf(client: NetworkClient, blocks: readonly BlockView[]) {
  const { weights } = await client.meta();
  if (weights === 'equal') {
    return new Map(blocks.map(({ block_hash, tally }) => [block_hash, tally.electorate]));
  }
  const hashes = blocks.map(({ block_hash }) => block_hash);
  return fetchEach(hashes, async (hash) => {
    return (await client.votes(hash, { limit: 1 })).electorate.length;
  });
}

/** Undefined for an agent that the server does not know. */
async function known<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if ((error as { reason?: unknown }).reason === 'UNKNOWN_AGENT') return undefined;
    throw error;
  }
}

async function fetchEach<T>(
  keys: readonly string[],
  fetched: (key: string) => Promise<T>,
): Promise<Map<string, T>> {
  const slots = new ConcurrencyLimit(CONNECTIONS, keys.length);
  const values = await Promise.all(keys.map((key) => slots.run(() => fetched(key))));
  return new Map(keys.map((key, index) => [key, values[index] as T]));
}
