/**
 * The workloads `votes` and `transactions`, and the chain that they build, ready to run. In `votes`
 * every agent is a validator, and each vote that a block needs is an arrival. The proposal between
 * two blocks is sent beside them, and they wait for it meanwhile.
 */

import { authInput } from '../../../engine/protocol/signing.js';
import { AgentPool, computeSupplySeconds } from '../agents.js';
import { BlocksAhead } from '../blocks.js';
import { Chain } from '../chain.js';
import { EventStream } from '../event-stream.js';
import { arrivalsPerS, type LoadOptions } from '../options.js';
import { LoadError, readHead, validatorKeys } from '../server.js';
import { signEach } from '../signers.js';
import { countNeeded, readChainEvent } from '../voting.js';
import type { Workload } from '../workload.js';

/** Votes signed ahead for each second of a closed loop. */
const VOTES_GUESS_PER_S = 10_000;

export function votes({ rate, batch }: LoadOptions): Workload {
  const votesPerS = rate ?? VOTES_GUESS_PER_S;
  return chained({ arrivals: 'votes', batch, blocksPerS: (needed) => votesPerS / needed });
}

/*
 * The workload `transactions`: each arrival is a proposal with a batch of transactions, which few
 * validators approve at once. The next one waits until it is decided.
 */

/** Transactions signed ahead for each second of a closed loop. */
const TRANSACTIONS_GUESS_PER_S = 5_000;
/** Of one block, by the protocol. */
const MOST_TRANSACTIONS = 1_000;

/** @throws {LoadError} when no block holds as many. */
export function transactions(options: LoadOptions): Workload {
  const { batch } = options;
  if (batch < 1 || batch > MOST_TRANSACTIONS) {
    throw new LoadError(`${batch} transactions a block: expected 1 to ${MOST_TRANSACTIONS}`);
  }
  const blocksPerS = arrivalsPerS(options) ?? TRANSACTIONS_GUESS_PER_S / batch;
  return chained({ arrivals: 'proposals', batch, blocksPerS: () => blocksPerS });
}

function chained(plan: AssemblyPlan): Workload {
  let pool: AgentPool | null = null;
  let chain: Chain | null = null;
  return {
    async prepare(context, progress) {
      pool = new AgentPool(context, progress);
      await pool.gather();
      chain = await assemble(pool, plan);
      pool.ready();
      return { subscribers: 0 };
    },
    next: (intendedMs) => chain!.next(intendedMs),
    waitsFor: () => chain!.waitsFor,
    limit: (perS) => chain!.limit(perS),
    drain: async (signal) => chain?.drain(signal),
    close: async () => pool?.close(),
    signed: () => pool!.record.signed,
  };
}

interface AssemblyPlan {
  /** What the schedule's arrivals are. */
  arrivals: 'votes' | 'proposals';
  /** Transactions a block. */
  batch: number;
  /** How many blocks of so many votes a second the run is expected to need. */
  blocksPerS(votes: number): number;
}

/** More producers than this never have a block open at a time. */
const PRODUCERS = 8;
/** Their keys need not be registered; far from those of the agents. */
const senders = { first: 1_000_000_000, count: 1_024 };
/** The default voting period; a block that takes longer expires. */
const VOTING_S = 30;
/** For a server that does not show its head, to be seen proposing. */
const HEAD_MS = 10_000;

