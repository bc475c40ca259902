import { availableParallelism } from 'node:os';
import { parse } from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import type { Change } from '../../sim/index.js';
import type { MissingShard } from '../../sim/sweep/merge.js';
import type { Plan, Shard } from '../../sim/sweep/plan.js';
import type { FailedRun, SweepResult } from '../../sim/sweep/runs.js';
import { omitAbsent } from '../options/client.js';
import { openEtcd, type QueueFlags, queueOptions, spreadOver } from '../options/etcd.js';
import { CliCommand, type HalfWidth, halfWidth, integer } from '../options/options.js';
import {
  type DeciderFlags,
  deciderOptions,
  readDeciderFlags,
  setOption,
  warnUnusedDeciders,
} from '../options/scenario.js';
import { exitCodes, interruption, UsageError } from '../output/exit.js';
import { setExitCode } from '../output/io.js';
import { printJson, writeStderr, writeStdout } from '../output/output.js';
import { build, simCommandLine } from '../output/provenance.js';

interface SweepFlags extends DeciderFlags, QueueFlags {
  set?: Change[];
  jobs: number;
  out?: string;
  shard?: Shard;
  resume?: boolean;
  onError: 'stop' | 'continue';
  replicates?: number;
  samples?: number;
  untilInterval?: HalfWidth;
  untilResponse?: string;
  mostReplicates?: number;
  audit?: 'all' | 'first' | 'none';
  log?: 'none' | 'full';
  keep?: boolean;
  registered?: string;
  beacon?: string;
  seed?: string;
  runMinutes: number;
  json?: boolean;
}

export function sweepCommand(): CliCommand {
  return new CliCommand('sweep')
    .description('run a parameter sweep in parallel')
    .argument('<file>', 'scenario file or name; it needs a section `sweep`')
    .option('--jobs <n>', 'parallel runs', integer(1, 256), availableParallelism())
    .addOption(setOption())
    .option('--out <dir>', 'folder to write (default: sweep-NAME)')
    .option('--shard <i/n>', 'run part i of n only (slurm: task of a job array)', parseShard)
    .option('--resume', 'continue or extend the sweep in --out')
    .choice('--on-error <action>', 'action after a failed run', ['stop', 'continue'], 'stop')
    .option('--replicates <n>', "runs per cell (default: the scenario's)", integer(1, 100_000))
    .option('--samples <n>', 'samples of lhs, morris and sobol', integer(1, 100_000))
    .option('--until-interval <w>', 'add runs until this half-width, such as 0.02 or 5%', halfWidth)
    .option('--until-response <name>', 'response to measure (default: first)')
    .option(
      '--most-replicates <n>',
      'run limit per cell with --until-interval',
      integer(10, 100_000),
    )
    .choice('--audit <which>', 'runs of a cell to audit (default: all)', [
      ...(['all', 'first', 'none'] as const),
    ])
    .choice('--log <which>', 'log of each run, for its digest (default: none)', [
      ...(['none', 'full'] as const),
    ])
    .addOption(new Option('--keep', 'keep the log of each run, in logs/').conflicts('log'))
    .option('--seed <text>', "random seed (default: the scenario's)")
    .option('--registered <file>', 'refuse to run if the registered study has changed')
    .option('--beacon <value>', 'public random value for the seed')
    .option('--run-minutes <n>', 'time limit of a run, in minutes', integer(1, 10_000), 60)
    .addOptions([...deciderOptions(), ...queueOptions()])
    .option('--json', 'print one JSON object')
    .notes(`
Writes sweep.json, runs/, runs.csv, run_groups.csv, summary.csv (mean, standard
deviation and 95 % interval by cell and measure) and report.html. After any
interruption, --resume continues and gives the same bytes, except for data.mdb,
lock.mdb and summary.json of runs in logs/. With more replicates,
samples or factor values, --resume executes the missing runs.

A run fails if it breaks a rule, crashes, or its script throws. A run without
progress is a result. A sweep with scripts first executes one run twice, and
stops with exit code 12 if the digests differ. The first failed run sets the
exit code. Otherwise a response without a value in any run gives exit code 18.

Runs compute no log by default. --log full computes the logs for their digests,
and --keep also keeps each run in logs/, as folkmoot sim --out does. The
measures are the same. trace_digest in runs.csv names a run with and without a
log: folkmoot sim --verify-trace repeats it with a log and compares.

--until-interval starts with 30 runs per cell and grows by half until the
interval is narrow enough. The intervals are corrected for the repeated tests.

--shard executes a part of the runs on this machine. folkmoot merge combines the
shards. --queue distributes the runs to folkmoot worker processes of the same
build through etcd. Both give the same bytes as one machine.

--record calls external deciders and writes one cassette per run. Limits in
tokens and money are in the section budget of the scenario. --cache shares
answers between runs and sweeps. See docs/deciders.md.`)
    .examples(
      'sweep byzantine --out sweeps/byzantine',
      'sweep byzantine --out sweeps/byzantine --resume --replicates 30',
      'sweep byzantine --until-interval 0.02 --most-replicates 200',
      'sweep byzantine --keep --out sweeps/with-logs',
      'sweep byzantine --queue etcd://10.0.0.1:2379',
    )
    .action(runSweep);
}

