import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { ClusterPlan } from '../../sim/swarm/cluster-plan.js';
import type { ClusterSwarmFailure, ClusterSwarmResult } from '../../sim/swarm/cluster-swarm.js';
import type { SwarmFailure, SwarmResult } from '../../sim/swarm/swarm.js';
import { type QueueFlags, queueOptions, spreadOver } from '../options/etcd.js';
import { CliCommand, integer } from '../options/options.js';
import { exitCodes, interruption, UsageError } from '../output/exit.js';
import { setExitCode } from '../output/io.js';
import { escapeControls, printJson, writeStderr, writeStdout } from '../output/output.js';
import { simCommandLine } from '../output/provenance.js';

interface Flags extends QueueFlags {
  seeds: number;
  first: number;
  jobs: number;
  minutes?: number;
  out?: string;
  cluster?: boolean;
  plan?: string;
  checkDeterminism?: boolean;
  json?: boolean;
}

export function swarmCommand(): CliCommand {
  return new CliCommand('swarm')
    .description('test random scenarios, and shrink the first failure')
    .option('--seeds <n>', 'number of scenarios', integer(1, 1_000_000_000), 1_000)
    .option('--first <k>', 'number of the first scenario', integer(1, 1_000_000_000), 1)
    .option('--jobs <n>', 'parallel runs', integer(1, 256), availableParallelism())
    .option('--minutes <n>', 'start no new runs after this many minutes', integer(1, 100_000))
    .option('--out <dir>', 'new folder for a failure (default: swarm-failure-NUMBER)')
    .option('--cluster', 'test random clusters with faults, in virtual time')
    .option('--plan <file>', 'with --cluster: run this plan, as a failure writes it')
    .option('--check-determinism', 'with --cluster: run each plan twice, and compare all draws')
    .addOptions(queueOptions())
    .option('--json', 'print one JSON object')
    .notes(`
The number of a scenario determines its agents, strategies, policy, weights,
links, faults and length. An independent model audits every run, and one in ten
runs twice. A failure is a broken rule, a crash, a different digest in the
second run, or no progress under good conditions.

The first failure is shrunk and written with the command that reproduces it.
With --queue, workers execute the runs, and this process shrinks the failure.

With --cluster, the number determines a cluster instead: 1 to 5 nodes, 1 to 5
members of etcd, clients, and faults of processes, clocks, disks, links and
messages. The production code of the nodes runs in one process and in virtual
time. All promises of docs/cluster.md are checked after each step, and the
cluster must work again once the faults end. A failure is printed with its
smallest plan and its timeline. The plan is also written as a JSON file, which
--plan runs again.`)
    .examples(
      'swarm --seeds 200',
      'swarm --first 5000 --seeds 1000000 --minutes 30 --jobs 8',
      'swarm --seeds 100000 --queue etcd://10.0.0.1:2379',
      'swarm --cluster --seeds 200',
    )
    .action(run);
}

async function run(flags: Flags): Promise<void> {
  const { seeds, first, jobs, minutes } = flags;
  if (flags.out !== undefined) {
    const { assertNoNetwork, assertNoOutput } = await import('../../report/folder.js');
    assertNoNetwork(flags.out);
    assertNoOutput(flags.out, flags.cluster ? [PLAN] : [SMALLEST, DRAWN]);
  }
  if (flags.cluster) return runClusters(flags);
  const { swarm } = await import('../../sim/swarm/swarm.js');
  const { showCount } = await import('../output/progress.js');
  const how = flags.queue === undefined ? `${jobs} in parallel` : `by workers of ${flags.queue}`;
  writeStderr(`folkmoot swarm: scenarios ${first} to ${first + seeds - 1}, ${how}`);
  const queue = await spreadOver(flags, { title: 'swarm' });
  const interrupt = interruption();
  const progress = showCount(seeds, 'scenarios', flags.queue === undefined ? jobs : 1);
  progress.update(0);
  const until = performance.now() + (minutes ?? Number.POSITIVE_INFINITY) * 60_000;
  const result = await swarm({
    ...{ seeds, first, jobs, ...queue?.given, signal: interrupt.signal },
    goesOn: () => performance.now() < until,
    onProgress: progress.update,
    onShrink: (tried, agents) => writeStderr(`shrinking: ${agents} agents after ${tried} runs`),
  }).finally(() => {
    progress.stop();
    queue?.close();
  });
  const kept = result.failure && (await keep(result.failure, flags));
  if (flags.json) printJson(shown(result, kept));
  else writeStdout(...readable(result, seeds));
  if (result.failure) printFailure(result.failure, kept!);
  else if (interrupt.signal.aborted) interrupt.end();
}

