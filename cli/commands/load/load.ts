/**
 * `folkmoot load`: asks a live server as much as is wished, and says what it gave. Its options are
 * here too.
 */

import { randomBytes } from 'node:crypto';
import { Command, Option } from 'commander';
import {
  type LoadOptions,
  loadDefaults,
  type WorkloadName,
  workloadDefaults,
} from '../../../bench/load/options.js';
import type { LoadResult } from '../../../bench/load/result.js';
import type { SaturateHooks } from '../../../bench/load/saturation.js';
import { collect, type UrlFlags, withUrl } from '../../options/client.js';
import { duration, integer, positive } from '../../options/options.js';
import {
  assertUiServerFlags,
  uiServerOptions,
  type WatchFlags,
  watchOption,
} from '../../options/ui-server.js';
import { interruption, UsageError } from '../../output/exit.js';
import { setExitCode } from '../../output/io.js';
import { printJson, writeStdout } from '../../output/output.js';
import { commitHash } from '../../output/provenance.js';
import { conditionsCode, loadCompareCommand } from './compare.js';
import type { LoadWatch } from './page.js';
import { notifyAll, showLoad, showProbe } from './progress.js';

const what: Record<WorkloadName, string> = {
  votes: 'signed votes that decide block after block',
  transactions: 'transactions, proposed and voted for until they are final',
  mixed: 'reads, votes, memes and status changes',
  reads: 'reads of the state, the agents and their reputations',
  subscribers: 'status changes, which all agents receive',
};

const help = () => `
Workloads, with what they do unless another --rate, --agents or --batch is given:
${workloads()}

Latencies count from when a request was to be sent, so a server that stalls cannot hide it. The
verdict says whether figures can be trusted: VALID; UNSTABLE, the halves of the run disagree;
CLIENT_BOUND, the generator was too slow; WORKLOAD_BOUND, the workload had too few requests to send,
and the reason says which option to raise; INVALID, the server failed, or took less than 99 % of the
rate. Of the workload transactions, --rate counts transactions. Durations have a unit: 500ms, 10s,
2m.

With --watch a page shows the run, at the address that is printed: the verdict as it stands, rates
and times second by second, what was not accepted and why. Who has that address, with its token, may
end the run, and lets one begin that waits for it (--watch=paused). Watching changes no figure, and
the command ends with the run, whoever looks on. Of what --out kept, folkmoot explore DIR shows it.

Exit codes: 0 done; 1 the server is not there, or its limits forbid the run; 2 usage; 14 INVALID,
CLIENT_BOUND or WORKLOAD_BOUND; 15 a condition of --fail-on is met; 17 a condition of --fail-on or
--slo is about a figure that the run does not measure. The command ends before the run where the
options show that.

Examples:
  $ folkmoot serve --limits off                            the server, in another terminal
  $ folkmoot load --workload reads --rate 2000
  $ folkmoot load --agents 1000 --rate 3000 --duration 30s --out runs/votes
  $ folkmoot load --workload reads --concurrency 32 --json
  $ folkmoot load --saturate --slo p99=200ms --agents 1000
  $ folkmoot load --workload transactions --rate 2000 --fail-on 'finality.p99>2s,errors>1%'
  $ folkmoot load --workload reads --rate 500 --duration 5m --watch
  $ folkmoot load --agents 1000 --saturate --watch=paused --out runs/limit`;

function workloads(): string {
  const count = (value: number) => value.toLocaleString('en-US');
  const lines = Object.entries(workloadDefaults).map(([name, { rate, agents, batch }]) => {
    const who = agents > 0 ? `, ${count(agents)} agents` : '';
    const blocks = batch > 0 ? `, ${count(batch)} to a block` : '';
    const about = what[name as WorkloadName];
    return `  ${name.padEnd(13)} ${about}\n${' '.repeat(16)}${count(rate)} a second${blocks}${who}`;
  });
  return lines.join('\n');
}

export function loadCommand(): Command {
  return addLoadOptions(new Command('load'))
    .description('measure how much a live server takes, and how long it takes')
    .addHelpText('after', help)
    .addCommand(loadCompareCommand())
    .action(run);
}

