/** Prints results of the benchmark as text: one table per case, then the goals. */
import { alignColumns } from '../report/shared/format.js';
import { type BenchComparison, type ComparedRow, LOWEST_RELATIVE } from './against.js';
import type { BenchResult } from './case.js';

type Row = BenchResult['cases'][number];

export function printResult(result: BenchResult): string {
  const { cases } = result;
  const goals = cases.filter(isGoal);
  const names = [...new Set(cases.map((row) => row.case))];
  const sections = names.map((name) => {
    const rows = cases.filter((row) => row.case === name && !isGoal(row));
    return table(name, rows).join('\n');
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
  return alignColumns([[name, ...used.map(({ title }) => title)], ...cells]);
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
  return alignColumns([['wanted', 'is', 'should be', 'reached'], ...cells]).join('\n');
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
    alignColumns([titles, ...cells]).join('\n'),
    ...not_compared.map((name) => `not compared: ${name}; one of the builds cannot measure it`),
    ...fallen.map((name) => `fell below ${LOWEST_RELATIVE} of the other build: ${name}`),
    '',
  ].join('\n\n');
}
