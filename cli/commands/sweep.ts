/** `folkmoot sweep`: runs a scenario over a design of values, and makes tables of what came out. */
import { availableParallelism } from 'node:os';
import { parse } from 'node:path';
import { Command, Option } from 'commander';
import type { FailedRun, Plan, SweepResult } from '../../sim/sweep/index.js';
import { integer } from '../options/options.js';
import { exitCodes } from '../output/exit.js';
import { print, printJson, say } from '../output/output.js';
import { simCommandLine } from '../output/reproduce.js';
import { interruption } from '../output/signals.js';
import { commitHash, packageVersion } from '../output/version.js';

interface Flags {
  jobs: number;
  out?: string;
  resume?: boolean;
  onError: 'stop' | 'continue';
  replicates?: number;
  seed?: string;
  runMinutes: number;
  json?: boolean;
}

export function sweepCommand(): Command {
  const whole = (least: number, most: number) => integer({ least, most });
  return new Command('sweep')
    .description('run a scenario over a design of values, many runs at a time')
    .argument('<file>', 'a scenario with a section sweep')
    .option('--jobs <n>', 'runs at a time', whole(1, 256), availableParallelism())
    .option('--out <dir>', "where it is kept; default: sweep-NAME, after the file's name")
    .option('--resume', 'go on with the sweep in that folder, if there is one')
    .addOption(
      new Option('--on-error <what>', 'what a failed run ends: the sweep, or only itself')
        .choices(['stop', 'continue'])
        .default('stop'),
    )
    .option('--replicates <n>', "runs a cell; default: the scenario's", whole(1, 100_000))
    .option('--seed <text>', "default: the scenario's; replicate r of each cell has SEED/r")
    .option('--run-minutes <n>', 'a run that takes longer has failed', whole(1, 10_000), 60)
    .option('--json', 'print one JSON object on standard output')
    .addHelpText(
      'after',
      `
DIR holds sweep.json, runs/ with a file for each finished run, and at the end runs.csv, summary.csv
(mean, standard deviation and 95 % interval by cell and measure) and report.html. After any end,
kill -9 included, --resume goes on and gives the same bytes as a sweep that was never stopped.

A run that breaks a rule of the network, whose script throws, or that dies has failed. A run without
progress is a result. Exit codes: 0 done; of the first failed run 11 for a broken rule, 2 for
scenario or script, 13 for a crash.

Examples:
  $ folkmoot sweep byzantine --out sweeps/byzantine
  $ folkmoot sweep byzantine --out sweeps/byzantine --resume --on-error continue
  $ folkmoot sweep byzantine --replicates 30 --jobs 8 --json`,
    )
    .action(run);
}

async function run(file: string, flags: Flags): Promise<void> {
  const out = flags.out ?? `sweep-${parse(file).name}`;
  const plan = await planOf(file, flags);
  const { cells, runs, sweep } = plan;
  const each = `${cells} cells, ${sweep.replicates} runs each`;
  say(`folkmoot sweep ${file}: ${each}, ${flags.jobs} at a time, in ${out}`);
  const interrupt = interruption();
  const { showCount } = await import('../output/progress.js');
  const progress = showCount(runs, 'runs');
  let result: SweepResult;
  try {
    result = await sweepIn(out, plan, flags, interrupt.signal, progress.update);
  } finally {
    progress.stop();
  }
  if (flags.json) printJson({ out, ...result });
  else print(...summary(out, result));
  if (result.failed) return tellFailed(file, flags, result.failed);
  if (result.finished) return;
  say('interrupted: --resume with the same options goes on');
  interrupt.end();
}

async function planOf(file: string, { seed, replicates }: Flags): Promise<Plan> {
  const { planSweep } = await import('../../sim/sweep/index.js');
  return planSweep(file, {
    ...(seed === undefined ? {} : { seed }),
    ...(replicates === undefined ? {} : { replicates }),
  });
}

async function sweepIn(
  out: string,
  plan: Plan,
  { resume = false, jobs, onError, runMinutes }: Flags,
  signal: AbortSignal,
  onProgress: (done: number) => void,
): Promise<SweepResult> {
  const { sweep } = await import('../../sim/sweep/index.js');
  const made = { version: packageVersion(), commit: commitHash(), node: process.version };
  const wallMs = runMinutes * 60_000;
  return sweep(plan, { out, made, resume, jobs, onError, wallMs, signal, onProgress });
}

function summary(out: string, { planned, completed, verdicts, finished }: SweepResult) {
  const counted = Object.entries(verdicts).filter(([, count]) => count > 0);
  const shown = counted.map(([verdict, count]) => `${count} ${verdict}`).join(', ');
  const head = `${completed} of ${planned} planned runs completed`;
  if (!finished) return [`${head}, kept in ${out}`];
  return [`${head}: ${shown}`, `${out}/report.html, runs.csv, summary.csv`];
}

const failures = {
  safety: { code: exitCodes.safety, what: 'the network broke a rule' },
  scenario: { code: exitCodes.usage, what: 'scenario or script' },
  crash: { code: exitCodes.crash, what: 'it crashed' },
} as const;

function tellFailed(file: string, { onError }: Flags, failed: FailedRun): void {
  const { run: number, kind, message, seed, values } = failed;
  const { code, what } = failures[kind];
  const lines = [
    `folkmoot: run ${number} failed, ${what}: ${message}`,
    `to reproduce it: ${simCommandLine(file, seed, values)}`,
    ...(onError === 'stop' ? ['to go past it: --resume --on-error continue'] : []),
  ];
  say(...lines);
  process.exitCode = code;
}
