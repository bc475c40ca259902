/** `folkmoot swarm`: draws scenarios by chance until one shows a bug, and makes that one small. */

import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import type { SwarmFailure, SwarmResult } from '../../sim/swarm/swarm.js';
import { type QueueFlags, queueOptions, spreadOver } from '../options/etcd.js';
import { integer } from '../options/options.js';
import { exitCodes, interruption } from '../output/exit.js';
import { setExitCode } from '../output/io.js';
import { escapeControls, printJson, writeStderr, writeStdout } from '../output/output.js';
import { simCommandLine } from '../output/provenance.js';

interface Flags extends QueueFlags {
  seeds: number;
  first: number;
  jobs: number;
  minutes?: number;
  out?: string;
  json?: boolean;
}

export function swarmCommand(): Command {
  const whole = (least: number, most: number) => integer({ least, most });
  const command = new Command('swarm')
    .description('run scenarios drawn by chance, and shrink the first that fails')
    .option('--seeds <n>', 'how many scenarios', whole(1, 1_000_000_000), 1_000)
    .option('--first <k>', 'number of the first one', whole(1, 1_000_000_000), 1)
    .option('--jobs <n>', 'runs at a time', whole(1, 256), availableParallelism())
    .option('--minutes <n>', 'begin no more after so many', whole(1, 100_000))
    .option('--out <dir>', 'where a failing scenario is written; default: swarm-failure-NUMBER');
  for (const option of queueOptions()) command.addOption(option);
  return command
    .option('--json', 'print one JSON object on standard output')
    .addHelpText(
      'after',
      `
A number alone gives a scenario: its agents and their strategies, policy and weights, links, faults
and length. An independent model of the rules looks over each run. What fails is a rule that the
network breaks; a crash; a second run, one of ten has it, with another digest; and no progress
where enough agents vote for every sound block and little goes wrong.

The first failure is made as small as it gets while it fails alike, and written with the command
that runs it. With --queue, workers on any machines run them (folkmoot worker); what failed is made
small here. Exit codes: 0 none failed, 10 no progress, 11 a broken rule, 12 two digests, 13 crash.

Examples:
  $ folkmoot swarm --seeds 200
  $ folkmoot swarm --first 5000 --seeds 1000000 --minutes 30 --jobs 8
  $ folkmoot swarm --seeds 100000 --queue etcd://10.0.0.1:2379`,
    )
    .action(run);
}

async function run(flags: Flags): Promise<void> {
  const { seeds, first, jobs, minutes } = flags;
  const { swarm } = await import('../../sim/swarm/swarm.js');
  const { showCount } = await import('../output/progress.js');
  const how = flags.queue === undefined ? `${jobs} at a time` : `by workers of ${flags.queue}`;
  writeStderr(`folkmoot swarm: ${first} to ${first + seeds - 1}, ${how}`);
  const queue = await spreadOver(flags, { title: 'swarm' });
  const interrupt = interruption();
  const progress = showCount(seeds, 'scenarios');
  const until = performance.now() + (minutes ?? Number.POSITIVE_INFINITY) * 60_000;
  let result: SwarmResult;
  try {
    result = await swarm({
      seeds,
      first,
      jobs,
      ...queue?.given,
      signal: interrupt.signal,
      goesOn: () => performance.now() < until,
      onProgress: progress.update,
      onShrink: (tried, agents) => {
        writeStderr(`shrinking: ${agents} agents after ${tried} tries`);
      },
    });
  } finally {
    progress.stop();
    queue?.close();
  }
  const kept = result.failure && (await keep(result.failure, flags));
  if (flags.json) printJson(shown(result, kept));
  else writeStdout(...readable(result, seeds));
  if (result.failure) printFailure(result.failure, kept!);
  else if (interrupt.signal.aborted) interrupt.end();
}

interface Kept {
  file: string;
  command: string;
}

/** Writes the smallest scenario, and the one that was drawn beside it. */
async function keep(failure: SwarmFailure, flags: Flags): Promise<Kept> {
  const { stringify } = await import('yaml');
  const { makeFolder } = await import('../../engine/store/folder.js');
  const { writeFile } = await import('node:fs/promises');
  const { number, kind, message, smallest, drawn, tries } = failure;
  const out = flags.out ?? `swarm-failure-${number}`;
  const file = join(out, 'scenario.yaml');
  const check = kind === 'nondeterminism' ? ' --check-determinism' : '';
  const command = `${simCommandLine(file, String(smallest.seed))}${check}`;
  const about = [
    `Swarm scenario ${number}, made small in ${tries} runs. It fails: ${kind}.`,
    message,
    command,
  ];
  const comment = about.map((line) => `# ${escapeControls(line)}\n`).join('');
  makeFolder(out);
  await writeFile(file, `${comment}${stringify(smallest)}`);
  await writeFile(join(out, 'drawn.yaml'), stringify(drawn));
  return { file, command };
}

function shown({ failure, ...result }: SwarmResult, kept: Kept | null) {
  if (!failure) return { ...result, failure };
  const { number, kind, sign, message, tries } = failure;
  return { ...result, failure: { number, kind, sign, message, tries, ...kept } };
}

function readable(result: SwarmResult, seeds: number): string[] {
  const { ran, twice, expected, noProgress, coverage } = result;
  const rows = Object.entries(coverage).map(([what, counts]) => {
    const each = Object.entries(counts).map(([name, count]) => `${name} ${count}`);
    return `${what.padEnd(11)} ${each.join(', ')}`;
  });
  const progress = `${expected} had to make progress; ${noProgress} made none`;
  return [
    `${ran} of ${seeds} scenarios, ${twice} of them twice; ${progress}`,
    'drawn so often:',
    ...rows,
  ];
}

const codes = {
  safety: exitCodes.safety,
  liveness: exitCodes.noProgress,
  nondeterminism: exitCodes.differs,
  crash: exitCodes.crash,
} as const;

function printFailure({ number, kind, message }: SwarmFailure, { file, command }: Kept): void {
  writeStderr(
    `folkmoot: scenario ${number} failed, ${kind}: ${message}`,
    `made small in ${file}; to run it: ${command}`,
  );
  setExitCode(codes[kind]);
}
