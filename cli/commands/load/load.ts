import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { Option } from 'commander';
import type { LoadPlan } from '../../../bench/load/load-file.js';
import {
  type LoadOptions,
  loadDefaults,
  MOST,
  workloadNames,
  workloads,
} from '../../../bench/load/options.js';
import type { LoadResult } from '../../../bench/load/result.js';
import type { SaturateHooks } from '../../../bench/load/saturation.js';
import { home, httpUrl, httpUrls, type UrlFlags, withUrl } from '../../options/client.js';
import { configurable, type Settings } from '../../options/config.js';
import {
  CliCommand,
  collect,
  duration,
  ratePerSecond,
  threadsOption,
  typed,
  wholeNumber,
} from '../../options/options.js';
import { startTraces, tracesOption } from '../../options/traces.js';
import {
  assertUiServerFlags,
  uiServerOptions,
  type WatchFlags,
  watchOption,
} from '../../options/ui-server.js';
import { interruption, report, UsageError } from '../../output/exit.js';
import { printJson, writeStderr, writeStdout } from '../../output/output.js';
import { commitHash, packageVersion } from '../../output/provenance.js';
import { loadCompareCommand, loadFaultsCommand, reportConditions } from './compare.js';
import {
  disclose,
  loadExportCommand,
  loadImportCommand,
  loadRecountCommand,
  loadSchemaCommand,
} from './files.js';
import type { LoadWatch } from './page.js';
import { notifyAll, showLoad, showProbe } from './progress.js';
import {
  assertShardFlags,
  instant,
  loadMergeCommand,
  type ShardFlags,
  shardNumber,
} from './shards.js';

function workloadLines(): string {
  const count = (value: number) => value.toLocaleString('en-US');
  const lines = Object.entries(workloads).map(([name, { about, rate, agents, batch }]) => {
    const agentsText = agents > 0 ? `, ${count(agents)} agents` : '';
    const blocks = batch > 0 ? `, ${count(batch)} per block` : '';
    const defaults = `${count(rate)} per second${blocks}${agentsText}`;
    return `  ${name.padEnd(13)} ${about}\n${' '.repeat(16)}${defaults}`;
  });
  return lines.join('\n');
}

export function loadCommand(): CliCommand {
  const command = addLoadOptions(new CliCommand('load')).argument('[file]', 'load file to run');
  const withFile = (flags: LoadFlags): LoadFlags => {
    const [file] = command.args;
    return file === undefined ? flags : { ...flags, file };
  };
  return configurable<LoadFlags>(command, {
    name: 'load',
    check: (flags) => check(withFile(flags)),
    run: (flags, settings) => run(withFile(flags), settings),
  })
    .description('load-test a live server: throughput and latency')
    .notes(`
Workloads and their defaults:
${workloadLines()}

A load file has scenarios with the executors of k6, several at once, with own
mixes of requests, modules and thresholds. See docs/load-testing.md.

Latency counts from the scheduled time of a request, so it includes server
stalls. For transactions, --rate counts transactions. Durations have units:
500ms, 10s, 1m30s. Numbers may have the form 1k or 1e3, and rates 100/s. Start
the server with folkmoot serve --limits off.

Verdicts:
  VALID           figures are valid
  UNSTABLE        the two halves of the run disagree
  CLIENT_BOUND    the load generator was too slow
  WORKLOAD_BOUND  the workload had too few requests to send; the reason names
                  the option to raise
  INVALID         the server failed, or accepted less than 99 % of the rate
  INCOMPLETE      the run was interrupted: exit 130 or 143, as with that signal

--watch serves a page with the current verdict, rates, latencies and errors. Its
address contains a token that can start (--watch=paused) and stop the run.
Watching does not change the figures. To view a saved result, use folkmoot
explore DIR.

--stream writes the figures of each second while the run goes on, to a file as
NDJSON, to Prometheus (remote-write+http://HOST/api/v1/write) or as OTLP metrics
(otlp+http://HOST:4318/v1/metrics). A slow sink loses samples.

If GITHUB_STEP_SUMMARY names a file, load appends a summary to it and prints an
annotation for each missed threshold.`)
    .examples(
      'load --workload reads --rate 2000',
      'load --agents 1000 --rate 3000 --duration 30s --out runs/votes',
      'load --saturate --slo p99=200ms --agents 1000',
      "load --workload transactions --fail-on 'finality.p99>2s,errors>1%'",
      'load peak.yaml --url http://127.0.0.1:8080 --out runs/peak',
    )
    .addCommand(loadCleanupCommand())
    .addCommand(loadImportCommand())
    .addCommand(loadSchemaCommand())
    .addCommand(loadExportCommand())
    .addCommand(loadCompareCommand())
    .addCommand(loadFaultsCommand())
    .addCommand(loadMergeCommand())
    .addCommand(loadRecountCommand());
}

