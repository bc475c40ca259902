/**
 * What each thread of a server works for a vote, a transaction, a read and a delivery. What
 * the engine's thread pays is how far a machine with more cores gets: only one thread orders.
 */
import { defineCase, type Round } from '../../case.js';
import { getRate } from '../../clients/get.js';
import type { Row } from '../../result.js';
import { withFolkmoot } from '../../servers/folkmoot.js';
import { type Loaded, load, POOL_THREADS, type Wanted } from '../../servers/load.js';
import type { ByThread } from '../../servers/threads.js';
import { fannedOutBy } from './fan-out.js';

interface Configuration {
  seconds: number;
  subscribers: number;
  events: number;
}

const PATH = '/api/v1/network/state';
const BATCH = 1_000;
/** As the tiers have it: with fewer agents, blocks end too often. */
const VOTES = { agents: 4_000, concurrency: 512, connections: 512, warmupMs: 3_000 };
/** The same with the connections in a process of their own. */
const FRONTED = ['--threads', '1'];
/** Proposals under way: the next one is there when a block is decided. */
const BLOCKS = { concurrency: 4 };

async function run(asked: Configuration, { r, seed }: Round): Promise<Row[]> {
  const { votes, rows: alone } = await all(asked, seed, []);
  const { votes: others, rows: beside } = await all(asked, seed, FRONTED);
  const fronted = beside.map((row) => ({ ...row, name: `${FRONTED.join(' ')}: ${row.name}` }));
  const name = "the engine's thread for a vote over HTTP";
  const goals = [goal(name, r, votes), goal(`${FRONTED.join(' ')}: ${name}`, r, others)];
  return [...alone, ...fronted, ...goals.flat()];
}

async function all(asked: Configuration, seed: string, more: readonly string[]) {
  // Fronts verify votes themselves; what is in a block is left to the pool.
  const pool = more.length > 0 ? 0 : POOL_THREADS;
  const votes = await loaded(asked, seed, { workload: 'votes', ...VOTES }, more, pool);
  const filled = await loaded(
    asked,
    seed,
    { workload: 'transactions', ...BLOCKS, batch: BATCH },
    more,
  );
  const read = await withFolkmoot((server) => getRate(server, PATH, asked.seconds), more);
  const { folkmoot } = await fannedOutBy(asked, seed, more);
  const found = [
    ...rows('vote', votes.entries, votes.threads),
    ...rows(`transaction in a block of ${BATCH}`, transactionsOf(filled), filled.threads),
    ...rows(`GET ${PATH}`, read.spent.answers, read.spent.threads),
    ...rows('delivery of an event', folkmoot.spent.deliveries, folkmoot.spent.threads),
  ];
  return { votes, rows: found };
}

async function loaded(
  { seconds }: Configuration,
  seed: string,
  asked: Omit<Wanted, 'durationMs' | 'seed'>,
  more: readonly string[],
  poolThreads = POOL_THREADS,
): Promise<Loaded['spent']> {
  const wanted = { durationMs: 1000 * seconds, seed, ...asked };
  return (await withFolkmoot((server) => load(server, wanted, poolThreads), more)).spent;
}

/** Each entry has a signature of its own, and each transaction in it another. */
const transactionsOf = ({ entries, signatures }: Loaded['spent']) => signatures - entries;

/** One for each kind of thread that worked; none where they cannot be told apart. */
function rows(name: string, count: number, threads: ByThread | null): Row[] {
  if (threads === null) return [{ name, note: 'threads cannot be told apart here' }];
  const row = (thread: string, seconds: number): Row => ({
    name: `${name}: ${thread}`,
    cpu_us: (1e6 * seconds) / count,
  });
  return [
    row('engine', threads.engine),
    ...(threads.verifier > 0 ? [row('verifier', threads.verifier)] : []),
    row('the rest', threads.rest),
    ...(threads.fronts > 0 ? [row('fronts', threads.fronts)] : []),
  ];
}

/** Beside what libsodium takes for one signature: absolute times depend on the machine. */
function goal(name: string, r: number, { entries, threads }: Loaded['spent']): Row[] {
  if (threads === null) return [];
  return [{ name, value: (r * threads.engine) / entries, unit: '/ R', allowed: 1.2 }];
}

export const threadsCase = defineCase<Configuration>({
  name: 'threads',
  about: 'the CPU time of each thread of a server for a vote, a transaction, a read, a delivery',
  sizes: {
    small: { seconds: 2.5, subscribers: 1_000, events: 60 },
    large: { seconds: 15, subscribers: 1_000, events: 1_000 },
  },
  run,
});