/** Runs simulated clusters, one at a time. */
async function runClusters(flags: Flags): Promise<void> {
  const { minutes, checkDeterminism = false } = flags;
  const advice = 'start one process per range of --first';
  const conflict = { option: '--queue', other: '--cluster', advice };
  if (flags.queue) throw new UsageError('OPTION_CONFLICT', conflict);
  const { clusterSwarm } = await import('../../sim/swarm/cluster-swarm.js');
  const { describePlan, drawClusterPlan } = await import('../../sim/swarm/cluster-plan.js');
  const { showCount } = await import('../output/progress.js');
  const given = flags.plan === undefined ? null : await readPlan(flags.plan);
  const first = given ? given.seed : flags.first;
  const seeds = given ? 1 : flags.seeds;
  writeStderr(`folkmoot swarm: clusters ${first} to ${first + seeds - 1}`);
  const interrupt = interruption();
  const progress = showCount(seeds, 'clusters', 1);
  progress.update(0);
  const until = performance.now() + (minutes ?? Number.POSITIVE_INFINITY) * 60_000;
  const result = await clusterSwarm({
    ...{ seeds, first, checkDeterminism, signal: interrupt.signal },
    plan: (seed) => given ?? drawClusterPlan(seed),
    goesOn: () => performance.now() < until,
    onProgress: progress.update,
    onShrink: (tried, faults) => writeStderr(`shrinking: ${faults} faults after ${tried} runs`),
  }).finally(() => progress.stop());
  if (flags.json) printJson(result);
  else writeStdout(...readableClusters(result, seeds));
  if (result.failure) await keepClusterFailure(result.failure, describePlan, flags);
  else if (interrupt.signal.aborted) interrupt.end();
}

async function readPlan(path: string): Promise<ClusterPlan> {
  const { readFile } = await import('node:fs/promises');
  const { findPlanProblem } = await import('../../sim/swarm/cluster-plan.js');
  const text = await readFile(path, 'utf8').catch((error: Error) => {
    throw new UsageError('FILE_NOT_READABLE', { path, reason: error.message });
  });
  try {
    const plan = JSON.parse(text) as ClusterPlan;
    const problem = findPlanProblem(plan);
    if (!problem) return plan;
    throw new SyntaxError(`${problem.pointer} ${problem.message}`.trim());
  } catch (error) {
    throw new UsageError('FILE_NOT_READABLE', { path, reason: (error as Error).message });
  }
}

function readableClusters(result: ClusterSwarmResult, seeds: number): string[] {
  const { ran, twice, steps, virtualMs, acknowledged, entries, faults } = result;
  const each = Object.entries(faults).map(([kind, count]) => `${kind} ${count}`);
  return [
    `${ran} of ${seeds} clusters, ${twice} of them twice; ${Math.round(virtualMs / 1_000)} s of ` +
      `virtual time in ${steps} steps, ${acknowledged} acknowledged writes, ${entries} entries`,
    `faults: ${each.join(', ') || 'none'}`,
  ];
}

/** Number of lines of a timeline that are printed. */
const LINES = 60;

async function keepClusterFailure(
  { drawn, failure, run, tries }: ClusterSwarmFailure,
  describe: (plan: ClusterPlan) => string[],
  flags: Flags,
): Promise<void> {
  const { makeFolder } = await import('../../engine/store/folder.js');
  const { writeFile } = await import('node:fs/promises');
  const out = flags.out ?? `swarm-failure-${drawn.seed}`;
  const file = join(out, PLAN);
  makeFolder(out);
  await writeFile(file, `${JSON.stringify(run.plan, null, 2)}\n`);
  writeStdout(...run.timeline.slice(-LINES), '', ...describe(run.plan));
  const check = failure.kind === 'nondeterminism' ? ' --check-determinism' : '';
  writeStderr(
    `folkmoot: cluster ${drawn.seed} failed, ${failure.kind}: ${failure.message}`,
    `shrunk in ${tries} runs; reproduce with: ` +
      `npx folkmoot swarm --cluster --plan ${file}${check}`,
  );
  setExitCode(codes[failure.kind]);
}

/** Files of a failure: the shrunk scenario and the original one. */
const SMALLEST = 'scenario.yaml';
const DRAWN = 'drawn.yaml';
/** File of a failed cluster: its shrunk plan. */
const PLAN = 'plan.json';

interface Kept {
  file: string;
  command: string;
}

/** Writes the shrunk scenario and the original one. */
async function keep(failure: SwarmFailure, flags: Flags): Promise<Kept> {
  const { stringify } = await import('yaml');
  const { makeFolder } = await import('../../engine/store/folder.js');
  const { writeFile } = await import('node:fs/promises');
  const { number, kind, message, smallest, drawn, tries } = failure;
  const out = flags.out ?? `swarm-failure-${number}`;
  const file = join(out, SMALLEST);
  const check = kind === 'nondeterminism' ? ' --check-determinism' : '';
  const command = `${simCommandLine([file], String(smallest.seed))}${check}`;
  const about = [
    `Swarm scenario ${number}, shrunk in ${tries} runs. Failure: ${kind}.`,
    message,
    command,
  ];
  const comment = about.map((line) => `# ${escapeControls(line)}\n`).join('');
  makeFolder(out);
  await writeFile(file, `${comment}${stringify(smallest)}`);
  await writeFile(join(out, DRAWN), stringify(drawn));
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
  const progress = `${expected} expected to make progress, ${noProgress} without progress`;
  return [
    `${ran} of ${seeds} scenarios, ${twice} of them twice; ${progress}`,
    'coverage:',
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
    `shrunk scenario: ${file}; reproduce with: ${command}`,
  );
  setExitCode(codes[kind]);
}
