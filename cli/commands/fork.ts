import { availableParallelism } from 'node:os';
import type { Forked } from '../../sim/fork/fork.js';
import type { KeptRun } from '../../sim/fork/kept-run.js';
import type { DeciderOptions, Scenario } from '../../sim/index.js';
import { CliCommand, collect, integer } from '../options/options.js';
import { budgetOptions, readDeciderFlags, warnUnusedDeciders } from '../options/scenario.js';
import { exitCodes, interruption, UsageError } from '../output/exit.js';
import { setExitCode } from '../output/io.js';
import { printJson, writeStderr, writeStdoutAsync } from '../output/output.js';
import { build, commitHash, packageVersion } from '../output/provenance.js';

interface Flags {
  intervention: string[];
  out?: string;
  folder?: string;
  replicates?: number;
  jobs?: number;
  resume?: boolean;
  record?: boolean;
  mostCalls?: number;
  cache?: string;
  json?: boolean;
}

export function forkCommand(): CliCommand {
  return new CliCommand('fork')
    .description('re-run a saved run with changes, and verify the prefix')
    .argument('<run>', 'saved run, written by sim --out or fork')
    .option('--intervention <yaml>', 'change to apply, may be repeated', collect, [])
    .option('--out <dir>', 'folder to write (default: RUN-fork)')
    .option('--folder <dir>', "folder with the run's scripts and data files")
    .option(
      '--replicates <k>',
      'number of seeds to run with and without the change',
      integer(2, 100_000),
    )
    .option(
      '--jobs <n>',
      'parallel runs with --replicates (default: one per core)',
      integer(1, 256),
    )
    .option('--resume', 'continue an interrupted fork with --replicates')
    .option('--record', 'call external deciders for answers not in the cassette')
    .addOptions(budgetOptions())
    .option('--json', 'print one JSON object')
    .notes(notes)
    .examples(...examples)
    .action(run);
}

const notes = `
An intervention has the format of the list "interventions" of a scenario: its
kind, its target, and its time (at_ms, at_entry, at_height or at_condition).
Blocks, memes and alliances count from 0. See docs/scenarios.md and
docs/what-if.md.

The fork uses the scenario and the seed of the run. Both logs must have the same
digests up to the first change. If not, the run is not deterministic, and the
exit code is 12.

A run with external deciders requires --record. The fork takes answers from the
cassette of the run and calls the decider for missing ones. See
docs/deciders.md.`;

const examples = [
  "fork runs/7 --intervention '{ kind: mute, meme: 17, at_ms: 0 }'",
  `fork runs/7 --out runs/7-reject --intervention \\
      '{ kind: vote, agent: lawful-3, block: 5, decision: reject, at_ms: 0 }'`,
  `fork runs/7 --replicates 40 --intervention \\
      '{ kind: silence, whom: [{ group: town, share: 0.2 }], at_ms: 60000 }'`,
];

async function run(folder: string, flags: Flags): Promise<void> {
  const { replicates, jobs, resume } = flags;
  if (replicates === undefined && (jobs !== undefined || resume)) {
    const option = resume ? '--resume' : '--jobs';
    throw new UsageError('OPTION_REQUIRES', { option, required: '--replicates' });
  }
  const asking = readDeciderFlags(flags);
  const { assertInRun, forkScenario, readInterventions } = await import(
    '../../sim/fork/scenario.js'
  );
  const { asksDeciders, expectFolder, expectRecord } = await import('../../sim/fork/fork.js');
  const { readKept } = await import('../../sim/fork/kept-run.js');
  const option = '--intervention';
  const added = readInterventions(flags.intervention, option);
  const kept = readKept(folder, flags.folder);
  const labels = added.map((_, index) => `${option} ${index + 1}`);
  const scenario = forkScenario(kept, added, labels);
  await assertInRun(kept, scenario, labels);
  expectRecord(scenario, flags.record ?? false);
  if (!asksDeciders(scenario)) await warnUnusedDeciders(flags);
  expectFolder(scenario, flags.folder);
  const out = flags.out ?? `${folder.replace(/[/\\]+$/, '')}-fork`;
  if (replicates !== undefined) {
    const options = { ...flags, out, replicates, added: added.length, asking };
    return forkOverSeeds(kept, scenario, options);
  }
  await once(kept, scenario, out, { ...flags, asking });
}

interface Once extends Flags {
  asking: ReturnType<typeof readDeciderFlags>;
}

async function once(kept: KeptRun, scenario: Scenario, out: string, flags: Once): Promise<void> {
  const { runFork } = await import('../../sim/fork/fork.js');
  const { Interrupted } = await import('../../sim/run/simulate.js');
  const { showProgress } = await import('../output/progress.js');
  writeStderr(`folkmoot fork of ${kept.folder}: ${scenario.title} (seed=${scenario.seed})`);
  const made = build();
  const interrupt = interruption();
  const progress = showProgress();
  try {
    const hooks = {
      onProgress: progress.update,
      signal: interrupt.signal,
      onNote: (note: string) => writeStderr(`folkmoot: note: ${note}`),
      made,
      ...flags.asking,
    };
    const forked = await runFork(kept, scenario, out, hooks);
    progress.stop();
    await printFork(kept, forked, out, flags);
  } catch (error) {
    progress.stop();
    if (!(error instanceof Interrupted)) throw error;
    writeStderr(`interrupted: entries 0 to ${error.seq} are durable; saved in ${out}/network`);
    interrupt.end();
  }
}

