import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Option } from 'commander';
import type { Comparison } from '../../../bench/load/compare.js';
import type { Condition, Judgement } from '../../../bench/load/conditions.js';
import type { LoadResult } from '../../../bench/load/result.js';
import { alignColumns, formatValue, type Unit } from '../../../report/shared/format.js';
import { CliCommand, collect } from '../../options/options.js';
import { exitCodes } from '../../output/exit.js';
import { setExitCode } from '../../output/io.js';
import { printJson, writeStderr, writeStdout } from '../../output/output.js';
import type { Judged } from './ci.js';

interface Flags {
  failOn?: string[];
  json?: boolean;
  markdown?: boolean;
  html?: string;
}

export function loadCompareCommand(): CliCommand {
  return new CliCommand('compare')
    .description('compare load results')
    .argument('<a>', 'baseline: result.json, or a folder written by load --out')
    .argument('<b...>', 'results to compare with the baseline, the oldest first')
    .option(
      '--fail-on <conditions>',
      'exit 15 if the last meets a condition, may be repeated',
      collect,
    )
    .addOption(new Option('--markdown', 'print a Markdown table').conflicts('json'))
    .option('--html <file>', 'HTML page to write, with a table and the trend')
    .option('--json', 'print one JSON object')
    .notes(`
With several results, each has a column, and the change is that of the last.

A condition is a figure of the first column, a comparison and a bound, such as
p99>200ms, finality.p99>2s, vote.service.p50>=500us, errors>1% or tps<1000. A
signed bound is a change from A to B, such as p99>+10% or tps<-5% (for errors:
percentage points). A latency without an operation is that of the slowest
operation. Separate conditions with commas.

R is the number of signatures that one core verifies per second. If R differs by
more than 10 %, closed loops and saturations get extra rows in units of R, and
signed conditions apply to these rows.

Exit codes in order of precedence: 14 invalid figures, 15 condition met, 17
figure not measured.`)
    .examples(
      'load compare before/ after/',
      "load compare before/ after/ --fail-on 'p99>+10%,errors>1%'",
      'load compare base.json now.json --json',
      'load compare base/ now/ --markdown >> "$GITHUB_STEP_SUMMARY"',
      'load compare monday/ tuesday/ wednesday/ --html trend.html',
    )
    .action(run);
}

interface FaultFlags {
  base?: string;
  json?: boolean;
}

export function loadFaultsCommand(): CliCommand {
  return new CliCommand('faults')
    .description('list the faults of load runs and of simulated runs')
    .argument('<run...>', 'result.json, or a folder of load --out or sim --out')
    .option('--base <run>', 'same simulation without the faults, to compare with')
    .option('--json', 'print one JSON object')
    .notes(`
Prints downtime, time to recover, errors and sensitivity of each fault. For a
simulated run, a block is an arrival, its finality is the response, and times
are simulated. Without --base, the times outside of the faults are compared.`)
    .examples(
      'load faults runs/kill',
      'load faults runs/kill runs/partition',
      'load faults runs/partition --base runs/quiet --json',
    )
    .action(listFaults);
}

async function listFaults(runs: string[], { base, json }: FaultFlags): Promise<void> {
  const { faultsTable } = await import('../../../bench/load/model.js');
  const { readLoad } = await import('../../../bench/load/files.js');
  const { readSimulatedFaults } = await import('../../../bench/load/simulated-faults.js');
  const all: Record<string, NonNullable<LoadResult['faults']>> = {};
  for (const path of runs) {
    const isSimulated = existsSync(join(path, 'summary.json'));
    all[path] = isSimulated ? await readSimulatedFaults(path, base) : (readLoad(path).faults ?? []);
  }
  if (json) return printJson(all);
  const { columns } = faultsTable([]);
  const rows = Object.entries(all).flatMap(([path, faults]) =>
    faultsTable(faults).rows.map((row) => [
      ...[path, ...row.map((cell, index) => formatValue(cell, columns[index]!.unit))],
    ]),
  );
  const head = ['run', ...columns.map(({ name }) => name)];
  writeStdout(...(rows.length > 0 ? alignColumns([head, ...rows], [0, 1, 2, 3]) : ['no faults']));
}