function loadCleanupCommand(): CliCommand {
  return withUrl(new CliCommand('cleanup'))
    .description('set agents that a load run left active inactive')
    .requiredOption('--seed <text>', 'seed of the run, printed when it starts')
    .notes(`
A run sets its agents inactive at its end. If its server fails, or the run is
killed, they stay active, and later blocks wait for their votes.`)
    .examples(
      'load cleanup --seed 2f29b15b526b3647',
      'load cleanup --seed 7 --url http://127.0.0.1:8081',
      'load cleanup --seed nightly',
    )
    .action(async ({ url, seed }: UrlFlags & { seed: string }) => {
      const { cleanUp } = await import('../../../bench/load/agents.js');
      const count = await cleanUp(withoutExtras(url), seed);
      writeStdout(`${count} agents set inactive`);
    });
}

/** Removes trailing slashes, and credentials, which no request uses and every result would show. */
const withoutExtras = (url: string): string =>
  url.replace(/^(https?:\/\/)[^/?#]*@/, '$1').replace(/\/+$/, '');

/** Checks flags before the run. A load file is checked when it is read. @throws {Failure} */
async function check(flags: LoadFlags): Promise<void> {
  const { assertMeasured, parseConditions, slo } = await import(
    '../../../bench/load/conditions.js'
  );
  const options = flags.file === undefined ? loadOptions(flags) : null;
  const conditions = parseConditions(flags.failOn ?? [], { relative: false });
  if (options) assertMeasured([...conditions, ...slo(flags.slo ?? [])], options);
}

/** Default of --repeat: number of brackets that a search determines. */
const REPEAT = 3;

async function run(flags: LoadFlags, settings: Settings): Promise<void> {
  await settings.check();
  const interrupt = interruption();
  const plan = await planLoad(flags, settings);
  const processes = await startServers(plan, flags, interrupt.signal);
  const means = { signal: interrupt.signal, onFault: processes?.act };
  const stopped = await runPlan(plan, flags, means).finally(() => processes?.close());
  if (stopped) interrupt.end();
}

/** Starts the servers of a load file, which needs a flag. @throws {UsageError} @throws {Failure} */
async function startServers(
  { servers, folder, options: { faults = [] } }: Plan,
  { allowCommands, shard }: LoadFlags,
  signal: AbortSignal,
) {
  if (Object.keys(servers).length === 0 && faults.length === 0) return null;
  const file = 'a load file with servers or faults';
  if (shard) {
    const advice = 'start the servers before the generators';
    throw new UsageError('OPTION_CONFLICT', { option: '--shard', other: file, advice });
  }
  if (!allowCommands) {
    throw new UsageError('OPTION_REQUIRES', { option: file, required: '--allow-commands' });
  }
  const { Processes } = await import('../../../bench/load/processes.js');
  return Processes.start(servers, folder, signal);
}

/** Signal that ends the run early, and the hook that carries its faults out. */
type RunMeans = { signal: AbortSignal; onFault: SaturateHooks['onFault'] | undefined };

/** Runs the load, and reports it. Returns true if a signal or the page stopped it. */
async function runPlan(
  { options, thresholds }: Plan,
  flags: LoadFlags,
  { signal, onFault }: RunMeans,
): Promise<boolean> {
  const { assertMeasured, parseConditions } = await import('../../../bench/load/conditions.js');
  const required = thresholds.map(({ condition }) => condition);
  const conditions = [...parseConditions(flags.failOn ?? [], { relative: false }), ...required];
  assertMeasured(conditions, options);
  const files = await import('../../../bench/load/files.js');
  if (flags.disclose !== undefined) {
    await disclose(options, { ...flags, key: flags.disclose }, conditions, { signal, onFault });
    return signal.aborted;
  }
  if (flags.out !== undefined) await files.prepareLoad(flags.out);
  const traces = flags.traces === undefined ? null : await startTraces(flags.traces);
  const watch = flags.watch ? await watching(options, flags, signal) : null;
  const streams = await openStreams(flags, options);
  const hooks = {
    // A search shows only probes.
    ...notifyAll([
      flags.saturate ? { onProbe: showProbe } : showLoad(options),
      ...[watch?.hooks ?? {}, streams ?? {}],
    ]),
    signal: watch ? AbortSignal.any([signal, watch.stop]) : signal,
    commit: commitHash() ?? 'unknown',
    thresholds,
    ...(onFault ? { onFault } : {}),
    ...(traces ? { tracing: await clientTracing() } : {}),
  };
  const result = await resultOf(options, flags, hooks).catch(async (error) => {
    await watch?.end(error as Error);
    if (!signal.aborted && !watch?.stop.aborted) throw error;
    report(error);
    return null;
  });
  for (const { name, lost } of (await streams?.end()) ?? []) {
    writeStderr(`folkmoot: ${name} lost ${lost} samples`);
  }
  if (result === null) {
    await traces?.end();
    return true;
  }
  const seen = watch?.end(result);
  try {
    if (flags.out !== undefined) await files.writeLoad(result, flags.out);
    if (flags.json) printJson(result);
    else writeStdout(...(await import('./summary.js')).loadSummary(result));
  } finally {
    await seen;
    await traces?.end();
  }
  await reportConditions(conditions, result, flags);
  return result.ended === 'interrupted' && (signal.aborted || watch?.stop.aborted === true);
}

type Plan = Omit<LoadPlan, 'options'> & { options: LoadOptions };

/** Flags that a load file states itself. */
const inFile = ['--workload', '--rate', '--concurrency', '--duration', '--saturate'];

/** Plans the run of the flags or of a load file, whose values they replace. @throws {UsageError} */
async function planLoad(flags: LoadFlags, settings: Settings): Promise<Plan> {
  const { file } = flags;
  const none = { thresholds: [], servers: {}, folder: '' };
  if (file === undefined) return { ...none, options: loadOptions(flags) };
  const isGiven = (name: string) =>
    settings.all.some(({ option, source }) => option.long === name && source !== 'default');
  const other = inFile.find(isGiven);
  if (other !== undefined) {
    const advice = 'set executor, exec and duration in the file';
    throw new UsageError('OPTION_CONFLICT', { option: other, other: 'a load file', advice });
  }
  if (!existsSync(file)) throw await unknownFile(file);
  const { readLoadFile, shareOf } = await import('../../../bench/load/load-file.js');
  const { options: planned, ...rest } = readLoadFile(file);
  // Which scenarios several generators can share is checked below.
  const own = loadOptions({ ...flags, workload: 'reads' });
  const given = Object.fromEntries(
    [
      ['--agents', { agents: own.agents }],
      ['--batch', { batch: own.batch }],
      ['--warmup', { warmupMs: own.warmupMs }],
      ['--timeout', { timeoutMs: own.timeoutMs }],
      ['--finality-timeout', { finalityTimeoutMs: own.finalityTimeoutMs }],
      ['--connections', { connections: own.connections }],
      ['--seed', { seed: own.seed }],
      ['--url', { url: own.url, ...(own.urls ? { urls: own.urls } : {}) }],
    ].flatMap(([name, value]) => (isGiven(name as string) ? Object.entries(value as object) : [])),
  );
  const options = { ...own, seedNamed: own.seedNamed || planned.seed !== undefined, ...planned };
  return { ...rest, options: shareOf({ ...options, ...given }) };
}

/** Advises on the command, if the name of the file is that of a workload or of a subcommand. */
async function unknownFile(file: string): Promise<UsageError> {
  const { nearest } = await import('../../../engine/protocol/text.js');
  const commands = loadCommand().commands.map((one) => one.name());
  const near = nearest(file, [...workloadNames, ...commands]);
  if (near === null) return new UsageError('FILE_NOT_FOUND', { path: file });
  const command = commands.includes(near) ? `load ${near}` : `load --workload ${near}`;
  const advice = `give a YAML file, or use folkmoot ${command}`;
  return new UsageError('NOT_FOUND', { kind: 'load file', name: file, advice });
}

/** Opens the sinks of --stream. @throws {UsageError} for a sink of another form. */
async function openStreams({ stream = [] }: LoadFlags, { workload, seed }: LoadOptions) {
  if (stream.length === 0) return null;
  const { sinkPattern, Streams } = await import('../../../bench/load/streams.js');
  const other = stream.find((one) => !sinkPattern.test(one));
  if (other !== undefined) {
    const expected = 'a file, remote-write+http://... or otlp+http://...';
    throw new UsageError('INVALID_VALUE', { option: '--stream', value: other, expected });
  }
  return new Streams(stream, { workload, seed });
}

async function clientTracing() {
  const { ClientTracing } = await import('../../../api/tracing.js');
  return ClientTracing.load(packageVersion());
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
): Promise<LoadResult> {
  const { runLoad } = await import('../../../bench/load/run.js');
  const { saturate } = await import('../../../bench/load/saturation.js');
  const { rawSpeed } = await import('../../../bench/raw/raw.js');
  if (!wanted) return runLoad(options, { ...hooks, r: rawSpeed() });
  const { findMissed, slo } = await import('../../../bench/load/conditions.js');
  const objectives = slo(texts).map((condition) => ({
    text: condition.text,
    missed: (result: LoadResult) => findMissed(condition, result),
  }));
  const load = { ...options, rate: options.rate ?? 1 };
  return saturate({ load, objectives, repeat }, hooks);
}

interface LoadFlags extends WatchFlags, ShardFlags {
  /** Path of a load file. */
  file?: string;
  url: string | readonly string[];
  keepGoing?: boolean;
  agents?: number;
  rate?: number;
  concurrency?: number;
  duration?: number;
  warmup?: number;
  batch?: number;
  timeout?: number;
  finalityTimeout?: number;
  connections?: number;
  verifyThreads?: number;
  keepAgents?: boolean;
  allowCommands?: boolean;
  traces?: string;
  saturate?: boolean;
  slo?: string[];
  repeat?: number;
  failOn?: string[];
  out?: string;
  stream?: string[];
  disclose?: string;
  rounds?: number;
  deviation?: string[];
  junit?: string;
  json?: boolean;
}

const span = (leastMs: number, mostMs: number) => duration({ leastMs, mostMs });
const HOUR_MS = 3_600_000;

/** Parses one or several servers. The values of a repeated option add up. */
const serverUrls = typed<string | readonly string[]>(
  httpUrl.schema,
  (text, before) => [...(Array.isArray(before) ? (before as string[]) : []), ...httpUrls(text)],
  (urls) => [urls].flat().join(','),
);

function addLoadOptions(command: CliCommand): CliCommand {
  command
    .addOption(
      new Option('--url <urls>', 'comma-separated servers of one network, may be repeated')
        .env('FOLKMOOT_URL')
        .default(home)
        .argParser(serverUrls),
    )
    .addOption(
      new Option('--workload <name>', 'workload to run (see below)')
        .choices(workloadNames)
        .default('votes'),
    )
    .option('--agents <n>', 'number of agents, one key each', wholeNumber(1, 100_000))
    .addOption(
      new Option('--rate <r>', 'requests per second, open loop')
        .argParser(ratePerSecond(1_000_000))
        .conflicts('concurrency'),
    )
    .option('--concurrency <c>', 'concurrent requests, closed loop', wholeNumber(1, 10_000))
    .option(
      '--duration <d>',
      'measured time (default: 10s, 5s per probe of --saturate)',
      span(100, 24 * HOUR_MS),
    )
    .option('--warmup <d>', 'warm-up time (default: 2s, 1s with --saturate)', span(0, HOUR_MS))
    .option('--batch <tx>', 'transactions per block', wholeNumber(0, 10_000))
    .option('--timeout <d>', 'request timeout (default: 5s)', span(10, HOUR_MS))
    .option('--finality-timeout <d>', 'transaction timeout (default: 30s)', span(10, HOUR_MS))
    .option('--connections <n>', 'maximum HTTP connections (default: 128)', wholeNumber(1, 10_000))
    .addOption(threadsOption('signing'))
    .addOption(
      new Option('--keep-going', 'measure outages of the server, in an open loop').conflicts([
        'concurrency',
        'saturate',
        'shard',
      ]),
    )
    .option('--seed <text>', 'random seed (default: random)')
    .addOption(tracesOption())
    .option('--allow-commands', 'run the commands of the servers and faults of a load file')
    .option('--keep-agents', 'leave the agents active after the run')
    .addOption(
      new Option('--shard <i/n>', 'part I of a run on N generators, with --start-at and --seed')
        .argParser(shardNumber)
        .conflicts(['concurrency', 'saturate']),
    )
    .option('--start-at <time>', 'common start of all generators, RFC 3339', instant)
    .addOption(
      new Option('--saturate', 'search for the highest sustained rate').conflicts('concurrency'),
    )
    .option('--slo <objective>', 'objective of --saturate, such as p99=200ms', collect)
    .option('--repeat <n>', 'brackets to search with --saturate (default: 3)', wholeNumber(1, 100))
    .option('--fail-on <condition>', 'exit 15 if met, such as p99>200ms, may be repeated', collect)
    .option('--out <dir>', 'new folder for result.json, tables and report.html')
    .option('--stream <sink>', 'sink for figures of each second, may be repeated', collect)
    .addOption(
      new Option('--disclose <key>', 'write a signed disclosure to --out, with this key').conflicts(
        ['saturate', 'shard', 'watch'],
      ),
    )
    .option('--rounds <n>', 'repetitions with --disclose (default: 3)', wholeNumber(3, 100))
    .option('--deviation <text>', 'deviation to disclose, may be repeated', collect)
    .option('--junit <file>', 'JUnit XML file with verdict and conditions to write')
    .addOption(watchOption());
  return command.addOptions(uiServerOptions()).option('--json', 'print one JSON object');
}

/** @throws {UsageError} for too many servers, or for a server that is named twice. */
function serversIn({ url }: LoadFlags): string[] {
  const urls = [url].flat().map(withoutExtras);
  const option = '--url';
  if (urls.length > MOST.urls) {
    throw new UsageError('TOO_MANY_VALUES', { option, count: urls.length, most: MOST.urls });
  }
  const addresses = urls.map((one) => new URL(one).href);
  const twice = urls.find((_, index) => addresses.indexOf(addresses[index]!) !== index);
  if (twice !== undefined) throw new UsageError('REPEATED_VALUE', { option, value: twice });
  return urls;
}

/** @throws {UsageError} */
function loadOptions(flags: LoadFlags): LoadOptions {
  const { workload, saturate, shard, startAt } = flags;
  const urls = serversIn(flags);
  assertUiServerFlags(flags);
  assertShardFlags(flags);
  if (!saturate && (flags.slo || flags.repeat !== undefined)) {
    const option = flags.slo ? '--slo' : '--repeat';
    throw new UsageError('OPTION_REQUIRES', { option, required: '--saturate' });
  }
  const defaults = {
    ...workloads[workload],
    ...loadDefaults,
    // A search runs many probes, so each one is short.
    ...(saturate ? { durationMs: 5_000, warmupMs: 1_000 } : {}),
  };
  const rate = (flags.rate ?? defaults.rate) / (shard?.count ?? 1);
  return {
    url: urls[0]!,
    ...(urls.length > 1 ? { urls } : {}),
    ...(flags.keepGoing ? { keepGoing: true } : {}),
    workload,
    rate: flags.concurrency === undefined ? rate : null,
    concurrency: flags.concurrency ?? null,
    agents: flags.agents ?? defaults.agents,
    batch: flags.batch ?? defaults.batch,
    durationMs: flags.duration ?? defaults.durationMs,
    warmupMs: flags.warmup ?? defaults.warmupMs,
    timeoutMs: flags.timeout ?? defaults.timeoutMs,
    finalityTimeoutMs: flags.finalityTimeout ?? defaults.finalityTimeoutMs,
    connections: flags.connections ?? defaults.connections,
    ...(flags.verifyThreads === undefined ? {} : { signingThreads: flags.verifyThreads }),
    seed: flags.seed ?? randomBytes(8).toString('hex'),
    seedNamed: flags.seed !== undefined,
    // The generators share their agents, and do not end at the same time.
    keepAgents: flags.keepAgents ?? shard !== undefined,
    ...(shard && startAt !== undefined
      ? { shard: { index: shard.number - 1, count: shard.count, startAtMs: startAt } }
      : {}),
  };
}
