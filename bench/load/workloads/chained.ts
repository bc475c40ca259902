/**
 * Votes and proposals, and their chain. If votes are the arrivals, all agents are validators, and
 * proposals are sent outside the schedule. If proposals are the arrivals, each carries a batch that
 * a few validators approve at once, and the next one waits until the block is decided.
 */
import { bisect } from '../../../engine/rules/network-rule.js';
import type { AgentPool } from '../agents.js';
import { BlocksAhead } from '../blocks.js';
import { Chain } from '../chain.js';
import { EventStream } from '../event-stream.js';
import { loadError, note } from '../messages.js';
import { MOST, type Shard } from '../options.js';
import { readHead, validatorKeys } from '../server.js';
import { readChainEvent } from '../voting.js';
import type { Expected, Source } from '../workload.js';

/** The protocol's limit per block. */
const MOST_TRANSACTIONS = 1_000;

/** @throws {Failure} `BATCH_OUT_OF_RANGE` */
export async function chained(
  pool: AgentPool,
  expected: Expected,
  arrivals: 'votes' | 'proposals',
): Promise<Source> {
  const { batch } = pool.context.options;
  if (arrivals === 'proposals' && (batch < 1 || batch > MOST_TRANSACTIONS)) {
    throw loadError('BATCH_OUT_OF_RANGE', { batch, most: MOST_TRANSACTIONS });
  }
  const chain = await assemble(pool, expected, arrivals);
  return {
    next: (intendedMs) => chain.next(intendedMs),
    onReturned: () => chain.onReturned(),
    waitsFor: () => chain.waitsFor,
    limit: (perS) => chain.limit(perS),
    drain: (signal) => chain.drain(signal),
  };
}

/** Most producers. Only one block is open at a time, so more would not raise the rate. */
const PRODUCERS = 8;
/** Sender keys need no registration. Their ordinals are far from the agents' ordinals. */
const SENDERS = { first: 1_000_000_000, count: 1_024 };
/** Default voting period, in seconds. A block that takes longer expires. */
const VOTING_S = 30;
/** Maximum wait for a proposal on a server that does not report its head. */
const HEAD_MS = 10_000;

/** Builds the chain, which closes with the pool. @throws {Failure} if no block could be decided. */
async function assemble(
  pool: AgentPool,
  expected: Expected,
  arrivals: 'votes' | 'proposals',
): Promise<Chain> {
  const { context, progress, signers, record, asker } = pool;
  const { agents: count, batch } = context.options;
  const producers = Math.min(PRODUCERS, count);
  if (batch > 0 && pool.surroundings.networkId === null) throw loadError('NO_NETWORK_ID', {});
  const keys = await pool.keys(count);
  await pool.retireLeft(count);
  const validators = await electorateWith(pool, keys);
  const agents = await pool.register(count, (ordinal) =>
    ordinal < producers ? ['validator', 'producer'] : ['validator'],
  );
  const listener: { receive: (text: Buffer) => void } = { receive: () => {} };
  await listenToChain(pool, (text) => listener.receive(text));
  const { takesEarly, rule } = pool.surroundings;
  const { shard } = context.options;
  // Generators share the agents, but not the senders.
  const senders = { ...SENDERS, first: SENDERS.first + (shard?.index ?? 0) * SENDERS.count };
  const needed = rule.approvalsToClose(validators);
  const perBlock = arrivals === 'votes' ? needed : 1;
  const blocksPerS = expected.perS / perBlock;
  if (blocksPerS < 1 / VOTING_S) progress(tooSlow(1 / blocksPerS));
  let chain: Chain | null = null;
  const blocks = new BlocksAhead({
    ...{ signers, voters: count, producers: producersOf(producers, shard), batch, senders, needed },
    ...{ expected: Math.ceil(expected.total / perBlock), blockMs: 1_000 / blocksPerS },
    ...{ now: pool.now, onReady: () => chain?.advance(), onFailed: pool.signingFailed },
    alternates: shard !== undefined,
  });
  pool.atEnd(() => blocks.close());
  const head = await headOf(pool, listener);
  progress(await prepareBlocks(blocks, head.hash));
  const means = { context, asker, agents, blocks, record, takesEarly, rule };
  const order = { arrivals, ...(shard ? { shard } : {}) };
  chain = new Chain({ ...means, ...order, head, validators, senders });
  pool.atEnd(() => chain?.close());
  listener.receive = (text) => chain?.receive(text);
  return chain;
}

/** Gives each generator producers of its own, so that it recognizes its blocks. */
function producersOf(count: number, shard: Shard | undefined): number[] {
  const all = Array.from({ length: count }, (_, ordinal) => ordinal);
  if (!shard || count < shard.count) return all;
  return all.filter((ordinal) => ordinal % shard.count === shard.index);
}

const tooSlow = (seconds: number) =>
  `a block takes ${Math.round(seconds)} s at this rate, and most networks expire blocks after ` +
  `${VOTING_S} s; use a higher rate or fewer agents`;

/**
 * Returns the number of active validators, with this run's. @throws {Failure} `OTHER_VALIDATORS`
 */
async function electorateWith(
  { asker, surroundings }: AgentPool,
  keys: readonly string[],
): Promise<number> {
  const ours = new Set(keys);
  const others = (await validatorKeys(asker)).filter((key) => !ours.has(key)).length;
  const { rule } = surroundings;
  const decides = (agents: number) => rule.approvalsToClose(others + agents) <= agents;
  if (decides(keys.length)) return others + keys.length;
  const needed = rule.approvalsToClose(others + keys.length);
  const least = bisect(keys.length, MOST.agents, decides);
  const values = { others, needed, agents: keys.length };
  if (!decides(least)) throw loadError('OTHERS_MUST_VOTE', { ...values, policy: rule.name });
  throw loadError('OTHER_VALIDATORS', { ...values, least });
}

/** Subscribes to the chain, without votes of other agents if the server has opt-in topics. */
async function listenToChain(pool: AgentPool, receive: (text: Buffer) => void): Promise<void> {
  const { context, onEpoch } = pool;
  const [first] = pool.agents;
  const auth = () => pool.auth(first!);
  const onClosed = (code: number) => context.fail(note('STREAM_CLOSED', { code }).text);
  const { nodes } = context;
  const stream = await EventStream.open({ nodes, agent: 0, auth, receive, onClosed, onEpoch });
  pool.atEnd(() => stream.close());
  const known = await stream.subscribe(['network', 'outcomes', 'proposals']);
  if (known !== 'acknowledged') await stream.expect(['network', 'blocks']);
}

/** Reads the head from the server, or from the parent in the next proposal by a different agent. */
async function headOf(
  { asker }: AgentPool,
  listener: { receive: (text: Buffer) => void },
): Promise<{ hash: string; height: number }> {
  const { hash, height } = await readHead(asker);
  if (hash !== null) return { hash, height };
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(loadError('NO_HEAD', {})), HEAD_MS);
    listener.receive = (text) => {
      const event = readChainEvent(text);
      if (event?.kind !== 'proposal') return;
      clearTimeout(timer);
      resolve({ hash: event.parent, height: event.height - 1 });
    };
  });
}

/** Signs ahead and reports the amounts. */
async function prepareBlocks(blocks: BlocksAhead, head: string): Promise<string> {
  const started = performance.now();
  await blocks.prepare(head);
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  const { blocks: count, votes, transactions } = blocks.waiting;
  const what = `${count} blocks, ${votes} votes and ${transactions} transactions`;
  return `${what} signed ahead in ${seconds} s`;
}
