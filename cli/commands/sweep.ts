/**
 * `folkmoot sweep` runs a scenario over a design of values, and makes tables of the results;
 * `folkmoot merge` makes them of the shards of a sweep.
 */

import { availableParallelism } from 'node:os';
import { parse } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { MissingShard } from '../../sim/sweep/merge.js';
import type { Plan, Shard } from '../../sim/sweep/plan.js';
import type { FailedRun, SweepResult } from '../../sim/sweep/runs.js';
import { type QueueFlags, queueOptions, spreadOver } from '../options/etcd.js';
import { type HalfWidth, halfWidth, integer } from '../options/options.js';
import { type DeciderFlags, deciderOptions, readDeciderFlags } from '../options/scenario.js';
import { exitCodes, interruption, UsageError } from '../output/exit.js';
import { setExitCode } from '../output/io.js';
import { printJson, writeStderr, writeStdout } from '../output/output.js';
import { build, simCommandLine } from '../output/provenance.js';

interface SweepFlags extends DeciderFlags, QueueFlags {
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
  seed?: string;
  runMinutes: number;
  json?: boolean;
}

export function sweepCommand(): Command {
  const whole = (least: number, most: number) => integer({ least, most });
  const command = new Command('sweep')
    .description('run a scenario over a design of values, many runs at a time')
    .argument('<file>', 'a scenario with a section sweep')
    .option('--jobs <n>', 'runs at a time', whole(1, 256), availableParallelism())
    .option('--out <dir>', "where it is kept; default: sweep-NAME, after the file's name")
    .option(
      '--shard <i/n>',
      'only the i-th of n parts; slurm: that of this task of an array',
      parseShard,
    )
    .option('--resume', 'go on with the sweep in that folder, with more of it if more is asked for')
    .addOption(
      new Option('--on-error <what>', 'what a failed run ends: the sweep, or only itself')
        .choices(['stop', 'continue'])
        .default('stop'),
    )
    .option('--replicates <n>', "runs a cell; default: the scenario's", whole(1, 100_000))
    .option('--samples <n>', 'of lhs, morris and sobol, likewise', whole(1, 100_000))
    .option('--until-interval <w>', 'add runs until half an interval is W wide, or 5%', halfWidth)
    .option('--until-response <name>', 'whose interval; default: the first response')
    .option('--most-replicates <n>', 'where that ends in any case', whole(10, 100_000))
    .addOption(
      new Option('--audit <which>', 'runs of a cell that are audited; default: all').choices([
        ...(['all', 'first', 'none'] as const),
      ]),
    )
    .option('--seed <text>', "default: the scenario's; replicate r of each cell has SEED/r")
    .option('--run-minutes <n>', 'a run that takes longer has failed', whole(1, 10_000), 60);
  for (const option of [...deciderOptions(), ...queueOptions()]) command.addOption(option);
  return command
    .option('--json', 'print one JSON object on standard output')
    .addHelpText(
      'after',
      `
DIR holds sweep.json, runs/ with a file for each finished run, and at the end runs.csv,
run_groups.csv, summary.csv (mean, standard deviation and 95 % interval by cell and measure) and
report.html. After any end, kill -9 included, --resume goes on and gives the same bytes as a sweep
that was never stopped. With more replicates, samples (morris, sobol) or values of a factor (grid,
list) it runs what is missing.

With --until-interval a cell gets 30 runs, then half as many again each time, until its interval is
narrow. Intervals are wider then, so that they hold the mean although the runs stop at a narrow one.
The order in which runs end does not matter.

A run that breaks a rule of the network, whose script throws, or that dies has failed. A run without
progress is a result. The first run of a sweep with scripts is made twice before all others; if it
is not the same again, nothing else is run. Exit codes: 0 done; 12 not the same again; of the first
failed run 11 for a broken rule, 2 for scenario or script, 16 for an answer of an external decider
that is not there, 13 for a crash.

With --shard a machine runs its part, in a folder of its own, without tables; folkmoot merge makes
one sweep of all parts. Runs are dealt out one by one, with --until-interval cell by cell.

With --queue the runs are done by workers on any machines, which folkmoot worker starts; this
process offers them by way of an etcd, keeps what they find, and makes the same bytes as if it had
done all itself. Workers may come, go and die. Another build or Node takes no part.

With --record, programs and models that decide for agents are asked (docs/deciders.md), at most
--most-calls times a run, and DIR/cassettes/ has a cassette for each run; --cassette takes those of
another sweep's folder.

Examples:
  $ folkmoot sweep byzantine --out sweeps/byzantine
  $ folkmoot sweep byzantine --out sweeps/byzantine --resume --on-error continue
  $ folkmoot sweep byzantine --out sweeps/byzantine --resume --replicates 30
  $ folkmoot sweep byzantine --until-interval 0.02 --most-replicates 200
  $ folkmoot sweep byzantine --replicates 30 --jobs 8 --audit first --json
  $ folkmoot sweep byzantine --shard 2/3 --out shards/2
  $ folkmoot merge shards/1 shards/2 shards/3 --out sweeps/byzantine
  $ folkmoot sweep byzantine --queue etcd://10.0.0.1:2379 --out sweeps/byzantine
  $ folkmoot worker --queue etcd://10.0.0.1:2379 --jobs 8`,
    )
    .action(runSweep);
}