async function run(a: string, others: string[], flags: Flags): Promise<void> {
  const { failOn = [], json, markdown, html } = flags;
  const { judge, parseConditions } = await import('../../../bench/load/conditions.js');
  const conditions = parseConditions(failOn, { relative: true });
  const { compare } = await import('../../../bench/load/compare.js');
  const { readLoad } = await import('../../../bench/load/files.js');
  const b = others.at(-1)!;
  const results = [a, ...others].map(readLoad);
  const [base, result] = [results[0]!, results.at(-1)!];
  const comparison = compare(base, result);
  const judged = conditions.map((condition) => ({
    condition: condition.text,
    ...judge(condition, result, base),
  }));
  const page = async () => ({ rows: await rowsOf(comparison, results), ...comparison });
  if (html !== undefined) {
    const { write } = await import('./ci.js');
    const { comparisonReport } = await import('../../../bench/load/report.js');
    const text = comparisonReport(await page());
    write(html, () => writeFileSync(html, text));
  }
  if (json) {
    const heads = { a: { path: a, ...headOf(base) }, b: { path: b, ...headOf(result) } };
    const trend = results.length > 2 ? { trend: await trendOf(results, [a, ...others]) } : {};
    printJson({ ...heads, ...comparison, ...trend, conditions: judged });
  } else if (markdown) {
    writeStdout(...(await markdownLines(await page(), judged)));
  } else {
    const { rows, warnings } = await page();
    writeStdout(...alignColumns(rows), ...warnings.map((warning) => `note: ${warning}`));
  }
  setExitCode(conditionsCode(judged, comparison.usable));
}

/** Prints met and unmeasured conditions. Returns the exit code, first that of invalid figures. */
function conditionsCode(judged: readonly Judgement[], usable: boolean): number {
  const sentences = (of: (one: Judgement) => string | null) =>
    judged.flatMap((one) => of(one) ?? []);
  const [met, unmeasured] = [sentences((one) => one.met), sentences((one) => one.unmeasured)];
  for (const sentence of [...met, ...unmeasured]) writeStderr(`folkmoot: ${sentence}`);
  if (!usable) return exitCodes.invalid;
  if (met.length > 0) return exitCodes.failOn;
  return unmeasured.length > 0 ? exitCodes.unmeasured : exitCodes.done;
}

/** Lists all conditions with their values, reports them to CI, and sets the exit code. */
export async function reportConditions(
  conditions: readonly Condition[],
  result: LoadResult,
  { junit, json }: { junit?: string; json?: boolean },
): Promise<void> {
  const { usable } = await import('../../../bench/load/compare.js');
  const { judge } = await import('../../../bench/load/conditions.js');
  const { reportToCi } = await import('./ci.js');
  const judged = conditions.map((one) => ({ condition: one.text, ...judge(one, result) }));
  if (!json && conditions.length > 0)
    writeStdout('', ...conditionLines(conditions, judged, result));
  reportToCi(result, usable(result), judged, junit);
  setExitCode(conditionsCode(judged, usable(result)));
}

function conditionLines(
  conditions: readonly Condition[],
  judged: readonly Judgement[],
  result: LoadResult,
): string[] {
  const rows = conditions.map(({ text, figure }, index) => {
    const { met, unmeasured } = judged[index]!;
    const outcome = met !== null ? 'missed' : unmeasured !== null ? 'undecided' : 'passed';
    return [text, formatValue(figure.of(result), figure.unit), outcome];
  });
  return alignColumns([['condition', 'value', 'result'], ...rows], [0, 2]);
}

const headOf = ({ started, commit, machine, verdict, ended, server, asked }: LoadResult) => {
  return { started, commit, machine, verdict, ended, server, asked };
};

