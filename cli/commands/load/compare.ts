/** `folkmoot load compare`: two results of load runs side by side. */

import { Command } from 'commander';
import type { ComparedFigure, Comparison, Unit } from '../../../bench/load/compare.js';
import type { Judgement } from '../../../bench/load/conditions.js';
import type { LoadResult } from '../../../bench/load/result.js';
import { exitCodes } from '../../output/exit.js';
import { setExitCode } from '../../output/io.js';
import { printJson, writeStderr, writeStdout } from '../../output/output.js';

interface Flags {
  failOn?: string[];
  json?: boolean;
}

export function loadCompareCommand(): Command {
  return new Command('compare')
    .description('show two results of load runs side by side')
    .argument('<a>', 'the base: a result.json, or the folder of --out')
    .argument('<b>', 'what is compared with it')
    .option('--fail-on <conditions>', 'exit 15 when B meets one', collect)
    .option('--json', 'print one JSON object on standard output')
    .addHelpText(
      'after',
      `
A condition is a figure as the first column names it, a comparison and a bound: p99>200ms,
finality.p99>2s, vote.service.p50>=500us, errors>1%, tps<1000. A bound with a sign is a change from
A to B: p99>+10%, tps<-5%; of errors, percentage points. Several are parted by commas, or given one
by one. A latency without an operation is of the slowest one.

Every change is computed from the two numbers in its row. Where R, what one core of the machine
verifies, differs by more than 10 %, the machine was not as fast: closed loops and saturations then
have further rows, "by R", with the figures in units of R, and relative conditions judge these.

Examples:
  $ folkmoot load compare before/ after/
  $ folkmoot load compare base.json now.json --fail-on 'p99>+10%' --fail-on 'errors>1%'

Exit codes: 14 when one of them is INVALID, CLIENT_BOUND or WORKLOAD_BOUND, so that its figures
are not the server's, whatever else; then 15 when a condition is met; then 17 when a condition is
about a figure that was not measured; else 0; 2 usage, or no result.`,
    )
    .action(run);
}

const collect = (text: string, before: string[] = []): string[] => [...before, text];

async function run(a: string, b: string, { failOn = [], json }: Flags): Promise<void> {
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
  } else {
    writeStdout(...(await readable(comparison, base, result)));
  }
  setExitCode(conditionsCode(judged, comparison.usable));
}

/** Says what came of conditions; figures that cannot be trusted meet none, and break none. */
export function conditionsCode(judged: readonly Judgement[], usable: boolean): number {
  const sentences = (of: (one: Judgement) => string | null) =>
    judged.flatMap((one) => of(one) ?? []);
  const [met, unmeasured] = [sentences((one) => one.met), sentences((one) => one.unmeasured)];
  for (const sentence of [...met, ...unmeasured]) writeStderr(`folkmoot: ${sentence}`);
  if (!usable) return exitCodes.invalid;
  if (met.length > 0) return exitCodes.failOn;
  return unmeasured.length > 0 ? exitCodes.unmeasured : exitCodes.done;
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

async function readable(comparison: Comparison, a: LoadResult, b: LoadResult): Promise<string[]> {
  const { changeText, valueText } = await import('../../../bench/load/compare.js');
  const { r, figures, warnings } = comparison;
  const row = (name: string, { unit, a: one, b: other }: Values): Row => {
    const values = [valueText({ unit }, one), valueText({ unit }, other)] as const;
    return [name, ...values, changeText(unit, one, other)];
  };
  const rows: Row[] = [
    ['', 'A', 'B', 'change'],
    ['started', a.started, b.started, ''],
    ['server', serverText(a), serverText(b), ''],
    ['load', loadText(a), loadText(b), ''],
    ['verdict', verdictText(a), verdictText(b), ''],
    row('R', { unit: 'per_s', a: r.a, b: r.b }),
    ...figures.flatMap((one): Row[] => [
      row(one.figure, one),
      ...(one.by_r ? [row(`${one.figure}, by R`, one.by_r)] : []),
    ]),
  ];
  return [...aligned(rows), ...warnings.map((warning) => `note: ${warning}`)];
}

const verdictText = ({ verdict, ended }: LoadResult): string =>
  ended === 'complete' ? verdict : `${verdict}, ${ended}`;

const serverText = ({ server }: LoadResult): string => {
  const { version, limits_profile: limits } = server;
  return `${version ?? 'unknown'}${limits === null ? '' : `, ${limits}`}`;
};

const loadText = ({ asked: { workload, rate, concurrency } }: LoadResult): string =>
  rate === null ? `${workload}, ${concurrency} at a time` : `${workload}, ${rate}/s`;

/** Names at the left, all else at the right. */
function aligned(rows: readonly Row[]): string[] {
  const widths = [0, 1, 2, 3].map((column) =>
    rows.reduce((most, row) => Math.max(most, row[column]!.length), 0),
  );
  const line = ([name, ...rest]: Row) => {
    const cells = rest.map((cell, index) => cell.padStart(widths[index + 1]!));
    return [name.padEnd(widths[0]!), ...cells].join('  ').trimEnd();
  };
  return rows.map(line);
}