async function runSweep(file: string, flags: SweepFlags): Promise<void> {
  const { shard } = flags;
  const part = shard ? `-${shard.index}-of-${shard.of}` : '';
  const out = flags.out ?? `sweep-${parse(file).name}${part}`;
  const plan = await planOf(file, flags);
  if (!plan.asksDeciders) await warnUnusedDeciders(flags);
  const { cells, runs, sweep } = plan;
  const least = sweep.until ? 'or more ' : '';
  const each = `${cells} cells, ${runs / cells} ${least}runs each`;
  const which = shard ? `shard ${shard.index}/${shard.of}, ` : '';
  const how =
    flags.queue === undefined ? `${flags.jobs} in parallel` : `by workers of ${flags.queue}`;
  writeStderr(`folkmoot sweep ${file}: ${each}, ${which}${how}, in ${out}`);
  const interrupt = interruption();
  const { showCount } = await import('../output/progress.js');
  // The number of remote workers is unknown and changes.
  const progress = showCount(runs, 'runs', flags.queue === undefined ? flags.jobs : 1);
  const { signal } = interrupt;
  const result = await sweepIn(out, plan, flags, signal, progress.update).finally(progress.stop);
  if (flags.json) printJson({ out, ...(shard ? { shard } : {}), ...result });
  else writeStdout(...sweepSummary(out, result, shard));
  printEmpty(result);
  if (result.failed) return printFailure(file, result.failed, flags.onError === 'stop', flags.set);
  if (result.finished) return;
  writeStderr('interrupted; continue with --resume and the same options');
  interrupt.end();
}

async function planOf(file: string, flags: SweepFlags): Promise<Plan> {
  const { planSweep } = await import('../../sim/sweep/plan.js');
  const { seed, replicates, samples, audit, untilInterval, untilResponse, mostReplicates } = flags;
  const log = flags.keep ? 'keep' : flags.log;
  if (!untilInterval && (untilResponse !== undefined || mostReplicates !== undefined)) {
    const option = untilResponse === undefined ? '--most-replicates' : '--until-response';
    throw new UsageError('OPTION_REQUIRES', { option, required: '--until-interval' });
  }
  const until = omitAbsent({ response: untilResponse, most: mostReplicates });
  const { assertModule } = await import('../../sim/scenario/complete.js');
  const registered = await readRegistered(flags);
  const plan = planSweep(file, {
    ...omitAbsent({
      seed: registered?.seed ?? seed,
      set: flags.set,
      replicates,
      samples,
      audit,
      log,
    }),
    ...(untilInterval ? { until: { ...untilInterval, ...until } } : {}),
  });
  await assertModule(plan.scenario);
  if (!registered) return plan;
  const { findChanges } = await import('../../sim/study/registration.js');
  const changed = findChanges(plan, registered.registration);
  const { sha256 } = registered.registration;
  if (changed.length === 0) return { ...plan, registered: sha256 };
  const problem = `the study has changed: ${changed.join(', ')}; restore it, or register it again`;
  const values = { option: '--registered', value: flags.registered!, problem };
  throw new UsageError('INVALID_ARGUMENT', values);
}

