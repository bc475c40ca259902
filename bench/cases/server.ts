/**
 * Cases for a whole server under load: by thread, with transactions, and compared with a plain
 * server. `threads` reports each thread's CPU time for a vote, a transaction, a read and a
 * delivery. On machines with more cores, the engine thread is the limit, because only one thread
 * orders requests.
 */

import { readdirSync, readFileSync } from 'node:fs';
import type { Profiler } from 'node:inspector';
import { join } from 'node:path';
import { defineCase, type Round, type Row } from '../case.js';
import { getRate, postRate } from '../clients/clients.js';
import { countRounds, NETWORK_ID, postedBlocks } from '../fixtures/chain.js';
import { withFolder } from '../fixtures/network.js';
import { type LoadMeasurement, load, type ServerLoadOptions } from '../servers/load.js';
import { type ByThread, withFolkmoot, withPlain } from '../servers/processes.js';
import { fannedOutBy } from './feed.js';
import { attributeSamples, type Part } from './simulator.js';

interface ThreadsOptions {
  seconds: number;
  subscribers: number;
  events: number;
}

const PATH = '/api/v1/network/state';
const BATCH = 1_000;
/** Same values as in the tiers. With fewer agents, blocks would end too often. */
const VOTES = { agents: 4_000, concurrency: 512, connections: 512, warmupMs: 3_000 };
/** Concurrent proposals, so that the next proposal is ready when a block is decided. */
const BLOCKS = { concurrency: 4 };

async function measureThreads(asked: ThreadsOptions, { r, seed }: Round): Promise<Row[]> {
  const votes = await measureUnderLoad(asked, seed, { workload: 'votes', ...VOTES });
  const filled = await measureUnderLoad(asked, seed, {
    workload: 'transactions',
    ...BLOCKS,
    batch: BATCH,
  });
  const read = await withFolkmoot((server) => getRate(server, PATH, asked.seconds));
  const { folkmoot } = await fannedOutBy(asked, seed);
  return [
    ...rows('vote', votes.entries, votes.threads),
    ...rows(`transaction in a block of ${BATCH}`, transactionsOf(filled), filled.threads),
    ...rows(`GET ${PATH}`, read.spent.answers, read.spent.threads),
    ...rows('delivery of an event', folkmoot.spent.deliveries, folkmoot.spent.threads),
    ...goal("the engine's thread for a vote over HTTP", r, votes),
  ];
}

async function measureUnderLoad(
  { seconds }: ThreadsOptions,
  seed: string,
  asked: Omit<ServerLoadOptions, 'durationMs' | 'seed'>,
): Promise<LoadMeasurement['spent']> {
  const wanted = { durationMs: 1000 * seconds, seed, ...asked };
  return (await withFolkmoot((server) => load(server, wanted))).spent;
}

/** Each entry has one signature, and each transaction in the entry adds one. */
const transactionsOf = ({ entries, signatures }: LoadMeasurement['spent']) => signatures - entries;

/**
 * Returns one row per kind of thread that worked, or no rows if threads cannot be distinguished.
 */
