/**
 * `npm run bench`: measures each part on this machine relative to R (libsodium alone), and prints
 * one table per case, then the goals.
 */

import { writeFileSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import {
  type BenchComparison,
  type ComparedRow,
  compareBuilds,
  LOWEST_RELATIVE,
} from './against.js';
import { type BenchResult, type Size, sizes } from './case.js';
import { cases } from './cases/index.js';
import { bench, NOT_MEASURED } from './run.js';

type Row = BenchResult['cases'][number];

export function printResult(result: BenchResult): string {
  const { cases } = result;
  const goals = cases.filter(isGoal);
  const names = [...new Set(cases.map((row) => row.case))];
  const sections = names.map((name) => {
    const rows = cases.filter((row) => row.case === name && !isGoal(row) && !row.batch_sizes);
    const batches = cases.filter((row) => row.case === name && row.batch_sizes);
    return [...table(name, rows), ...batches.flatMap(histogram)].join('\n');
  });
  const wanted = goals.length === 0 ? [] : [wantedTable(goals)];
  return `${[...head(result), ...sections, ...wanted].filter(Boolean).join('\n\n')}\n`;
}

const isGoal = (row: Row) => row.wanted !== undefined || row.allowed !== undefined;

function head(result: BenchResult): string[] {
  const { machine, node, commit, seed, size, rounds, seconds, r, r_rounds } = result;
  const moved = r_rounds.map(number).join(', ');
  return [
    `${machine}, node ${node}, commit ${commit}, seed ${seed}, size ${size}, ` +
      `${Math.round(seconds)} s, medians over ${rounds} rounds\n` +
      `R, one core's libsodium verifications/s: ${number(r)} (by round: ${moved})`,
  ];
}

/** Columns in order. A column without values is omitted. */
const columns: { title: string; text(row: Row): string | undefined }[] = [
  { title: 'per s', text: ({ per_s }) => (per_s === undefined ? per_s : number(per_s)) },
  { title: 'of R', text: ({ of_r }) => of_r?.toFixed(2) },
  { title: 'of previous', text: ({ of_previous }) => of_previous?.toFixed(2) },
  { title: 'ratio', text: ({ ratio }) => ratio?.toFixed(2) },
  { title: 'CPU us each', text: ({ cpu_us }) => (cpu_us === undefined ? cpu_us : number(cpu_us)) },
  {
    title: 'pool idle',
    text: ({ idle }) => (idle === undefined ? idle : `${Math.round(100 * idle)} %`),
  },
  {
    title: 'value',
    text: ({ value, unit }) => (value === undefined ? value : `${number(value)} ${unit ?? ''}`),
  },
  { title: 'note', text: ({ note }) => note },
];

function table(name: string, rows: readonly Row[]): string[] {
  if (rows.length === 0) return [];
  const used = columns.filter(({ text }) => rows.some((row) => text(row) !== undefined));
  const cells = rows.map((row) => [row.name, ...used.map(({ text }) => text(row) ?? '')]);
  return aligned([[name, ...used.map(({ title }) => title)], ...cells]);
}

function wantedTable(goals: readonly Row[]): string {
  const cells = goals.map(({ name, ratio, wanted, value, unit = '', allowed }) => {
    if (wanted !== undefined) {
      const reached = ratio ?? 0;
      return [name, reached.toFixed(2), `at least ${wanted}`, reached >= wanted ? 'yes' : 'no'];
    }
    const measured = value ?? Number.POSITIVE_INFINITY;
    const most = allowed ?? 0;
    return [
      name,
      `${number(measured)} ${unit}`,
      `at most ${number(most)}`,
      measured <= most ? 'yes' : 'no',
    ];
  });
  return aligned([['wanted', 'is', 'should be', 'reached'], ...cells]).join('\n');
}

function histogram({ name, batch_sizes: sizes = [] }: Row): string[] {
  const total = sizes.reduce((sum, count) => sum + count, 0);
  const rows = sizes.map((count, slot) => {
    const from = 2 ** slot;
    const range = slot === 0 ? '1' : `${number(from)} to ${number(2 * from - 1)}`;
    const share = total === 0 ? 0 : count / total;
    return [`  ${range}`, number(count), '#'.repeat(Math.round(40 * share)).padEnd(40)];
  });
  return ['', ...aligned([[name, 'count', ''.padEnd(40)], ...rows])].map((line) => line.trimEnd());
}

/** Left-aligns the first column and right-aligns the other columns. */
function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, at) =>
    Math.max(...rows.map((row) => row[at]?.length ?? 0)),
  );
  return rows.map((row) =>
    row
      .map((text, at) => (at === 0 ? text.padEnd(widths[at]!) : text.padStart(widths[at]!)))
      .join('  '),
  );
}