async function printFork(
  kept: KeptRun,
  forked: Forked,
  out: string,
  { json }: Flags,
): Promise<void> {
  const { compareKept } = await import('../../sim/compare/runs.js');
  const { writeRunReport } = await import('../../sim/report/index.js');
  await writeRunReport(out);
  const compared = await compareKept(kept.folder, out);
  const { added, prefix, result } = forked;
  if (json) printJson({ out, verdict: result.verdict, interventions: added, prefix, ...compared });
  else {
    const { comparisonLines, forkLines } = await import('./compare.js');
    const lines = await comparisonLines(compared, [kept.folder, out]);
    await writeStdoutAsync(...forkLines(forked), ...lines);
  }
  writeStderr(`saved in ${out}; report: ${out}/report.html`);
  if (!prefix.same) {
    explainMismatch(kept, forked);
    setExitCode(exitCodes.differs);
  } else if (result.verdict === 'safety') setExitCode(exitCodes.safety);
}

/** Explains a mismatch: probably a different build, unless a script is not deterministic. */
function explainMismatch({ folder, result: before }: KeptRun, { prefix }: Forked): void {
  const { version, commit } = before;
  const builds = [`${version} ${commit}`, `${packageVersion()} ${commitHash()}`];
  if (prefix.impure === null && builds[0] !== builds[1]) {
    writeStderr(`folkmoot: different builds: ${folder} by ${builds[0]}, this is ${builds[1]}`);
  }
  writeStderr(`to diagnose: folkmoot sim ${folder}/scenario.json --check-determinism`);
}

// ---- --replicates: runs with and without the change over many seeds

interface OverSeeds {
  out: string;
  replicates: number;
  /** Number of interventions that the fork added. */
  added: number;
  jobs?: number;
  resume?: boolean;
  json?: boolean;
  asking: Pick<DeciderOptions, 'record' | 'mostCalls' | 'cache'>;
}

async function forkOverSeeds(kept: KeptRun, scenario: Scenario, flags: OverSeeds): Promise<void> {
  const { out, jobs = availableParallelism(), resume = false, asking: deciders } = flags;
  const { planFork } = await import('../../sim/fork/fork.js');
  const { sweep } = await import('../../sim/sweep/sweep.js');
  const { showCount } = await import('../output/progress.js');
  const plan = planFork(kept, scenario, flags);
  writeStderr(`folkmoot fork of ${kept.folder}: ${plan.runs} runs, ${jobs} in parallel, in ${out}`);
  const made = build();
  const interrupt = interruption();
  const { update: onProgress, stop } = showCount(plan.runs, 'runs');
  const how = { out, made, resume, jobs, signal: interrupt.signal, deciders };
  const result = await sweep(plan, { ...how, onProgress }).finally(stop);
  const differences = result.finished ? await differencesIn(out) : [];
  if (flags.json) printJson({ out, ...result, differences });
  else if (result.finished) await writeStdoutAsync(...luckLines(differences, flags.replicates));
  if (result.failed) {
    const { kind, message, seed } = result.failed;
    writeStderr(`folkmoot: the run with seed ${seed} failed (${kind}): ${message}`);
    const { failureKinds } = await import('./sweep.js');
    setExitCode(failureKinds[kind].code);
  } else if (result.finished) {
    writeStderr(`saved in ${out}; report: ${out}/report.html, differences.csv`);
  } else {
    writeStderr('interrupted; continue with --resume and the same options');
    interrupt.end();
  }
}

/** Difference in one measure: the value with the change minus the value without it. */
interface Difference {
  measure: string;
  n: number;
  mean: number | null;
  low: number | null;
  high: number | null;
}

async function differencesIn(out: string): Promise<Difference[]> {
  const { parseNumber, tableRows } = await import('../../report/folder.js');
  const differences: Difference[] = [];
  for await (const { measure = '', n, mean, low, high } of tableRows(out, 'differences.csv')) {
    const [of, least, most] = [mean, low, high].map(parseNumber);
    differences.push({ measure, n: Number(n), mean: of!, low: least!, high: most! });
  }
  return differences;
}

const shown = (value: number) => value.toLocaleString('en-US', { maximumSignificantDigits: 4 });

/** Number of pairs below which the intervals depend on the assumed distribution. */
const FEW = 5;

/** Formats the measures whose intervals exclude zero, and the number of tested measures. */
function luckLines(differences: readonly Difference[], replicates: number): string[] {
  const tested = differences.filter(({ n }) => n > 0);
  const clear = tested.filter(({ low, high }) => low !== null && (low > 0 || high! < 0));
  const widest = Math.max(0, ...clear.map(({ measure }) => measure.length));
  const lines = clear.map(({ measure, mean, low, high }) => {
    const by = `${mean! > 0 ? '+' : ''}${shown(mean!)}`;
    return `${measure.padEnd(widest)}  ${by}  (95 %: ${shown(low!)} to ${shown(high!)})`;
  });
  const still = tested.filter(({ mean, low }) => mean === 0 && low === null).length;
  return [
    `difference with minus without the change, mean of ${replicates} pairs of runs:`,
    ...(lines.length > 0 ? lines : ['no measure has an interval that excludes 0']),
    `${tested.length} measures tested; expect 1 in 20 intervals to exclude 0 by chance`,
    ...(replicates < FEW ? [`too few pairs: ${replicates}; use ${FEW} or more`] : []),
    ...(still > 0 ? [`${still} measures were identical in every pair`] : []),
  ];
}