/** Reads the registration, and derives the seed if the registration left it open. */
async function readRegistered({ registered: file, beacon, seed }: SweepFlags) {
  if (file === undefined) {
    if (beacon === undefined) return null;
    throw new UsageError('OPTION_REQUIRES', { option: '--beacon', required: '--registered' });
  }
  const { readRegistration, seedFromBeacon } = await import('../../sim/study/registration.js');
  const registration = readRegistration(file);
  if (registration.beacon !== (beacon !== undefined)) {
    const expected = registration.beacon ? 'the public value' : 'no value: the seed is registered';
    throw new UsageError('INVALID_OPTION', { option: '--beacon', expected });
  }
  if (beacon !== undefined && seed !== undefined) {
    const advice = 'the public value determines the seed';
    throw new UsageError('OPTION_CONFLICT', { option: '--seed', other: '--beacon', advice });
  }
  const derived = beacon === undefined ? {} : { seed: seedFromBeacon(registration, beacon) };
  return { registration, ...derived };
}

async function sweepIn(
  out: string,
  plan: Plan,
  flags: SweepFlags,
  signal: AbortSignal,
  onProgress: (done: number, of: number) => void,
): Promise<SweepResult> {
  const { sweep } = await import('../../sim/sweep/sweep.js');
  const { resume = false, shard, jobs, onError, runMinutes } = flags;
  const { folder, modules, scripts, scenario } = plan;
  const carried = { title: `sweep: ${scenario.title}`, files: { folder, modules, scripts } };
  if (flags.queue !== undefined && plan.sweep.log === 'keep') {
    const { queueError } = await import('../../sim/queue/messages.js');
    throw queueError('LOCAL_JOB', {});
  }
  const queue = await spreadOver(flags, carried);
  const wallMs = runMinutes * 60_000;
  const where = { out, made: build(), resume, ...(shard ? { shard } : {}) };
  const how = { jobs, onError, wallMs, deciders: readDeciderFlags(flags), ...queue?.given };
  try {
    return await sweep(plan, { ...where, ...how, signal, onProgress });
  } finally {
    queue?.close();
  }
}

const MOST_SHARDS = 1_000_000;

export function parseShard(text: string): Shard {
  if (text === 'slurm') return taskOf(process.env);
  const [, index = 0, of = 0] = (/^(\d{1,7})\/(\d{1,7})$/.exec(text) ?? []).map(Number);
  if (1 <= index && index <= of && of <= MOST_SHARDS) return { index, of };
  throw new InvalidArgumentError(
    `expected slurm, or i/n such as 3/16, with i from 1 to n and n at most ${MOST_SHARDS}`,
  );
}

/**
 * Returns the shard for a task in a Slurm job array, such as 1-16, 0-15 or 10-40:2. Slurm provides
 * the number of tasks and the smallest and largest index. These values determine the shard if the
 * indices are evenly spaced. After a partial resubmission, Slurm counts only the resubmitted tasks.
 */
function taskOf(env: NodeJS.ProcessEnv): Shard {
  const [id, of, least, most] = ['ID', 'COUNT', 'MIN', 'MAX'].map((name) => numberIn(env, name));
  const step = of! > 1 ? (most! - least!) / (of! - 1) : 1;
  const index = 1 + (id! - least!) / step;
  const isEven = Number.isSafeInteger(step) && step >= 1 && least! + step * (of! - 1) === most;
  if (isEven && Number.isSafeInteger(index) && 1 <= index && index <= of! && of! <= MOST_SHARDS) {
    return { index, of: of! };
  }
  const array = `task ${id} of ${of} from ${least} to ${most}`;
  throw new InvalidArgumentError(
    `unevenly spaced Slurm array: ${array}; use an array such as --array=1-16, or give i/n`,
  );
}

