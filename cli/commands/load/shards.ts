/** The options of a part of a run on several generators, and `folkmoot load merge`. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { InvalidArgumentError } from 'commander';
import type { LoadPart } from '../../../bench/load/merge.js';
import {
  sharesOf,
  type WorkloadName,
  workloadNames,
  workloads,
} from '../../../bench/load/options.js';
import { CliCommand, collect, duration, typed } from '../../options/options.js';
import { UsageError } from '../../output/exit.js';
import { printJson, writeStdout } from '../../output/output.js';
import { reportConditions } from './compare.js';

/** Largest number of generators. */
const MOST_SHARDS = 100;
const shardPattern = /^([1-9]\d{0,2})\/([1-9]\d{0,2})$/;

interface ShardNumber {
  number: number;
  count: number;
}

export const shardNumber = typed(
  { type: 'string', pattern: shardPattern.source },
  (text): ShardNumber => {
    const [, number, count] = (shardPattern.exec(text) ?? []).map(Number);
    if (number! <= count! && count! <= MOST_SHARDS) return { number: number!, count: count! };
    throw new InvalidArgumentError(`expected I/N, such as 1/3, with N up to ${MOST_SHARDS}`);
  },
  ({ number, count }) => `${number}/${count}`,
);

const instantPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?(?:Z|[+-]\d\d:\d\d)$/;

export const instant = typed(
  { type: 'string', pattern: instantPattern.source },
  (text): number => {
    const ms = instantPattern.test(text) ? Date.parse(text) : Number.NaN;
    if (!Number.isNaN(ms)) return ms;
    throw new InvalidArgumentError('expected a time such as 2026-01-31T12:00:00Z');
  },
  (ms) => new Date(ms).toISOString(),
);

/** @throws {UsageError} for a part of a run without the values that all parts share. */
export function assertShardFlags({ shard, startAt, seed, workload }: ShardFlags): void {
  const needs = (option: string, required: string): never => {
    throw new UsageError('OPTION_REQUIRES', { option, required });
  };
  if (shard === undefined && startAt !== undefined) needs('--start-at', '--shard I/N');
  if (shard === undefined) return;
  if (startAt === undefined) needs('--shard', '--start-at TIME, the same for all generators');
  if (seed === undefined) needs('--shard', '--seed TEXT, the same for all generators');
  const isShared = (name: WorkloadName) =>
    sharesOf(workloads[name].mix).every(({ row }) => row.isShared);
  if (!isShared(workload)) {
    const shared = workloadNames.filter(isShared);
    needs('--shard', `--workload ${shared.join(' or ')}`);
  }
}

/** Options of `load` that describe a part. */
export interface ShardFlags {
  workload: WorkloadName;
  seed?: string;
  shard?: ShardNumber;
  startAt?: number;
}

interface MergeFlags {
  out?: string;
  clockBound?: number;
  failOn?: string[];
  junit?: string;
  json?: boolean;
}

/** Default of --clock-bound: well above the error of NTP, and a fraction of a response time. */
const CLOCK_BOUND_MS = 50;

export function loadMergeCommand(): CliCommand {
  return new CliCommand('merge')
    .description('merge the parts of a run that used several generators')
    .argument('<dirs...>', 'folders of load --shard --out, one per generator')
    .option('--out <dir>', 'new folder for result.json, tables and report.html')
    .option(
      '--clock-bound <d>',
      'largest difference between clocks (default: 50ms)',
      duration({ leastMs: 1, mostMs: 60_000 }),
    )
    .option('--fail-on <condition>', 'exit 15 if met, such as p99>200ms, may be repeated', collect)
    .option('--junit <file>', 'JUnit XML file with verdict and conditions to write')
    .option('--json', 'print one JSON object')
    .notes(`
Start each generator with the same options, --shard 1/3, 2/3 and 3/3, and one
--start-at. Each sends its share of --rate at its share of the times.

Counts add up, and histograms merge without loss. The verdict is INVALID if a
folder has no result, if a generator did not complete or was the bottleneck, or
if the clocks of two generators may differ by more than --clock-bound. Clocks
are compared through the clock of the server.`)
    .examples(
      'load merge a/ b/ c/ --out runs/whole',
      "load merge a/ b/ --fail-on 'finality.p99>2s'",
      'load merge a/ b/ --clock-bound 10ms --json',
    )
    .action(run);
}

async function run(dirs: string[], flags: MergeFlags): Promise<void> {
  const { parseConditions } = await import('../../../bench/load/conditions.js');
  const conditions = parseConditions(flags.failOn ?? [], { relative: false });
  const files = await import('../../../bench/load/files.js');
  const { mergeLoads } = await import('../../../bench/load/merge.js');
  const parts = dirs.map((folder): LoadPart => {
    // A generator creates its folder before it starts, and writes the result last.
    const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false;
    const died = isFolder && !existsSync(join(folder, 'result.json'));
    return { folder, result: died ? null : files.readLoad(folder) };
  });
  const result = mergeLoads(parts, { clockBoundMs: flags.clockBound ?? CLOCK_BOUND_MS });
  if (flags.out !== undefined) await files.writeLoad(result, flags.out);
  if (flags.json) printJson(result);
  else writeStdout(...(await import('./summary.js')).loadSummary(result));
  await reportConditions(conditions, result, flags);
}
