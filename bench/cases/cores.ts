/**
 * A server on 1, 2, 4, 8 and 16 cores, with the client on other cores where the machine has them,
 * and the plain server with one process per core beside it. Shows which thread limits the server.
 */
import { execFileSync } from 'node:child_process';
import { defineCase, type Round, type Row } from '../case.js';
import { getRate, postRate } from '../clients/clients.js';
import { countRounds, NETWORK_ID, postedBlocks } from '../fixtures/chain.js';
import type { MeasuredServer } from '../servers/child-server.js';
import { type LoadMeasurement, load, type ServerLoadOptions } from '../servers/load.js';
import { type FolkmootServer, withFolkmoot, withPlain } from '../servers/processes.js';
import { CONNECTIONS, STATE_PATH, TRANSACTIONS, VOTES } from './server.js';

interface CoresOptions {
  /** Numbers of cores to measure, if the machine has them. */
  counts: readonly number[];
  /** Length of each measurement. */
  seconds: number;
  /** Agents that vote, and agents of the measurement with the same bytes. */
  voters: number;
  agents: number;
  /** Blocks before the measurement with the same bytes, and blocks of that measurement. */
  warmUp: number;
  blocks: number;
}

export async function measureCores(options: CoresOptions, round: Round): Promise<Row[]> {
  const machine = new Machine();
  const { counts } = options;
  const missing = counts.filter((cores) => cores > machine.cores.length);
  const rows: Row[] = [];
  try {
    for (const cores of counts) {
      if (missing.includes(cores)) continue;
      machine.split(cores);
      rows.push(...(await measureOn(machine, options, round)));
    }
  } finally {
    machine.join();
  }
  if (missing.length === 0) return rows;
  const note = `this machine has ${machine.cores.length} cores for the benchmark`;
  return [...rows, { name: `not measured: ${missing.join(', ')} cores`, note }];
}

/** Assigns the cores that this process may use to servers and to the client, with `taskset`. */
class Machine {
  /** Numbers of the cores. */
  readonly cores = allowedCores();
  #server: readonly number[] = [];
  #client: readonly number[] = [];

  /** Number of cores of the server. */
  get count(): number {
    return this.#server.length;
  }

  /** True if the client uses cores of the server, because there are no others. */
  get shared(): boolean {
    return this.#client[0] === this.#server[0];
  }

  split(count: number): void {
    this.#server = this.cores.slice(0, count);
    const others = this.cores.slice(count);
    this.#client = others.length > 0 ? others : this.cores;
  }

  join(): void {
    pin(this.cores);
  }

  /**
   * Starts a server on its cores, and works with it from the cores of the client. A process
   * inherits the cores of the thread that starts it.
   */
  run<S, T>(
    start: (work: (server: S) => Promise<T>) => Promise<T>,
    work: (server: S) => Promise<T>,
  ): Promise<T> {
    pin(this.#server);
    return start((server) => {
      pin(this.#client);
      return work(server);
    });
  }
}

/** Pins all threads of this process. Tries again, because `taskset` fails if a thread ends. */
function pin(cores: readonly number[], attempts = 5): void {
  try {
    taskset('-apc', cores.join(','), String(process.pid));
  } catch (error) {
    if (attempts === 1) throw error;
    pin(cores, attempts - 1);
  }
}

function allowedCores(): number[] {
  const list = /list: ([\d,-]+)/.exec(taskset('-pc', String(process.pid)))?.[1] ?? '';
  return list.split(',').flatMap((part) => {
    const [first = 0, last = first] = part.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}

function taskset(...args: readonly string[]): string {
  try {
    return execFileSync('taskset', args, { encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    throw new Error('taskset failed; run the case on Linux, with util-linux', { cause: error });
  }
}

async function measureOn(
  machine: Machine,
  { seconds, voters, agents, warmUp, blocks }: CoresOptions,
  { r, seed }: Round,
): Promise<Row[]> {
  const network = ['--network-id', NETWORK_ID];
  const folkmoot = <T>(work: (server: FolkmootServer) => Promise<T>, more: string[] = []) =>
    machine.run((run) => withFolkmoot(run, more), work);
  const measure = (options: Omit<ServerLoadOptions, 'durationMs' | 'seed'>) =>
    folkmoot((server) => load(server, { ...options, durationMs: 1_000 * seconds, seed }));
  const voting = { ...VOTES, agents: voters };
  const votes = await measure(voting);
  const filled = await measure(TRANSACTIONS);
  const reads = await folkmoot((server) => getRate(server, STATE_PATH, seconds));
  const votesPerS = votes.result.arrivals.accepted_per_s;
  const half = await measure({ ...voting, concurrency: null, rate: votesPerS / 2 });
  const posted = postedBlocks(seed, agents, warmUp + blocks);
  const post = (server: MeasuredServer) =>
    postRate(server, posted, { connections: CONNECTIONS, warmUp: countRounds(warmUp) });
  const same = await folkmoot(post, network);
  const plain = await machine.run(
    (run: (server: MeasuredServer) => Promise<typeof same>) =>
      withPlain(NETWORK_ID, run, machine.count),
    post,
  );
  const transactions = filled.spent.signatures - filled.spent.entries;
  const { tps } = filled.result.transactions;
  const p99 = half.result.operations.find(({ operation }) => operation === 'vote')?.response.p99;
  const notes = [...new Set([votes, filled, half].map(({ note }) => note))].filter(Boolean);
  if (machine.shared) notes.push('the client shares the cores');
  const row = (name: string, figures: Omit<Row, 'name'>): Row => ({
    name: `${name} (cores: ${machine.count})`,
    cores: machine.count,
    ...figures,
  });
  return [
    row('votes', { per_s: votesPerS, of_r: votesPerS / r, note: notes.join(', ') || 'no limit' }),
    row('transactions', { per_s: tps, of_r: tps / r }),
    row('reads', { per_s: reads.perSecond }),
    ...(p99 == null ? [] : [row('p99', { value: p99, unit: 'ms' })]),
    row('same client', { per_s: same.perSecond }),
    row('plain', { per_s: plain.perSecond, ratio: same.perSecond / plain.perSecond }),
    ...threadRows('vote', votes, votes.spent.entries, r, row),
    ...threadRows('transaction', filled, transactions, r, row),
  ];
}

/** CPU time of each kind of thread for one item, in units of 1/R. */
function threadRows(
  item: string,
  { spent: { threads } }: LoadMeasurement,
  count: number,
  r: number,
  row: (name: string, figures: Omit<Row, 'name'>) => Row,
): Row[] {
  return Object.entries(threads ?? {}).map(([thread, seconds]) =>
    row(`${item}: ${thread}`, { value: (r * seconds) / count, unit: '/ R' }),
  );
}

const counts = [1, 2, 4, 8, 16];

export const coresCase = defineCase<CoresOptions>({
  name: 'cores',
  about: 'a server on 1 to 16 cores, relative to R and to a plain server with a process per core',
  everyRound: true,
  sizes: {
    small: { counts, seconds: 2.5, voters: VOTES.agents, agents: 2_000, warmUp: 6, blocks: 12 },
    large: { counts, seconds: 15, voters: VOTES.agents, agents: 4_000, warmUp: 12, blocks: 36 },
  },
  run: measureCores,
});
