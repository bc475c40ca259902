/** Load tests against a folkmoot server, with the server's CPU time. */
import { type LoadOptions, loadDefaults, workloadOf } from '../load/options.js';
import type { LoadResult } from '../load/result.js';
import { runLoad } from '../load/run.js';
import { type ByThread, type FolkmootServer, spentBetween, threadSeconds } from './processes.js';

export interface LoadMeasurement {
  result: LoadResult;
  /** Server CPU time per log entry, in microseconds. */
  cpuUs: number;
  /** Server CPU time per verified signature, in microseconds. */
  cpuUsPerSignature: number;
  /**
   * Fraction of the measured time in which the verifier pool's threads did not run, for lack of
   * work or of a free core. Null if threads cannot be distinguished.
   */
  idle: number | null;
  /**
   * Work done and CPU time used during the measurement. `threads` is null if threads cannot be
   * distinguished.
   */
  spent: { entries: number; signatures: number; threads: ByThread | null };
  /** Empty, or the verdict if the verdict is not VALID. */
  note: string;
}

export type ServerLoadOptions = Pick<
  LoadOptions,
  'workload' | 'concurrency' | 'durationMs' | 'seed'
> &
  Partial<LoadOptions>;

export async function load(
  server: FolkmootServer,
  wanted: ServerLoadOptions,
): Promise<LoadMeasurement> {
  const { agents, batch } = workloadOf(wanted.workload);
  const samples: Promise<Sample>[] = [];
  const options: LoadOptions = {
    ...loadDefaults,
    url: server.url,
    rate: null,
    agents,
    batch,
    // A new server spends half of its time compiling.
    warmupMs: 1_500,
    keepAgents: true,
    ...wanted,
  };
  const result = await runLoad(options, {
    onSecond: ({ phase }) => {
      if (phase === 'measured') samples.push(sampleOf(server));
    },
  });
  const { ended, verdict, reasons, arrivals } = result;
  if (ended !== 'complete' || arrivals.accepted === 0) {
    throw new Error(`load run not usable: ${[verdict, ...reasons].join('; ')}`);
  }
  const taken = await Promise.all(samples);
  const first = taken[0];
  const last = taken.at(-1);
  if (!first || !last || first === last)
    throw new Error('load run too short (expected at least 2 s)');
  return {
    result,
    ...figuresBetween(server.pid, first, last),
    note: verdict === 'VALID' ? '' : verdict,
  };
}

interface Sample {
  atMs: number;
  cpuSeconds: number;
  entries: number;
  signatures: number;
  /** Threads of the verifier pool. */
  poolThreads: number;
  threads: Map<string, number> | null;
}

async function sampleOf(server: FolkmootServer): Promise<Sample> {
  const metrics = await server.metrics();
  const metric = (name: string) => metrics.get(`folkmoot_${name}`) ?? 0;
  return {
    atMs: performance.now(),
    cpuSeconds: metric('process_cpu_seconds_total'),
    entries: metric('committed_entries_total'),
    signatures: metric('verified_total'),
    poolThreads: metric('verify_threads'),
    threads: threadSeconds(server.pid),
  };
}

function figuresBetween(pid: number, first: Sample, last: Sample) {
  const entries = last.entries - first.entries;
  const signatures = last.signatures - first.signatures;
  if (entries === 0) throw new Error('no log entry during the load run');
  const spentUs = 1e6 * (last.cpuSeconds - first.cpuSeconds);
  const threads =
    first.threads && last.threads
      ? spentBetween(pid, first.threads, last.threads, last.poolThreads)
      : null;
  const poolSeconds = (last.poolThreads * (last.atMs - first.atMs)) / 1000;
  return {
    cpuUs: spentUs / entries,
    cpuUsPerSignature: spentUs / signatures,
    idle: threads && poolSeconds > 0 ? Math.max(0, 1 - threads.verifier / poolSeconds) : null,
    spent: { entries, signatures, threads },
  };
}
