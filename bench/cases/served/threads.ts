/**
 * What each thread of a server works for a vote, a transaction, a read and a delivery. What
 * the engine's thread pays is how far a machine with more cores gets: only one thread orders.
 */
import { defineCase, type Round } from '../../case.js';
import { getRate } from '../../clients/get.js';
import type { Row } from '../../result.js';
import { withFolkmoot } from '../../servers/folkmoot.js';
import { type Loaded, load, type Wanted } from '../../servers/load.js';
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
/** Proposals under way: the next one is there when a block is decided. */
const BLOCKS = { concurrency: 4 };

async function run(asked: Configuration, { r, seed }: Round): Promise<Row[]> {
  const votes = await loaded(asked, seed, { workload: 'votes', ...VOTES });
  const filled = await loaded(asked, seed, { workload: 'transactions', ...BLOCKS, batch: BATCH });
  const read = await withFolkmoot((server) => getRate(server, PATH, asked.seconds));
  const { folkmoot } = await fannedOutBy(asked, seed);
  return [
    ...rows('vote', votes.entries, votes.threads),
    ...rows(`transaction in a block of ${BATCH}`, transactionsOf(filled), filled.threads),
    ...rows(`GET ${PATH}`, read.spent.answers, read.spent.threads),
    ...rows('delivery of an event', folkmoot.spent.deliveries, folkmoot.spent.threads),
    ...goal(r, votes),
  ];
}

async function loaded(
  { seconds }: Configuration,
  seed: string,
  asked: Omit<Wanted, 'durationMs' | 'seed'>,
): Promise<Loaded['spent']> {
  const wanted = { durationMs: 1000 * seconds, seed, ...asked };
  return (await withFolkmoot((server) => load(server, wanted))).spent;
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
  ];
}

/** Beside what libsodium takes for one signature: absolute times depend on the machine. */
function goal(r: number, { entries, threads }: Loaded['spent']): Row[] {
  if (threads === null) return [];
  const name = "the engine's thread for a vote over HTTP";
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
