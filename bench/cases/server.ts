/**
 * Cases for a whole server under load: `server` by thread, with votes and with transactions,
 * `plain` compared with a plain server, and `reads`. On machines with more cores, the engine thread
 * is the limit, because only one thread orders requests. The load generator runs on the same
 * machine.
 */
import { defineCase, type Round, type Row } from '../case.js';
import { getRate, postRate } from '../clients/clients.js';
import { countRounds, NETWORK_ID, postedBlocks } from '../fixtures/chain.js';
import { type LoadMeasurement, load, type ServerLoadOptions } from '../servers/load.js';
import { withBare, withFolkmoot, withPlain } from '../servers/processes.js';

interface ServerOptions {
  seconds: number;
}

/** With fewer requests in flight, the server would spend most of the time waiting for the disk. */
export const CONNECTIONS = 512;
/** With fewer agents, blocks would end too often. */
export const VOTES = {
  workload: 'votes',
  agents: 4_000,
  concurrency: CONNECTIONS,
  connections: CONNECTIONS,
  // A new server spends most of its time compiling.
  warmupMs: 3_000,
} as const;
/** Concurrent proposals, so that the next proposal is ready when a block is decided. */
export const TRANSACTIONS = { workload: 'transactions', concurrency: 4, batch: 1_000 } as const;

async function measureServer({ seconds }: ServerOptions, { r, seed }: Round): Promise<Row[]> {
  const measure = (options: Omit<ServerLoadOptions, 'durationMs' | 'seed'>) =>
    withFolkmoot((server) => load(server, { ...options, durationMs: 1000 * seconds, seed }));
  const votes = await measure(VOTES);
  const filled = await measure(TRANSACTIONS);
  const { entries, threads } = votes.spent;
  const votesPerSecond = votes.result.arrivals.accepted_per_s;
  const { tps } = filled.result.transactions;
  // Each entry has one signature, and each transaction in the entry adds one.
  const transactions = filled.spent.signatures - filled.spent.entries;
  const [voteName, transactionName] = ['vote', 'transaction in a block of 1,000'];
  return [
    { name: `${voteName}, over HTTP`, ...figures(votes, votesPerSecond, r, votes.cpuUs) },
    ...threadRows(voteName, entries, votes),
    {
      name: 'finalized transactions, blocks of 1,000',
      ...figures(filled, tps, r, filled.cpuUsPerSignature),
    },
    ...threadRows(transactionName, transactions, filled),
    { name: 'votes/s over HTTP, relative to R', ratio: votesPerSecond / r, wanted: 0.5 },
    {
      name: 'transactions in blocks of 1,000, http: finalized TPS, relative to R',
      ratio: tps / r,
      wanted: 1,
    },
    // Relative to one libsodium verification, because absolute times depend on the machine.
    ...(threads === null
      ? []
      : [
          {
            name: "the engine's thread for a vote over HTTP",
            value: (r * threads.engine) / entries,
            unit: '/ R',
            allowed: 1.2,
          },
        ]),
  ];
}

function figures({ idle, note }: LoadMeasurement, per_s: number, r: number, cpu_us: number) {
  return {
    per_s,
    of_r: per_s / r,
    cpu_us,
    ...(idle === null ? {} : { idle }),
    ...(note === '' ? {} : { note }),
  };
}

type Rate = Awaited<ReturnType<typeof getRate>>;

const rowsRelativeTo =
  (r: number) =>
  (name: string, { perSecond, cpuUs: cpu_us }: Pick<Rate, 'perSecond' | 'cpuUs'>): Row => ({
    ...{ name, per_s: perSecond, of_r: perSecond / r, cpu_us },
  });

/** Returns one row per kind of thread that worked. */
function threadRows(name: string, count: number, { spent: { threads } }: LoadMeasurement): Row[] {
  if (threads === null) return [{ name, note: 'thread times are not available here' }];
  return Object.entries(threads).map(([thread, seconds]) => ({
    name: `${name}: ${thread}`,
    cpu_us: (1e6 * seconds) / count,
  }));
}

export const serverCase = defineCase<ServerOptions>({
  name: 'server',
  about: 'votes and transactions over HTTP, relative to R, with the CPU time of each thread',
  everyRound: true,
  sizes: { small: { seconds: 2.5 }, large: { seconds: 15 } },
  run: measureServer,
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

async function measurePlain(
  { agents, warmUp, blocks }: PlainOptions,
  round: Round,
): Promise<Row[]> {
  const { r, seed } = round;
  // Both servers receive the same bytes.
  const posted = postedBlocks(seed, agents, warmUp + blocks);
  const load = { connections: CONNECTIONS, warmUp: countRounds(warmUp) };
  const network = ['--network-id', NETWORK_ID];
  const folkmoot = await withFolkmoot((server) => postRate(server, posted, load), network);
  const plain = await withPlain(NETWORK_ID, (server) => postRate(server, posted, load));
  const row = rowsRelativeTo(r);
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

// Reads: a server compared with a bare uWebSockets.js handler that sends the same bytes.

interface ReadsOptions {
  seconds: number;
}

export const STATE_PATH = '/api/v1/network/state';

async function measureReads({ seconds }: ReadsOptions, { r }: Round): Promise<Row[]> {
  const { folkmoot, body } = await withFolkmoot(async (server) => {
    const body = await (await fetch(server.url + STATE_PATH)).text();
    return { folkmoot: await getRate(server, STATE_PATH, seconds), body };
  });
  const bare = await withBare(body, (server) => getRate(server, STATE_PATH, seconds));
  const row = rowsRelativeTo(r);
  const answers = 'GET network/state: responses/s, relative to a bare handler';
  const cpu = 'GET network/state: responses per CPU time, relative to a bare handler';
  return [
    row(`GET ${STATE_PATH}`, folkmoot),
    row('the same bytes, bare uWebSockets.js', bare),
    { name: answers, ratio: folkmoot.perSecond / bare.perSecond, wanted: 0.5 },
    { name: cpu, ratio: bare.cpuUs / folkmoot.cpuUs, wanted: 0.75 },
  ];
}

export const readsCase = defineCase<ReadsOptions>({
  name: 'reads',
  about: 'GET network/state of a server, relative to a bare uWebSockets.js handler',
  everyRound: true,
  sizes: { small: { seconds: 1 }, large: { seconds: 10 } },
  run: measureReads,
});