/** Their chain, which ends with the pool. @throws {LoadError} when they could decide no block. */
export async function assemble(pool: AgentPool, plan: AssemblyPlan): Promise<Chain> {
  const { context, progress, signers, record, asker } = pool;
  const count = context.options.agents;
  const producers = Math.min(PRODUCERS, count);
  if (plan.batch > 0 && pool.surroundings.networkId === null) throw new LoadError(noNetwork);
  const keys = await pool.keys(count);
  const validators = await electorateWith(pool, keys);
  await pool.register(keys, (ordinal) =>
    ordinal < producers ? ['validator', 'producer'] : ['validator'],
  );
  const listener: { receive: (text: Buffer) => void } = { receive: () => {} };
  await listenToChain(pool, (text) => listener.receive(text));
  const needed = countNeeded(validators);
  const blocksPerS = plan.blocksPerS(needed);
  if (blocksPerS < 1 / VOTING_S) progress(tooSlow(1 / blocksPerS));
  let chain: Chain | null = null;
  const blocks = new BlocksAhead({
    signers,
    voters: count,
    producers,
    batch: plan.batch,
    senders,
    needed,
    expected: Math.ceil(blocksPerS * computeSupplySeconds(context)),
    blockMs: 1_000 / blocksPerS,
    now: pool.now,
    onReady: () => chain?.advance(),
    onFailed: pool.signingFailed,
  });
  pool.atEnd(() => blocks.close());
  const head = await headOf(pool, listener);
  progress(await prepareBlocks(blocks, head.hash));
  const { takesEarly } = pool.surroundings;
  const means = { context, asker, agents: pool.agents, blocks, record, takesEarly };
  chain = new Chain({ ...means, head, validators, senders, arrivals: plan.arrivals });
  pool.atEnd(() => chain?.close());
  listener.receive = (text) => chain?.receive(text);
  return chain;
}

const tooSlow = (seconds: number) =>
  `a block takes ${Math.round(seconds)} s at this rate, and most networks let it expire after ` +
  `${VOTING_S} s: for blocks that are decided, ask for a higher rate or fewer agents`;

const noNetwork =
  'the server shows its network_id neither in GET /api/v1/network/state nor in /api/v1/meta: ' +
  'transactions cannot be signed without it; the workloads votes, reads and subscribers need none';

/** Active validators when all of ours are. @throws {LoadError} when ours cannot decide alone. */
async function electorateWith({ asker }: AgentPool, keys: readonly string[]): Promise<number> {
  const ours = new Set(keys);
  const others = (await validatorKeys(asker)).filter((key) => !ours.has(key)).length;
  const needed = countNeeded(others + keys.length);
  if (needed <= keys.length) return others + keys.length;
  throw new LoadError(
    `${others} other validators are active on the server: a block would need ${needed} ` +
      `approvals, and this run has ${keys.length} agents; run it with --agents ` +
      `${2 * others + 1} or more, or on a server of its own`,
  );
}

/** Opt-in topics spare it other agents' votes, where the server has them. */
async function listenToChain(pool: AgentPool, receive: (text: Buffer) => void): Promise<void> {
  const { context, now, signers } = pool;
  const { url } = context.options;
  const { ordinal: agent, publicKey } = pool.agents[0]!;
  const timestamp = new Date(now()).toISOString();
  const input = authInput(publicKey, timestamp);
  const [signature] = await signEach(signers, [{ agent, input }]);
  const auth = JSON.stringify({ type: 'auth', public_key: publicKey, timestamp, signature });
  const onClosed = (code: number) =>
    context.fail(`the event stream was closed with ${code}: finality cannot be seen without it`);
  const stream = await EventStream.open({ url, auth, receive, onClosed });
  pool.atEnd(() => stream.close());
  const known = await stream.subscribe(['network', 'outcomes', 'proposals']);
  if (known !== 'acknowledged') await stream.expect(['network', 'blocks']);
}

/** From the server, or from what the others propose upon. */
async function headOf(
  { asker }: AgentPool,
  listener: { receive: (text: Buffer) => void },
): Promise<{ hash: string; height: number }> {
  const { hash, height } = await readHead(asker);
  if (hash !== null) return { hash, height };
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new LoadError(noHead)), HEAD_MS);
    listener.receive = (text) => {
      const event = readChainEvent(text);
      if (event?.kind !== 'proposal') return;
      clearTimeout(timer);
      resolve({ hash: event.parent, height: event.height - 1 });
    };
  });
}

const noHead =
  'the server shows the hash of its head neither in GET /api/v1/network/state nor in ' +
  '/api/v1/blocks, and nobody proposed a block: expected one of them, or a fresh network';

/** Signs ahead, and says what. */
async function prepareBlocks(blocks: BlocksAhead, head: string): Promise<string> {
  const started = performance.now();
  await blocks.prepare(head);
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  const { blocks: count, votes, transactions } = blocks.waiting;
  const what = `${count} blocks, ${votes} votes and ${transactions} transactions`;
  return `${what} are signed ahead, in ${seconds} s`;
}