async function runSweep(file: string, flags: SweepFlags): Promise<void> {
  const { shard } = flags;
  const part = shard ? `-${shard.index}-of-${shard.of}` : '';
  const out = flags.out ?? `sweep-${parse(file).name}${part}`;
  const plan = await planOf(file, flags);
  const { cells, runs, sweep } = plan;
  const least = sweep.until ? 'or more ' : '';
  const each = `${cells} cells, ${runs / cells} runs ${least}each`;
  const which = shard ? `shard ${shard.index}/${shard.of}, ` : '';
  const how =
    flags.queue === undefined ? `${flags.jobs} at a time` : `by workers of ${flags.queue}`;
  writeStderr(`folkmoot sweep ${file}: ${each}, ${which}${how}, in ${out}`);
  const interrupt = interruption();
  const { showCount } = await import('../output/progress.js');
  const progress = showCount(runs, 'runs');
  let result: SweepResult;
  try {
    result = await sweepIn(out, plan, flags, interrupt.signal, progress.update);
  } finally {
    progress.stop();
  }
  if (flags.json) printJson({ out, ...(shard ? { shard } : {}), ...result });
  else writeStdout(...sweepSummary(out, result, shard));
  if (result.failed) return tellFailed(file, result.failed, flags.onError === 'stop');
  if (result.finished) return;
  writeStderr('interrupted: --resume with the same options goes on');
  interrupt.end();
}