function rows(name: string, count: number, threads: ByThread | null): Row[] {
  if (threads === null) return [{ name, note: 'thread times are not available here' }];
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

/**
 * Expressed relative to one libsodium verification, because absolute times depend on the machine.
 */
function goal(name: string, r: number, { entries, threads }: LoadMeasurement['spent']): Row[] {
  if (threads === null) return [];
  return [{ name, value: (r * threads.engine) / entries, unit: '/ R', allowed: 1.2 }];
}

export const threadsCase = defineCase<ThreadsOptions>({
  name: 'threads',
  about: 'CPU time of each server thread for a vote, a transaction, a read and a delivery',
  sizes: {
    small: { seconds: 2.5, subscribers: 1_000, events: 60 },
    large: { seconds: 15, subscribers: 1_000, events: 1_000 },
  },
  run: measureThreads,
});

/*
 * Finalized transactions in blocks of 1,000 over HTTP. Each transaction has a signature to verify,
 * and four validators decide each block. The load generator runs on the same machine.
 */

interface TransactionsOptions {
  seconds: number;
}

/** Concurrent proposals, so that the next proposal is ready when a block is decided. */
const CONCURRENCY = 4;

async function measureTransactions(
  { seconds }: TransactionsOptions,
  { r, seed }: Round,
): Promise<Row[]> {
  const { result, cpuUsPerSignature, idle, note } = await withFolkmoot((server) =>
    load(server, {
      workload: 'transactions',
      concurrency: CONCURRENCY,
      batch: BATCH,
      durationMs: 1000 * seconds,
      seed,
    }),
  );
  const { tps } = result.transactions;
  return [
    {
      name: 'finalized transactions, blocks of 1,000',
      per_s: tps,
      of_r: tps / r,
      cpu_us: cpuUsPerSignature,
      ...(idle === null ? {} : { idle }),
      ...(note === '' ? {} : { note }),
    },
    {
      name: 'transactions in blocks of 1,000, http: finalized TPS, relative to R',
      ratio: tps / r,
      wanted: 1,
    },
  ];
}

export const transactionsCase = defineCase<TransactionsOptions>({
  name: 'transactions',
  about: 'finalized transactions in blocks of 1,000 over HTTP, relative to R',
  everyRound: true,
  sizes: { small: { seconds: 2 }, large: { seconds: 15 } },
  run: measureTransactions,
});

/*
 * Signed votes over HTTP: `folkmoot serve` compared with a plain server (`bench/plain-server.ts`).
 * The same client sends the same bytes to one server after the other.
 */

interface PlainOptions {
  agents: number;
  /** Blocks before the measurement, because a new server is still compiling. */
  warmUp: number;
  blocks: number;
}

/** With fewer requests in flight, the server would spend most of the time waiting for the disk. */
const CONNECTIONS = 512;
async function measurePlain(
  { agents, warmUp, blocks }: PlainOptions,
  round: Round,
): Promise<Row[]> {
  const { r, seed } = round;
  // Both servers receive the same bytes.
  const posted = postedBlocks(seed, agents, warmUp + blocks);
  const load = { connections: CONNECTIONS, warmUp: countRounds(warmUp) };
  const network = ['--network-id', NETWORK_ID];
  const folkmoot = await withFolkmoot((server) => postRate([server], posted, load), network);
  const plain = await withPlain(NETWORK_ID, (server) => postRate([server], posted, load));
  const row = (name: string, { perSecond, cpuUs }: typeof plain): Row => ({
    name,
    per_s: perSecond,
    of_r: perSecond / r,
    cpu_us: cpuUs,
  });
  return [
    row('signed votes, folkmoot serve', folkmoot),
    row('the same votes, fastify + node:crypto + LMDB', plain),
    { name: 'the same per CPU time', ratio: plain.cpuUs / folkmoot.cpuUs },
    {
      name: 'signed votes/s, relative to fastify + node:crypto + LMDB, same client',
      ratio: folkmoot.perSecond / plain.perSecond,
      wanted: 1.5,
    },
  ];
}

export const plainCase = defineCase<PlainOptions>({
  name: 'plain',
  about: 'signed votes over HTTP, relative to a plain server (fastify, node:crypto, LMDB)',
  everyRound: true,
  sizes: {
    small: { agents: 2_000, warmUp: 6, blocks: 12 },
    large: { agents: 4_000, warmUp: 12, blocks: 36 },
  },
  run: measurePlain,
});

/*
 * The CPU time of a vote at a server, part by part: the engine's thread by a CPU profile, the other
 * threads by their clocks.
 */

interface ServedVoteOptions {
  seconds: number;
}

/** The first match counts. */
const engineParts: readonly Part[] = [
  ['HTTP: heads, bodies, responses', /\/api\/transport\//],
  ['routes, limits, metrics, steps of a write', /\/api\/(http|limits|contract|server)/],
  ['verifier pool: queue, batches, messages', /\/engine\/crypto\/|\/piscina\//],
  ['canonical JSON', /\/engine\/(node\/encode|protocol\/canonical)/],
  ['frames and digests', /\/engine\/protocol\/(log|sha256)/],
  ['admission: parse, check, signing input', /\/(engine\/(admit|protocol)|api\/checks)\//],
  ['apply: rules, state machines, tallies', /\/engine\/(core|rules)\//],
  ['LMDB', /\/engine\/store\/|\/(lmdb|ordered-binary)\//],
  ['order, group commit, index, publish', /\/engine\/node\/|\/api\/socket\//],
];

async function measureServedVote(
  { seconds }: ServedVoteOptions,
  { r, seed }: Round,
): Promise<Row[]> {
  const wanted = { workload: 'votes', ...VOTES, durationMs: 1000 * seconds, seed } as const;
  const { spent, sums } = await withFolder(async (folder) => {
    const flags = ['--cpu-prof', `--cpu-prof-dir=${folder}`];
    let untilUs = 0;
    const { spent } = await withFolkmoot(
      async (server) => {
        const measured = await load(server, wanted);
        untilUs = Number(process.hrtime.bigint() / 1000n);
        return measured;
      },
      [],
      flags,
    );
    const sums = attributeSamples(mainProfile(folder), engineParts, untilUs - 1e6 * seconds);
    return { spent, sums };
  });
  const { entries, threads } = spent;
  if (threads === null) return [{ name: 'a vote', note: 'thread times are not available here' }];
  const row = (name: string, perVote: number): Row => ({
    name,
    cpu_us: 1e6 * perVote,
    value: r * perVote,
    unit: '/ R',
  });
  const all = [...sums.values()].reduce((sum, us) => sum + us, 0);
  const ofEngine = (us: number) => ((us / all) * threads.engine) / entries;
  const names = [...engineParts.map(([name]) => name), ...sums.keys()];
  return [
    ...[...new Set(names)].map((name) => row(name, ofEngine(sums.get(name) ?? 0))),
    row("the engine's thread", threads.engine / entries),
    row('the verifier pool', threads.verifier / entries),
    row('the rest: commits, garbage collection, compilation', threads.rest / entries),
    row('all threads', (threads.engine + threads.verifier + threads.rest) / entries),
  ];
}

/** Reads the profile of a process's main thread, which is thread 0. */
function mainProfile(folder: string): Profiler.Profile {
  const name = readdirSync(folder).find((file) =>
    /^CPU\.\d+\.\d+\.\d+\.0\.\d+\.cpuprofile$/.test(file),
  );
  if (!name) throw new Error(`no CPU profile in ${folder}`);
  return JSON.parse(readFileSync(join(folder, name), 'utf8')) as Profiler.Profile;
}

export const servedVoteCase = defineCase<ServedVoteOptions>({
  name: 'served-vote',
  about: 'CPU time of a vote at a server, part by part, from a CPU profile',
  sizes: { small: { seconds: 4 }, large: { seconds: 15 } },
  run: measureServedVote,
});