/** Returns the values of all results for each figure, with the change of the last one. */
async function rowsOf(comparison: Comparison, results: readonly LoadResult[]) {
  const { changeText } = await import('../../../bench/load/compare.js');
  const { findFigure } = await import('../../../bench/load/figures.js');
  const { describeLoad } = await import('../../../bench/load/model.js');
  const row = (name: string, unit: Unit, values: readonly (number | null)[]): string[] => [
    ...[name, ...values.map((value) => formatValue(value, unit))],
    changeText(unit, values[0]!, values.at(-1)!),
  ];
  const texts = (name: string, of: (result: LoadResult) => string) => [
    ...[name, ...results.map(of), ''],
  ];
  const names = results.map((_, index) => String.fromCharCode(65 + (index % 26)));
  return [
    ['', ...names, 'change'],
    texts('started', ({ started }) => started),
    texts('server', serverText),
    texts('load', (one) => describeLoad(one, null).title),
    texts('verdict', verdictText),
    row(
      ...(['R', 'per_s'] as const),
      results.map(({ r }) => r),
    ),
    ...comparison.figures.flatMap(({ figure, unit, by_r }): string[][] => {
      const { of } = findFigure(figure)!;
      const plain = row(figure, unit, results.map(of));
      const between = results.slice(2).map(() => '');
      const values = by_r && [formatValue(by_r.a, by_r.unit), formatValue(by_r.b, by_r.unit)];
      const scaled = values && [values[0]!, ...between, values[1]!];
      const change = by_r && changeText(by_r.unit, by_r.a, by_r.b);
      return scaled ? [plain, [`${figure}, by R`, ...scaled, change!]] : [plain];
    }),
    ...comparison.sensitivity.map(({ operation, ms, interval }) => {
      const { low_ms, high_ms } = interval ?? { low_ms: null, high_ms: null };
      const range = interval && ` (${formatValue(low_ms, 'ms')} to ${formatValue(high_ms, 'ms')})`;
      const text = `${formatValue(ms, 'ms')}${range ?? ''}`;
      return [`${operation}.sensitivity`, ...results.map(() => ''), text];
    }),
  ];
}

/** Returns the figures of all results, for JSON. */
async function trendOf(results: readonly LoadResult[], paths: readonly string[]) {
  const { listFigures } = await import('../../../bench/load/figures.js');
  const figures = listFigures(results).map(({ name, unit, of }) => [
    name,
    { unit, values: results.map(of) },
  ]);
  return { paths, figures: Object.fromEntries(figures) as object };
}

interface Page extends Comparison {
  rows: string[][];
}

/** Formats the comparison, its warnings and the conditions for a summary or a comment. */
async function markdownLines({ rows: all, warnings }: Page, judged: readonly Judged[]) {
  const { markdownCell } = await import('./ci.js');
  const [head, ...rows] = all;
  const line = (row: readonly string[]) => `| ${row.map(markdownCell).join(' | ')} |`;
  const outcomes = judged.map(({ condition, met, unmeasured }) => {
    const problem = met ?? unmeasured;
    const text = problem === null ? 'passed' : `**missed**: ${markdownCell(problem)}`;
    return `- ${markdownCell(condition)}: ${text}`;
  });
  const columns = head!.map((_, index) => (index === 0 ? ':---' : '---:')).join(' | ');
  return [
    ...[line(head!), `| ${columns} |`, ...rows.map(line)],
    ...(outcomes.length > 0 ? ['', ...outcomes] : []),
    ...(warnings.length > 0 ? [''] : []),
    ...warnings.map((warning) => `- note: ${markdownCell(warning)}`),
  ];
}

const verdictText = ({ verdict, ended }: LoadResult): string =>
  ended === 'complete' ? verdict : `${verdict}, ${ended}`;

const serverText = ({ server }: LoadResult): string => {
  const { version, limits_profile: limits } = server;
  return `${version ?? 'unknown'}${limits === null ? '' : `, ${limits}`}`;
};
