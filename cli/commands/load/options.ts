/** The options of `folkmoot load`, and what they ask for. */
import { randomBytes } from 'node:crypto';
import { type Command, Option } from 'commander';
import type { LoadOptions, WorkloadName } from '../../../bench/load/index.js';
import { repeated, type UrlFlags, withUrl } from '../../options/client.js';
import { duration, integer, positive } from '../../options/options.js';
import { UsageError } from '../../output/exit.js';
import { assertDoor, doorOptions, type WatchFlags, watchOption } from '../page/door.js';

export interface LoadFlags extends UrlFlags, WatchFlags {
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
  saturate?: boolean;
  slo?: string[];
  repeat?: number;
  failOn?: string[];
  out?: string;
  json?: boolean;
}

const names: readonly WorkloadName[] = ['votes', 'transactions', 'mixed', 'reads', 'subscribers'];
const whole = (least: number, most: number) => integer({ least, most });
const span = (leastMs: number, mostMs: number) => duration({ leastMs, mostMs });
const HOUR_MS = 3_600_000;

export function addLoadOptions(command: Command): Command {
  withUrl(command)
    .addOption(
      new Option('--workload <name>', 'what is asked of it, as below')
        .choices(names)
        .default('votes'),
    )
    .option('--agents <n>', 'agents of the run, each with a key of its own', whole(1, 100_000))
    .addOption(
      new Option(
        '--rate <r>',
        'arrivals a second, whatever the server does: open loop, the default',
      )
        .argParser(positive(1_000_000))
        .conflicts('concurrency'),
    )
    .option(
      '--concurrency <c>',
      'so many requests under way instead: closed loop',
      whole(1, 10_000),
    )
    .option(
      '--duration <d>',
      'measured time (default: 10s; with --saturate 5s a probe)',
      span(100, 24 * HOUR_MS),
    )
    .option(
      '--warmup <d>',
      'before it, not counted (default: 2s; with --saturate 1s)',
      span(0, HOUR_MS),
    )
    .option('--batch <tx>', 'transactions in each block', whole(0, 10_000))
    .option('--timeout <d>', 'deadline of a request (default: 5s)', span(10, HOUR_MS))
    .option('--finality-timeout <d>', 'deadline of a transaction (default: 30s)', span(10, HOUR_MS))
    .option('--connections <n>', 'HTTP connections at most (default: 128)', whole(1, 10_000))
    .option('--seed <text>', 'keys and choices follow from it (default: another each time)')
    .option('--keep-agents', 'leave the agents active in the network')
    .addOption(
      new Option('--saturate', 'seek the highest rate that holds, from --rate on').conflicts(
        'concurrency',
      ),
    )
    .option('--slo <objective>', 'with --saturate, what must hold too, such as p99=200ms', repeated)
    .option(
      '--repeat <n>',
      'with --saturate, how many brackets are sought (default: 3)',
      whole(1, 100),
    )
    .option('--fail-on <condition>', 'exit 15 when it is met, such as p99>200ms', repeated)
    .option('--out <dir>', 'a new folder for result.json, tables, histograms, report.html')
    .addOption(watchOption('the run'));
  for (const option of doorOptions()) command.addOption(option);
  return command.option('--json', 'print the result as one JSON object on standard output');
}

/** @throws {UsageError} for options that do nothing together. */
export async function loadOptions(flags: LoadFlags): Promise<LoadOptions> {
  const { loadDefaults, workloadDefaults } = await import('../../../bench/load/index.js');
  const { url, workload, saturate } = flags;
  assertDoor(flags);
  if (!saturate && (flags.slo || flags.repeat !== undefined)) {
    throw new UsageError(
      '--slo and --repeat say nothing without --saturate; expected all of them or none',
    );
  }
  const defaults = {
    ...workloadDefaults[workload],
    ...loadDefaults,
    // Probes are many.
    ...(saturate ? { durationMs: 5_000, warmupMs: 1_000 } : {}),
  };
  return {
    url: url.replace(/\/+$/, ''),
    workload,
    rate: flags.concurrency === undefined ? (flags.rate ?? defaults.rate) : null,
    concurrency: flags.concurrency ?? null,
    agents: flags.agents ?? defaults.agents,
    batch: flags.batch ?? defaults.batch,
    durationMs: flags.duration ?? defaults.durationMs,
    warmupMs: flags.warmup ?? defaults.warmupMs,
    timeoutMs: flags.timeout ?? defaults.timeoutMs,
    finalityTimeoutMs: flags.finalityTimeout ?? defaults.finalityTimeoutMs,
    connections: flags.connections ?? defaults.connections,
    seed: flags.seed ?? randomBytes(8).toString('hex'),
    keepAgents: flags.keepAgents ?? false,
  };
}