/** Brackets that are sought where nobody says how many. */
const REPEAT = 3;

async function run(flags: LoadFlags): Promise<void> {
  const options = loadOptions(flags);
  const conditionsOf = await import('../../../bench/load/conditions.js');
  const conditions = conditionsOf.parseConditions(flags.failOn ?? [], { relative: false });
  const objectives = conditionsOf.slo(flags.slo ?? []);
  conditionsOf.assertMeasured([...conditions, ...objectives], options);
  const files = await import('../../../bench/load/files.js');
  if (flags.out !== undefined) await files.prepareLoad(flags.out);
  const { signal } = interruption();
  const watch = flags.watch ? await watching(options, flags, signal) : null;
  const hooks = {
    // Of a search, only its probes are shown.
    ...notifyAll([flags.saturate ? { onProbe: showProbe } : showLoad(options), watch?.hooks ?? {}]),
    signal: watch ? AbortSignal.any([signal, watch.stop]) : signal,
    commit: commitHash() ?? 'unknown',
  };
  const result = await resultOf(options, flags, hooks, watch).catch(async (error) => {
    await watch?.end(error as Error);
    throw error;
  });
  const seen = watch?.end(result);
  try {
    if (flags.out !== undefined) await files.writeLoad(result, flags.out);
    if (flags.json) printJson(result);
    else writeStdout(...(await import('./summary.js')).loadSummary(result));
  } finally {
    await seen;
  }
  const { usable } = await import('../../../bench/load/compare.js');
  const judged = conditions.map((condition) => conditionsOf.judge(condition, result));
  setExitCode(conditionsCode(judged, usable(result)));
}

async function watching(
  load: LoadOptions,
  flags: LoadFlags,
  signal: AbortSignal,
): Promise<LoadWatch> {
  const { watchLoad } = await import('./page.js');
  const { slo } = await import('../../../bench/load/conditions.js');
  const search = {
    slo: slo(flags.slo ?? []).map(({ text }) => text),
    repeat: flags.repeat ?? REPEAT,
  };
  return watchLoad({ load, flags, signal, search: flags.saturate ? search : null });
}

async function resultOf(
  options: LoadOptions,
  { saturate: wanted, slo: texts = [], repeat = REPEAT }: LoadFlags,
  hooks: SaturateHooks,
  watch: LoadWatch | null,
): Promise<LoadResult> {
  const { runLoad } = await import('../../../bench/load/run.js');
  const { saturate } = await import('../../../bench/load/saturation.js');
  const { rawSpeed } = await import('../../../bench/raw/raw.js');
  if (!wanted) {
    const r = rawSpeed();
    watch?.measured(r);
    return runLoad(options, { ...hooks, r });
  }
  const { findMissed, slo } = await import('../../../bench/load/conditions.js');
  const objectives = slo(texts).map((condition) => ({
    text: condition.text,
    missed: (result: LoadResult) => findMissed(condition, result),
  }));
  const load = { ...options, rate: options.rate ?? 1 };
  return saturate({ load, objectives, repeat }, hooks);
}

interface LoadFlags extends UrlFlags, WatchFlags {
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

function addLoadOptions(command: Command): Command {
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
    .option('--slo <objective>', 'with --saturate, what must hold too, such as p99=200ms', collect)
    .option(
      '--repeat <n>',
      'with --saturate, how many brackets are sought (default: 3)',
      whole(1, 100),
    )
    .option('--fail-on <condition>', 'exit 15 when it is met, such as p99>200ms', collect)
    .option('--out <dir>', 'a new folder for result.json, tables, histograms, report.html')
    .addOption(watchOption('the run'));
  for (const option of uiServerOptions()) command.addOption(option);
  return command.option('--json', 'print the result as one JSON object on standard output');
}

/** @throws {UsageError} for options that do nothing together. */
function loadOptions(flags: LoadFlags): LoadOptions {
  const { url, workload, saturate } = flags;
  assertUiServerFlags(flags);
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