function number(value: number): string {
  if (Math.abs(value) >= 100 || Number.isInteger(value))
    return Math.round(value).toLocaleString('en-US');
  return value.toFixed(value !== 0 && Math.abs(value) < 10 ? 2 : 1);
}

/** Unit of each compared figure. */
const units: Record<ComparedRow['figure'], string> = {
  rate: 'of R',
  cpu: '/ R',
  ratio: '',
  value: '',
};

export function printComparison(comparison: BenchComparison): string {
  const { machine, node, commits, seed, size, pairs, rows, not_compared, fallen } = comparison;
  const cells = rows.map(({ case: of, name, figure, here, there, relative, range, target }) => [
    `${of}: ${name}`,
    `${number(here)} ${units[figure]}`.trim(),
    `${number(there)} ${units[figure]}`.trim(),
    target === undefined ? '' : number(target),
    relative.toFixed(2),
    `${range[0].toFixed(2)} to ${range[1].toFixed(2)}`,
  ]);
  const titles = ['row', 'this build', 'other build', 'goal', 'relative speed', 'of the pairs'];
  return [
    `${machine}, node ${node}, commit ${commits.here} against ${commits.there}, seed ${seed}, ` +
      `size ${size}, medians of ${pairs} alternating pairs`,
    aligned([titles, ...cells]).join('\n'),
    ...not_compared.map((name) => `not compared: ${name}; one of the builds cannot measure it`),
    ...fallen.map((name) => `fell below ${LOWEST_RELATIVE} of the other build: ${name}`),
    '',
  ].join('\n\n');
}

interface Flags {
  case: string[];
  size: Size;
  seed: string;
  json?: string;
  against?: string;
  pairs: number;
}

const names = cases.map(({ name }) => name);
const width = Math.max(...names.map((name) => name.length));

const program = new Command('bench')
  .usage('[options]')
  .description('measure the parts of folkmoot relative to R, the raw verifications of one core')
  .option('--case <name>', 'run this case only; may be repeated', oneOf, [])
  .addOption(new Option('--size <size>', 'size of the measurement').choices(sizes).default('small'))
  .option('--seed <text>', 'source of the keys', 'bench')
  .option('--json <file>', 'file to write the result to')
  .option('--against <dir>', 'checkout of another version, built, to compare with')
  .option('--pairs <n>', 'alternating pairs of runs with --against', pairsOf, 3)
  .showHelpAfterError('(see --help)')
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .addHelpText(
    'after',
    `
Cases:
${cases.map(({ name, about }) => `  ${name.padEnd(width)}  ${about}`).join('\n')}

Without --case, all cases are measured except ${cases
      .filter(({ byName }) => byName)
      .map(({ name }) => name)
      .join(', ')}.
Exit codes: 0 done, 1 a case could not be measured, 2 usage, 3 a goal's figure fell by more than
10 % relative to --against.

Examples:
  $ npm run bench
  $ npm run bench -- --case tiers --json tiers.json
  $ npm run bench -- --size large --json bench.json
  $ npm run bench -- --case rules --against ../folkmoot-0.1.0 --pairs 5`,
  );

function oneOf(name: string, before: string[]): string[] {
  if (names.includes(name)) return [...before, name];
  throw new InvalidArgumentError(`expected one of: ${names.join(', ')}`);
}

function pairsOf(text: string): number {
  const pairs = Number(text);
  if (/^\d{1,2}$/.test(text) && pairs >= 1) return pairs;
  throw new InvalidArgumentError('expected an integer from 1 to 99');
}

program.parse();
const { case: chosen, size, seed, json, against, pairs } = program.opts<Flags>();
const measured = cases.filter(({ name, byName }) =>
  chosen.length === 0 ? !byName : chosen.includes(name),
);
const progress = (line: string) => process.stderr.write(`${line}\n`);
if (against === undefined) {
  const result = await bench({ cases: measured, size, seed, progress });
  process.stdout.write(printResult(result));
  if (result.cases.some(({ name }) => name === NOT_MEASURED)) process.exitCode = 1;
  writeResult(result);
} else {
  const names = measured.map(({ name }) => name);
  try {
    const result = await compareBuilds({
      folder: against,
      cases: names,
      size,
      seed,
      pairs,
      progress,
    });
    process.stdout.write(printComparison(result));
    if (result.not_compared.length > 0) process.exitCode = 1;
    if (result.fallen.length > 0) process.exitCode = 3;
    writeResult(result);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 2;
  }
}

function writeResult(result: BenchResult | BenchComparison): void {
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(result, null, 2)}\n`);
}