function numberIn(env: NodeJS.ProcessEnv, which: string): number {
  const name = `SLURM_ARRAY_TASK_${which}`;
  const text = env[name];
  if (text !== undefined && /^\d{1,10}$/.test(text)) return Number(text);
  const what = text === undefined ? `${name} is not set` : `${name} is ${JSON.stringify(text)}`;
  throw new InvalidArgumentError(`${what}; run in a Slurm job array, or give i/n`);
}

function sweepSummary(out: string, result: SweepResult, shard?: Shard): string[] {
  const { planned, completed, verdicts, finished } = result;
  const counted = Object.entries(verdicts).filter(([, count]) => count > 0);
  const shown = counted.map(([verdict, count]) => `${count} ${verdict}`).join(', ');
  const head = `${completed} of ${planned} runs completed`;
  if (!finished) return [`${head}, saved in ${out}`];
  const all = shown === '' ? head : `${head}: ${shown}`;
  if (!shard) return [all, `${out}/report.html, runs.csv, summary.csv`];
  return [
    all,
    `${out} is shard ${shard.index}/${shard.of}; combine all shards with folkmoot merge`,
  ];
}

export const failureKinds = {
  safety: { code: exitCodes.safety, what: 'broken rule' },
  scenario: { code: exitCodes.usage, what: 'invalid scenario or script' },
  unanswered: { code: exitCodes.unanswered, what: 'missing answer of a decider' },
  crash: { code: exitCodes.crash, what: 'crash' },
  differs: { code: exitCodes.differs, what: 'not deterministic' },
} as const;

/** @param stopped true if the failure ended the sweep. */
function printFailure(
  file: string,
  failed: FailedRun,
  stopped: boolean,
  set: readonly Change[] = [],
): void {
  const { cell, replicate, kind, message, seed, values } = failed;
  const { code, what } = failureKinds[kind];
  const own = set.flatMap(([path, value]) =>
    path.startsWith('sweep.') ? [] : [[path, value] as const],
  );
  const advice =
    kind === 'unanswered'
      ? ['to continue: run the same command with --resume']
      : stopped && kind !== 'differs'
        ? ['to skip this run: --resume --on-error continue']
        : [];
  writeStderr(
    `folkmoot: run ${replicate} of cell ${cell} failed, ${what}: ${message}`,
    `to reproduce: ${simCommandLine([file], seed, [...own, ...values])}`,
    ...advice,
  );
  setExitCode(code);
}

/** Limit on the measures listed for a response without a value. */
const LISTED = 12;

/** Prints what changed no run, and responses without values. A failed run sets the exit code. */
function printEmpty({ empty, without_effect }: SweepResult): void {
  for (const { text } of without_effect) writeStderr(`folkmoot: note: ${text}`);
  for (const { response, reported } of empty) {
    const listed = reported.slice(0, LISTED).join(', ');
    const rest = reported.length > LISTED ? ` and ${reported.length - LISTED} more` : '';
    const advice = listed === '' ? '' : `; reported by scripts: ${listed}${rest}`;
    writeStderr(`folkmoot: response without a value in any run: ${response}${advice}`);
  }
  if (empty.length > 0) setExitCode(exitCodes.emptyResponse);
}

interface MergeFlags {
  out: string;
  resume?: boolean;
  json?: boolean;
}

export function mergeCommand(): CliCommand {
  return new CliCommand('merge')
    .description('merge the shards of a sweep')
    .argument('<dir...>', 'folders of all shards, in any order')
    .requiredOption('--out <dir>', 'folder to write')
    .option('--resume', 'continue an interrupted merge into --out')
    .option('--json', 'print one JSON object')
    .notes(`
Combines the folders of folkmoot sweep --shard i/n into one sweep with tables
and report, byte for byte the same as on one machine. All shards must be of one
sweep and of this build. If a run is missing, prints the missing runs and exits
with code 2. A file that differs from runs.sha256 counts as damaged.`)
    .examples(
      'merge shards/1 shards/2 --out sweeps/byzantine',
      'merge shards/* --out sweeps/byzantine --json',
      'merge shards/* --out sweeps/byzantine --resume',
    )
    .action(runMerge);
}

