/**
 * Runs cases round by round, and prints the result as one table per case, then the goals. Figures
 * from several rounds are reduced to medians. The result names the machine, because figures from
 * different machines cannot be compared.
 */

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { fileURLToPath } from 'node:url';
import { alignColumns } from '../report/shared/format.js';
import { type BenchComparison, type ComparedRow, LOWEST_RELATIVE } from './against.js';
import type { BenchResult, Case, Round, Row, Size } from './case.js';
import { coresCase } from './cases/cores.js';
import { engineCase } from './cases/engine.js';
import { feedCase } from './cases/feed.js';
import { logCase } from './cases/log.js';
import { plainCase, readsCase, serverCase } from './cases/server.js';
import { simulatorCase } from './cases/simulator.js';
import { median, rawVerifications } from './raw/raw.js';

/** All cases, in the order in which they run and are printed. */
export const cases: readonly Case[] = [
  serverCase,
  coresCase,
  plainCase,
  readsCase,
  feedCase,
  engineCase,
  logCase,
  simulatorCase,
];

interface BenchOptions {
  cases: readonly Case[];
  size: Size;
  seed: string;
  /** Reports the next measurement. */
  progress(line: string): void;
}

const rounds: Record<Size, number> = { small: 3, large: 5 };

type Measured = BenchResult['cases'][number];

export async function bench(options: BenchOptions): Promise<BenchResult> {
  const { cases, size, seed, progress } = options;
  const started = performance.now();
  const count = cases.some(({ everyRound }) => everyRound) ? rounds[size] : 1;
  const r: number[] = [];
  const seen: Measured[] = [];
  for (let round = 1; round <= count; round += 1) {
    r.push(rawVerifications(`${seed} ${round}`));
    for (const one of cases) {
      if (round > 1 && !one.everyRound) continue;
      progress(`round ${round} of ${count}: ${one.name}, ${one.about}`);
      const rows = await rowsOf(one, size, { r: r.at(-1)!, seed: `${seed} ${round}` }, progress);
      seen.push(...rows.map((row) => ({ case: one.name, ...row })));
    }
  }
  return {
    format: 'folkmoot-bench-2',
    ...machine(),
    seed,
    size,
    rounds: count,
    seconds: (performance.now() - started) / 1000,
    r: median(r),
    r_rounds: r,
    cases: medians(seen),
  };
}

/** Runs a case. A case that fails yields a row with the reason, and the other cases continue. */
async function rowsOf(
  one: Case,
  size: Size,
  round: Round,
  progress: BenchOptions['progress'],
): Promise<Row[]> {
  try {
    return await one.run(size, round);
  } catch (error) {
    const { message, stack = message } = error instanceof Error ? error : new Error(String(error));
    progress(stack);
    return [{ name: NOT_MEASURED, note: message }];
  }
}

/** Row name for a failed case. */
export const NOT_MEASURED = 'not measured';

/** Merges rows with equal names: takes medians of figures. */
function medians(rows: readonly Measured[]): Measured[] {
  const groups = new Map<string, Measured[]>();
  for (const row of rows) {
    const name = `${row.case}: ${row.name}`;
    groups.set(name, [...(groups.get(name) ?? []), row]);
  }
  return [...groups.values()].map((same) => {
    const merged: Measured = { ...same[0]! };
    for (const key of ['per_s', 'value', 'of_r', 'ratio', 'cpu_us', 'idle'] as const) {
      const values = same.flatMap((row) => row[key] ?? []);
      if (values.length > 0) merged[key] = median(values);
    }
    return merged;
  });
}

const root = fileURLToPath(new URL('../../', import.meta.url));

function machine() {
  const all = cpus();
  const cpu = all[0]?.model.trim() ?? 'unknown';
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  return {
    machine: `${all.length} x ${cpu}, ${gigabytes} GiB, ${type()} ${release()}`,
    cpu,
    node: process.version,
    commit: commit(),
  };
}

function commit(): string {
  if (!existsSync(`${root}.git`)) return 'unknown';
  const args = ['-C', root, 'rev-parse', '--short', 'HEAD'];
  try {
    return execFileSync('git', args, { encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return 'unknown';
  }
}

export function printResult(result: BenchResult): string {
  const { cases } = result;
  const goals = cases.filter(isGoal);
  const names = [...new Set(cases.map((row) => row.case))];
  const sections = names.map((name) => {
    const rows = cases.filter((row) => row.case === name && !isGoal(row));
    const single = rows.filter(({ cores }) => cores === undefined);
    return [...coresTable(rows), ...table(name, single)].join('\n');
  });
  const wanted = goals.length === 0 ? [] : [wantedTable(goals)];
  return `${[...head(result), ...sections, ...wanted].filter(Boolean).join('\n\n')}\n`;
}

const isGoal = (row: Measured) => row.wanted !== undefined || row.allowed !== undefined;

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
const columns: { title: string; text(row: Measured): string | undefined }[] = [
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

function table(name: string, rows: readonly Measured[]): string[] {
  if (rows.length === 0) return [];
  const used = columns.filter(({ text }) => rows.some((row) => text(row) !== undefined));
  const cells = rows.map((row) => [row.name, ...used.map(({ text }) => text(row) ?? '')]);
  return alignColumns([[name, ...used.map(({ title }) => title)], ...cells]);
}

/** Formats the rows of each number of cores as one line. */
function coresTable(all: readonly Measured[]): string[] {
  const rows = all.filter(({ cores }) => cores !== undefined);
  const titleOf = ({ name }: Measured) => name.replace(/ \(cores: \d+\)$/, '');
  const titles = [...new Set(rows.map(titleOf))];
  const counts = [...new Set(rows.map(({ cores }) => cores!))];
  const lines = titles.flatMap((title) => {
    const same = rows.filter((row) => titleOf(row) === title);
    const of = (count: number) => same.find(({ cores }) => cores === count);
    return columns
      .filter(({ text }) => same.some((row) => text(row) !== undefined))
      .map((column, index) => [
        index === 0 ? title : column.title,
        ...counts.map((count) => (of(count) && column.text(of(count)!)) ?? ''),
      ]);
  });
  // Each column is a number of cores, because a line has no room for all figures.
  return lines.length === 0 ? [] : alignColumns([['cores', ...counts.map(String)], ...lines]);
}

function wantedTable(goals: readonly Measured[]): string {
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
