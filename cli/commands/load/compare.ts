/** `folkmoot load compare`: two results of load runs side by side. */
import { Command } from 'commander';
import type { Comparison } from '../../../bench/load/figures/compare.js';
import type { LoadResult } from '../../../bench/load/result.js';
import { exitCodes } from '../../output/exit.js';
import { print, printJson, say } from '../../output/output.js';

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
by one. A figure that was not measured meets every condition. A latency without an operation is of
the slowest one.

Where R, what one core of the machine verifies, differs by more than 10 %, the machine was not as
fast: changes of closed loops and saturations are then of the figures' ratios to R. In an open loop
rates are compared as shares of what was asked for.

Examples:
  $ folkmoot load compare before/ after/
  $ folkmoot load compare base.json result.json --fail-on 'p99>+10%,tps<-5%' --fail-on 'errors>1%'

Exit codes: 14 when one of them is INVALID or CLIENT_BOUND, so that its figures are not the
server's, whatever else; 15 when a condition is met; 0 otherwise; 2 usage, or no result.`,
    )
    .action(run);
}

const collect = (text: string, before: string[] = []): string[] => [...before, text];

async function run(a: string, b: string, { failOn = [], json }: Flags): Promise<void> {
  const { met, parseConditions } = await import('../../../bench/load/figures/conditions.js');
  const conditions = parseConditions(failOn, { relative: true });
  const { compare } = await import('../../../bench/load/figures/compare.js');
  const { readLoad } = await import('../../../bench/load/files/read.js');
  const [base, result] = [readLoad(a), readLoad(b)];
  const comparison = compare(base, result);
  const judged = conditions.map((condition) => ({
    condition: condition.text,
    met: met(condition, result, base),
  }));
  if (json) {
    const heads = { a: { path: a, ...headOf(base) }, b: { path: b, ...headOf(result) } };
    printJson({ ...heads, ...comparison, conditions: judged });
  } else {
    print(...(await readable(comparison, base, result)));
  }
  const failed = judged.flatMap((one) => (one.met === null ? [] : [one.met]));
  for (const sentence of failed) say(`folkmoot: ${sentence}`);
  if (!comparison.usable) process.exitCode = exitCodes.invalid;
  else if (failed.length > 0) process.exitCode = exitCodes.failOn;
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

type Row = [name: string, a: string, b: string, change: string];

async function readable(comparison: Comparison, a: LoadResult, b: LoadResult): Promise<string[]> {
  const { percentText, valueText } = await import('../../../bench/load/figures/compare.js');
  const { r, figures, warnings } = comparison;
  const rate = { unit: 'per_s' } as const;
  const rows: Row[] = [
    ['', 'A', 'B', r.scaled ? 'change, by R' : 'change'],
    ['started', a.started, b.started, ''],
    ['server', serverText(a), serverText(b), ''],
    ['load', loadText(a), loadText(b), ''],
    ['verdict', verdictText(a), verdictText(b), ''],
    ['R', valueText(rate, r.a), valueText(rate, r.b), percentText(rate, r.change)],
    ...figures.map((one): Row => {
      const values = [valueText(one, one.a), valueText(one, one.b)] as const;
      return [one.figure, ...values, percentText(one, one.change)];
    }),
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