async function planOf(file: string, flags: SweepFlags): Promise<Plan> {
  const { planSweep } = await import('../../sim/sweep/plan.js');
  const { seed, replicates, samples, audit, untilInterval, untilResponse, mostReplicates } = flags;
  if (!untilInterval && (untilResponse !== undefined || mostReplicates !== undefined)) {
    throw new UsageError('--until-response and --most-replicates are for --until-interval');
  }
  const until = {
    ...untilInterval,
    ...(untilResponse === undefined ? {} : { response: untilResponse }),
    ...(mostReplicates === undefined ? {} : { most: mostReplicates }),
  };
  return planSweep(file, {
    ...(seed === undefined ? {} : { seed }),
    ...(replicates === undefined ? {} : { replicates }),
    ...(samples === undefined ? {} : { samples }),
    ...(audit === undefined ? {} : { audit }),
    ...(untilInterval ? { until } : {}),
  });
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

/** As many as a sweep may have runs. */
const MOST_SHARDS = 1_000_000;

export function parseShard(text: string): Shard {
  if (text === 'slurm') return taskOf(process.env);
  const [, index = 0, of = 0] = (/^(\d{1,7})\/(\d{1,7})$/.exec(text) ?? []).map(Number);
  if (1 <= index && index <= of && of <= MOST_SHARDS) return { index, of };
  throw new InvalidArgumentError(
    `expected i/n with i from 1 to n, such as 3/16, n at most ${MOST_SHARDS}, or slurm`,
  );
}

/**
 * The task of a Slurm job array: 1-16, 0-15 or 10-40:2, each from its least index on. Slurm says
 * how many tasks there are, and their least and greatest index: whose turn it is follows from that
 * where they are evenly spaced. Of tasks that are submitted once more, it counts those alone.
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
    `Slurm says ${array}; expected an array that is evenly spaced, such as --array=1-16, or i/n`,
  );
}

function numberIn(env: NodeJS.ProcessEnv, which: string): number {
  const name = `SLURM_ARRAY_TASK_${which}`;
  const text = env[name];
  if (text !== undefined && /^\d{1,10}$/.test(text)) return Number(text);
  const what = text === undefined ? `${name} is not set` : `${name} is ${JSON.stringify(text)}`;
  throw new InvalidArgumentError(`${what}; expected a task of a Slurm job array, or i/n`);
}

function sweepSummary(out: string, result: SweepResult, shard?: Shard): string[] {
  const { planned, completed, verdicts, finished } = result;
  const counted = Object.entries(verdicts).filter(([, count]) => count > 0);
  const shown = counted.map(([verdict, count]) => `${count} ${verdict}`).join(', ');
  const head = `${completed} of ${planned} planned runs completed`;
  if (!finished) return [`${head}, kept in ${out}`];
  const all = shown === '' ? head : `${head}: ${shown}`;
  if (!shard) return [all, `${out}/report.html, runs.csv, summary.csv`];
  return [
    all,
    `${out} is shard ${shard.index}/${shard.of}: folkmoot merge makes the tables of all`,
  ];
}

const failureKinds = {
  safety: { code: exitCodes.safety, what: 'the network broke a rule' },
  scenario: { code: exitCodes.usage, what: 'scenario or script' },
  unanswered: { code: exitCodes.unanswered, what: 'a decider has not answered' },
  crash: { code: exitCodes.crash, what: 'it crashed' },
  differs: { code: exitCodes.differs, what: 'not deterministic' },
} as const;

/** @param stopped whether that is what ended the sweep. */
function tellFailed(file: string, failed: FailedRun, stopped: boolean): void {
  const { cell, replicate, kind, message, seed, values } = failed;
  const { code, what } = failureKinds[kind];
  const advice =
    kind === 'unanswered'
      ? ['to continue: the same command with --resume']
      : stopped && kind !== 'differs'
        ? ['to go past it: --resume --on-error continue']
        : [];
  writeStderr(
    `folkmoot: run ${replicate} of cell ${cell} failed, ${what}: ${message}`,
    `to reproduce it: ${simCommandLine(file, seed, values)}`,
    ...advice,
  );
  setExitCode(code);
}

interface MergeFlags {
  out: string;
  resume?: boolean;
  json?: boolean;
}

export function mergeCommand(): Command {
  return new Command('merge')
    .description('make one sweep of its shards, with tables and report')
    .argument('<dir...>', 'the folders of all shards, in any order')
    .requiredOption('--out <dir>', 'where the whole sweep is kept')
    .option('--resume', 'go on with a merge into that folder that was ended')
    .option('--json', 'print one JSON object on standard output')
    .addHelpText(
      'after',
      `
The shards are folders that folkmoot sweep --shard i/n has left, of one sweep and of this build.
Each run must be there once, as its shard kept it. What is missing is listed, with exit code 2, and
nothing is written; what was changed since (runs.sha256 says so) is damaged, exit code 13.

DIR is what folkmoot sweep would have left in one folder, byte for byte, and can go on as such.

Examples:
  $ folkmoot sweep byzantine --shard 1/2 --out shards/1
  $ folkmoot sweep byzantine --shard 2/2 --out shards/2
  $ folkmoot merge shards/1 shards/2 --out sweeps/byzantine
  $ folkmoot merge shards/* --out sweeps/byzantine --json`,
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
  if (result.failed) tellFailed('FILE', result.failed, false);
}

/** How many missing runs of a shard are named. */
const NAMED = 10;

function missingText({ shard, of, folder, runs }: MissingShard): string {
  const which = `--shard ${shard}/${of}`;
  if (folder === null) return `${which}: no folder of it; missing runs: ${runs.length}`;
  const goOn = `${which} --resume --out ${folder} goes on with it`;
  if (runs.length === 0) return `${folder}: not finished; ${goOn}`;
  const named = runs.slice(0, NAMED).map(({ cell, replicate }) => `${cell}/${replicate}`);
  const rest = runs.length > NAMED ? ` and ${runs.length - NAMED} more` : '';
  return `${folder}: missing runs, as cell/replicate: ${named.join(', ')}${rest}; ${goOn}`;
}
