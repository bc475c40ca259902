/** `folkmoot fork --replicates`: runs with and without the change over many seeds. */

import { availableParallelism } from 'node:os';
import { parseNumber, type TableRow, tableRows } from '../../report/folder.js';
import { planFork } from '../../sim/fork/fork.js';
import type { KeptRun } from '../../sim/fork/kept-run.js';
import type { DeciderOptions, Scenario } from '../../sim/index.js';
import type { FailureKind, SweepResult } from '../../sim/sweep/runs.js';
import { sweep } from '../../sim/sweep/sweep.js';
import { exitCodes, interruption } from '../output/exit.js';
import { setExitCode } from '../output/io.js';
import { printJson, writeStderr, writeStdoutAsync } from '../output/output.js';
import { showCount } from '../output/progress.js';
import { build } from '../output/provenance.js';

interface OverSeeds {
  out: string;
  replicates: number;
  /** Number of interventions that the fork added. */
  added: number;
  jobs?: number;
  resume?: boolean;
  json?: boolean;
  asking: Pick<DeciderOptions, 'record' | 'mostCalls'>;
}

export async function forkOverSeeds(
  kept: KeptRun,
  scenario: Scenario,
  flags: OverSeeds,
): Promise<void> {
  const { out, jobs = availableParallelism(), resume = false, asking: deciders } = flags;
  const plan = planFork(kept, scenario, flags);
  writeStderr(`folkmoot fork of ${kept.folder}: ${plan.runs} runs, ${jobs} in parallel, in ${out}`);
  const made = build();
  const interrupt = interruption();
  const progress = showCount(plan.runs, 'runs');
  let result: SweepResult;
  try {
    const { signal } = interrupt;
    const how = { out, made, resume, jobs, signal, deciders };
    result = await sweep(plan, { ...how, onProgress: progress.update });
  } finally {
    progress.stop();
  }
  const differences = result.finished ? await differencesIn(out) : [];
  if (flags.json) printJson({ out, ...result, differences });
  else if (result.finished) await writeStdoutAsync(...luckLines(differences, flags.replicates));
  if (result.failed) {
    const { kind, message, seed } = result.failed;
    writeStderr(`folkmoot: the run with seed ${seed} failed (${kind}): ${message}`);
    setExitCode(codes[kind]);
  } else if (result.finished) {
    writeStderr(`saved in ${out}; report: ${out}/report.html, differences.csv`);
  } else {
    writeStderr('interrupted; continue with --resume and the same options');
    interrupt.end();
  }
}

const codes: Record<FailureKind, number> = {
  safety: exitCodes.safety,
  scenario: exitCodes.usage,
  crash: exitCodes.crash,
  differs: exitCodes.differs,
  unanswered: exitCodes.unanswered,
};

/** Difference in one measure: the value with the change minus the value without it. */
interface Difference {
  measure: string;
  n: number;
  mean: number | null;
  low: number | null;
  high: number | null;
}

async function differencesIn(out: string): Promise<Difference[]> {
  const differences: Difference[] = [];
  for await (const row of tableRows(out, 'differences.csv')) differences.push(differenceOf(row));
  return differences;
}

const differenceOf = ({ measure = '', n, mean, low, high }: TableRow): Difference => ({
  measure,
  n: Number(n),
  mean: parseNumber(mean),
  low: parseNumber(low),
  high: parseNumber(high),
});

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
