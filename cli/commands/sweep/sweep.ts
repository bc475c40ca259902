/** `folkmoot sweep`: runs a scenario over a design of values, and makes tables of what came out. */
import { availableParallelism } from 'node:os';
import { parse } from 'node:path';
import { Command, Option } from 'commander';
import type { Plan, Shard, SweepResult } from '../../../sim/sweep/index.js';
import { type DeciderFlags, deciderOptions, decidersFrom } from '../../options/deciders.js';
import { type HalfWidth, halfWidth, integer } from '../../options/options.js';
import { type QueueFlags, queueOptions, spreadOver } from '../../options/queue.js';
import { UsageError } from '../../output/exit.js';
import { print, printJson, say } from '../../output/output.js';
import { interruption } from '../../output/signals.js';
import { build } from '../../output/version.js';
import { summary, tellFailed } from './result.js';
import { shardOf } from './shard.js';

interface Flags extends DeciderFlags, QueueFlags {
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
      shardOf,
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
    .action(run);
}

async function run(file: string, flags: Flags): Promise<void> {
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
  say(`folkmoot sweep ${file}: ${each}, ${which}${how}, in ${out}`);
  const interrupt = interruption();
  const { showCount } = await import('../../output/progress.js');
  const progress = showCount(runs, 'runs');
  let result: SweepResult;
  try {
    result = await sweepIn(out, plan, flags, interrupt.signal, progress.update);
  } finally {
    progress.stop();
  }
  if (flags.json) printJson({ out, ...(shard ? { shard } : {}), ...result });
  else print(...summary(out, result, shard));
  if (result.failed) return tellFailed(file, result.failed, flags.onError === 'stop');
  if (result.finished) return;
  say('interrupted: --resume with the same options goes on');
  interrupt.end();
}

async function planOf(file: string, flags: Flags): Promise<Plan> {
  const { planSweep } = await import('../../../sim/sweep/index.js');
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
  flags: Flags,
  signal: AbortSignal,
  onProgress: (done: number, of: number) => void,
): Promise<SweepResult> {
  const { sweep } = await import('../../../sim/sweep/index.js');
  const { resume = false, shard, jobs, onError, runMinutes } = flags;
  const { folder, modules, scripts, scenario } = plan;
  const carried = { title: `sweep: ${scenario.title}`, files: { folder, modules, scripts } };
  const queue = await spreadOver(flags, carried);
  const wallMs = runMinutes * 60_000;
  const where = { out, made: build(), resume, ...(shard ? { shard } : {}) };
  const how = { jobs, onError, wallMs, deciders: decidersFrom(flags), ...queue?.given };
  try {
    return await sweep(plan, { ...where, ...how, signal, onProgress });
  } finally {
    queue?.close();
  }
}
