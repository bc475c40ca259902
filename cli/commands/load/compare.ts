import { Option } from 'commander';
import type { ComparedFigure, Comparison } from '../../../bench/load/compare.js';
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
}

export function loadCompareCommand(): CliCommand {
  return new CliCommand('compare')
    .description('compare two load results')
    .argument('<a>', 'baseline: result.json, or a folder written by load --out')
    .argument('<b>', 'result to compare with the baseline')
    .option('--fail-on <conditions>', 'exit 15 if B meets a condition, may be repeated', collect)
    .addOption(new Option('--markdown', 'print a Markdown table').conflicts('json'))
    .option('--json', 'print one JSON object')
    .notes(`
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
    )
    .action(run);
}

async function run(a: string, b: string, { failOn = [], json, markdown }: Flags): Promise<void> {
  const { judge, parseConditions } = await import('../../../bench/load/conditions.js');
  const conditions = parseConditions(failOn, { relative: true });
  const { compare } = await import('../../../bench/load/compare.js');
  const { readLoad } = await import('../../../bench/load/files.js');
  const [base, result] = [readLoad(a), readLoad(b)];
  const comparison = compare(base, result);
  const judged = conditions.map((condition) => ({
    condition: condition.text,
    ...judge(condition, result, base),
  }));
  if (json) {
    const heads = { a: { path: a, ...headOf(base) }, b: { path: b, ...headOf(result) } };
    printJson({ ...heads, ...comparison, conditions: judged });
  } else if (markdown) {
    writeStdout(...(await markdownLines(comparison, [base, result], judged)));
  } else {
    writeStdout(...(await readable(comparison, base, result)));
  }
  setExitCode(conditionsCode(judged, comparison.usable));
}

/**
 * Prints the met and the unmeasured conditions, and returns the exit code. Invalid figures take
 * precedence over both.
 */
function conditionsCode(judged: readonly Judgement[], usable: boolean): number {
  const sentences = (of: (one: Judgement) => string | null) =>
    judged.flatMap((one) => of(one) ?? []);
  const [met, unmeasured] = [sentences((one) => one.met), sentences((one) => one.unmeasured)];
  for (const sentence of [...met, ...unmeasured]) writeStderr(`folkmoot: ${sentence}`);
  if (!usable) return exitCodes.invalid;
  if (met.length > 0) return exitCodes.failOn;
  return unmeasured.length > 0 ? exitCodes.unmeasured : exitCodes.done;
}

/**
 * Lists all conditions with their values, reports them and the verdict to CI, and sets the exit
 * code.
 */
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

/** One line for each condition: its value, and whether it passed. */
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

const headOf = ({ started, commit, machine, verdict, ended, server, asked }: LoadResult) => ({
  started,
  commit,
  machine,
  verdict,
  ended,
  server,
  asked,
});

type Values = Pick<ComparedFigure, 'a' | 'b'> & { unit: Unit };
type Row = [name: string, a: string, b: string, change: string];

async function rowsOf(comparison: Comparison, a: LoadResult, b: LoadResult): Promise<Row[]> {
  const { changeText } = await import('../../../bench/load/compare.js');
  const { describeLoad } = await import('../../../bench/load/model.js');
  const { r, figures } = comparison;
  const row = (name: string, { unit, a: one, b: other }: Values): Row => {
    const values = [formatValue(one, unit), formatValue(other, unit)] as const;
    return [name, ...values, changeText(unit, one, other)];
  };
  return [
    ['', 'A', 'B', 'change'],
    ['started', a.started, b.started, ''],
    ['server', serverText(a), serverText(b), ''],
    ['load', describeLoad(a, null).title, describeLoad(b, null).title, ''],
    ['verdict', verdictText(a), verdictText(b), ''],
    row('R', { unit: 'per_s', a: r.a, b: r.b }),
    ...figures.flatMap((one): Row[] => [
      row(one.figure, one),
      ...(one.by_r ? [row(`${one.figure}, by R`, one.by_r)] : []),
    ]),
  ];
}

async function readable(comparison: Comparison, a: LoadResult, b: LoadResult): Promise<string[]> {
  const rows = await rowsOf(comparison, a, b);
  return [...alignColumns(rows), ...comparison.warnings.map((warning) => `note: ${warning}`)];
}

/** Formats the comparison, its warnings and the conditions for a summary or a comment. */
async function markdownLines(
  comparison: Comparison,
  [a, b]: readonly [LoadResult, LoadResult],
  judged: readonly Judged[],
): Promise<string[]> {
  const { markdownCell } = await import('./ci.js');
  const [head, ...rows] = await rowsOf(comparison, a, b);
  const line = (row: readonly string[]) => `| ${row.map(markdownCell).join(' | ')} |`;
  const outcomes = judged.map(({ condition, met, unmeasured }) => {
    const problem = met ?? unmeasured;
    const text = problem === null ? 'passed' : `**missed**: ${markdownCell(problem)}`;
    return `- ${markdownCell(condition)}: ${text}`;
  });
  return [
    ...[line(head!), '| :--- | ---: | ---: | ---: |', ...rows.map(line)],
    ...(outcomes.length > 0 ? ['', ...outcomes] : []),
    ...(comparison.warnings.length > 0 ? [''] : []),
    ...comparison.warnings.map((warning) => `- note: ${markdownCell(warning)}`),
  ];
}

const verdictText = ({ verdict, ended }: LoadResult): string =>
  ended === 'complete' ? verdict : `${verdict}, ${ended}`;

const serverText = ({ server }: LoadResult): string => {
  const { version, limits_profile: limits } = server;
  return `${version ?? 'unknown'}${limits === null ? '' : `, ${limits}`}`;
};
