/** `folkmoot load`: asks a live server as much as is wished, and says what it gave. */
import { randomBytes } from 'node:crypto';
import { Command, Option } from 'commander';
import type { LoadHooks, LoadOptions, LoadResult, WorkloadName } from '../bench/load/index.js';
import { type UrlFlags, withUrl } from './client-options.js';
import { exitCodes } from './exit.js';
import { showLoad } from './load-progress.js';
import { loadSummary } from './load-summary.js';
import { duration, integer, positive } from './options.js';
import { interruption } from './signals.js';
import { commitHash } from './version.js';

interface Flags extends UrlFlags {
  workload: WorkloadName;
  agents?: number;
  rate?: number;
  concurrency?: number;
  duration?: number;
  warmup?: number;
  batch?: number;
  timeout?: number;
  finalityTimeout?: number;
  connections?: number;
  seed?: string;
  keepAgents?: boolean;
  json?: boolean;
}

const names: readonly WorkloadName[] = ['votes', 'transactions', 'mixed', 'reads', 'subscribers'];
const span = (leastMs: number, mostMs: number) => duration({ leastMs, mostMs });
const HOUR_MS = 3_600_000;

export function loadCommand(): Command {
  return withUrl(new Command('load'))
    .description('measure how much a live server takes, and how long it takes')
    .addOption(
      new Option('--workload <name>', 'what is asked of it').choices(names).default('votes'),
    )
    .option(
      '--agents <n>',
      'agents that ask, each with a key',
      integer({ least: 1, most: 100_000 }),
    )
    .addOption(
      new Option('--rate <r>', 'a second, whatever the server does: open loop, the default')
        .argParser(positive(1_000_000))
        .conflicts('concurrency'),
    )
    .option(
      '--concurrency <c>',
      'requests under way, each after one before it: closed loop',
      integer({ least: 1, most: 10_000 }),
    )
    .option('--duration <d>', 'measured time (default: 10s)', span(100, 24 * HOUR_MS))
    .option('--warmup <d>', 'before it, not measured (default: 2s)', span(0, HOUR_MS))
    .option('--batch <tx>', 'transactions a block', integer({ least: 0, most: 10_000 }))
    .option('--timeout <d>', 'deadline of a request (default: 5s)', span(10, HOUR_MS))
    .option('--finality-timeout <d>', 'of a transaction (default: 30s)', span(10, HOUR_MS))
    .option('--connections <n>', 'at most (default: 128)', integer({ least: 1, most: 10_000 }))
    .option('--seed <text>', 'keys and choices follow from it; default: another each time')
    .option('--keep-agents', 'leave the agents active in the network')
    .option('--json', 'print the result as one JSON object on standard output')
    .addHelpText('after', help)
    .action(run);
}

const help = `
Latencies count from when a request was to be sent, so a server that stalls cannot hide it. The
verdict says whether figures can be trusted: VALID; UNSTABLE, the halves of the run disagree;
CLIENT_BOUND, the generator was too slow; INVALID, under 99 % of the rate was accepted. Durations
have a unit: 500ms, 10s, 2m. The rate of transactions is transactions a second.

Exit codes: 0 done; 1 the server is not there, or limits what was asked; 2 usage;
14 INVALID or CLIENT_BOUND.

Examples:
  $ folkmoot serve --limits off                            the server, in another terminal
  $ folkmoot load --workload reads --rate 2000
  $ folkmoot load --workload votes --agents 1000 --rate 3000 --duration 30s
  $ folkmoot load --workload reads --concurrency 32 --json`;

async function run(flags: Flags): Promise<void> {
  const load = await import('../bench/load/index.js');
  const defaults = load.workloadDefaults[flags.workload];
  const options: LoadOptions = {
    url: flags.url.replace(/\/+$/, ''),
    workload: flags.workload,
    rate: flags.concurrency === undefined ? (flags.rate ?? defaults.rate) : null,
    concurrency: flags.concurrency ?? null,
    agents: flags.agents ?? defaults.agents,
    batch: flags.batch ?? defaults.batch,
    durationMs: flags.duration ?? load.loadDefaults.durationMs,
    warmupMs: flags.warmup ?? load.loadDefaults.warmupMs,
    timeoutMs: flags.timeout ?? load.loadDefaults.timeoutMs,
    finalityTimeoutMs: flags.finalityTimeout ?? load.loadDefaults.finalityTimeoutMs,
    connections: flags.connections ?? load.loadDefaults.connections,
    seed: flags.seed ?? randomBytes(8).toString('hex'),
    keepAgents: flags.keepAgents ?? false,
  };
  const interrupt = interruption();
  const progress = showLoad(options);
  const hooks: LoadHooks = {
    ...progress,
    signal: interrupt.signal,
    commit: commitHash() ?? 'unknown',
    r: await speedOfMachine(),
  };
  const result = await load.runLoad(options, hooks);
  process.stdout.write(flags.json ? `${JSON.stringify(result)}\n` : `${loadSummary(result)}\n`);
  process.exitCode = exitCodeOf(result);
}

/** R, or null where libsodium does not load. */
async function speedOfMachine(): Promise<number | null> {
  const { rawVerifications } = await import('../bench/raw.js');
  try {
    return rawVerifications();
  } catch {
    return null;
  }
}

function exitCodeOf({ verdict }: LoadResult): number {
  const trusted = verdict === 'VALID' || verdict === 'UNSTABLE';
  return trusted ? exitCodes.done : exitCodes.invalid;
}