async function runMerge(folders: string[], flags: MergeFlags): Promise<void> {
  const { out, resume = false, json = false } = flags;
  const { MissingRunsError, mergeSweep } = await import('../../sim/sweep/merge.js');
  const { showCount } = await import('../output/progress.js');
  const progress = showCount(0, 'runs');
  let result: SweepResult;
  try {
    const made = build();
    result = await mergeSweep(folders, { out, made, resume, onProgress: progress.update });
  } catch (error) {
    if (!(error instanceof MissingRunsError)) throw error;
    if (json) printJson({ out, missing: error.missing });
    writeStderr(`folkmoot: ${error.message}`, ...error.missing.map(missingText));
    setExitCode(exitCodes.usage);
    return;
  } finally {
    progress.stop();
  }
  if (json) printJson({ out, ...result });
  else writeStdout(...sweepSummary(out, result));
  printEmpty(result);
  if (result.failed) printFailure('FILE', result.failed, false);
}

/** Limit on the runs listed for a shard. */
const NAMED = 10;

function missingText({ shard, of, folder, runs }: MissingShard): string {
  const which = `--shard ${shard}/${of}`;
  if (folder === null) return `${which}: missing folder with ${runs.length} runs`;
  const goOn = `continue with ${which} --resume --out ${folder}`;
  if (runs.length === 0) return `${folder}: not finished; ${goOn}`;
  const named = runs.slice(0, NAMED).map(({ cell, replicate }) => `${cell}/${replicate}`);
  const rest = runs.length > NAMED ? ` and ${runs.length - NAMED} more` : '';
  return `${folder}: missing runs (cell/replicate): ${named.join(', ')}${rest}; ${goOn}`;
}

interface WorkerFlags extends QueueFlags {
  queue: string;
  jobs: number;
  scripts?: boolean;
  leaseSeconds: number;
  idleMinutes?: number;
}

export function workerCommand(): CliCommand {
  return new CliCommand('worker')
    .description('execute runs of sweep --queue and swarm --queue')
    .addOptions(queueOptions('required'))
    .option('--jobs <n>', 'parallel runs', integer(1, 256), availableParallelism())
    .option('--scripts', 'run scenario scripts from the queue (trusted etcd only)')
    .option('--lease-seconds <n>', 'lease of a run, in seconds', integer(2, 3_600), 15)
    .option(
      '--idle-minutes <n>',
      'exit after idle time, in minutes (default: never)',
      integer(1, 100_000),
    )
    .notes(`
Executes runs of the oldest queue. The worker claims each run with a lease and
stores the result only while it holds the lease, so a lost worker loses no run
and no result is stored twice. Ctrl+C returns the claimed runs.

The worker must have the same build and Node version as the sweep. The queue
delivers scenarios, data files and scripts. A script is a program: it runs only
with --scripts.`)
    .examples(
      'worker --queue etcd://10.0.0.1:2379',
      'worker --queue etcd://10.0.0.1,10.0.0.2 --jobs 8 --idle-minutes 10',
      `worker --queue etcd://10.0.0.1 --queue-ca ca.pem \\
      --queue-cert client.pem --queue-key client.key`,
    )
    .action(runWorker);
}

async function runWorker(flags: WorkerFlags): Promise<void> {
  const { queue, jobs, scripts = false, leaseSeconds, idleMinutes } = flags;
  const client = await openEtcd(flags);
  const { serveQueues } = await import('../../sim/queue/serve.js');
  const interrupt = interruption();
  writeStderr(`folkmoot worker: ${jobs} runs in parallel from ${queue}`);
  try {
    const stored = await serveQueues(client, {
      made: build(),
      jobs,
      scripts,
      leaseSeconds,
      ...(idleMinutes === undefined ? {} : { idleMs: idleMinutes * 60_000 }),
      signal: interrupt.signal,
      say: (line) => writeStderr(line),
    });
    writeStdout(`${stored} runs completed`);
  } finally {
    client.close();
  }
  if (interrupt.signal.aborted) interrupt.end();
}
