/**
 * Compares this build with the build in another folder. Each case runs in child processes of both
 * builds, in alternating order, so a change in the speed of the machine affects both builds.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { BenchResult, Size } from './case.js';
import { median } from './raw/raw.js';

/** The comparison fails if a goal's figure falls below this share of the other build's figure. */
export const LOWEST_RELATIVE = 0.9;

export interface ComparedRow {
  case: string;
  name: string;
  /** Compared figure: a rate in R, CPU time in units of 1/R, or the row's ratio or value. */
  figure: 'rate' | 'cpu' | 'ratio' | 'value';
  /** Median of the figure in this build. */
  here: number;
  /** Median of the figure in the other build. */
  there: number;
  /** Speed relative to the other build: median over pairs of runs. Above 1 means faster. */
  relative: number;
  /** Lowest and highest relative speed of a pair. */
  range: [number, number];
  /** Target of a goal: at least this ratio, or at most this value. */
  target?: number;
}

export interface BenchComparison {
  format: 'folkmoot-bench-comparison-1';
  machine: string;
  node: string;
  commits: { here: string; there: string };
  size: Size;
  seed: string;
  /** Pairs of runs of each case. */
  pairs: number;
  rows: ComparedRow[];
  /** Cases that one of the builds does not have or could not measure. */
  not_compared: string[];
  /** Names of goals whose relative speed is below 0.9. */
  fallen: string[];
}

interface Options {
  /** Checkout with a finished build. */
  folder: string;
  cases: readonly string[];
  size: Size;
  seed: string;
  pairs: number;
  progress(line: string): void;
}

type Row = BenchResult['cases'][number];

/** Throws an error if the folder has no build. */
export async function compareBuilds(options: Options): Promise<BenchComparison> {
  const { folder, cases, size, seed, pairs, progress } = options;
  const there = resolve(folder, 'dist/bench/main.js');
  if (!existsSync(there)) {
    throw new Error(`no build in ${folder}: ${there}; run npm run build in that folder`);
  }
  const here = fileURLToPath(new URL('./main.js', import.meta.url));
  const rows: ComparedRow[] = [];
  const missing: string[] = [];
  let last: { here: BenchResult; there: BenchResult } | undefined;
  for (const name of cases) {
    const seen: { here: BenchResult; there: BenchResult }[] = [];
    for (let pair = 1; pair <= pairs; pair += 1) {
      progress(`${name}: pair ${pair} of ${pairs}`);
      const order = pair % 2 === 1 ? [here, there] : [there, here];
      const results = new Map<string, BenchResult | null>();
      for (const program of order) results.set(program, await runCase(program, name, size, seed));
      const [one, other] = [results.get(here), results.get(there)];
      if (!one || !other) break;
      seen.push({ here: one, there: other });
    }
    if (seen.length < pairs) missing.push(name);
    else rows.push(...compareRows(seen));
    last = seen.at(-1) ?? last;
  }
  return {
    format: 'folkmoot-bench-comparison-1',
    machine: last?.here.machine ?? 'unknown',
    node: process.version,
    commits: { here: last?.here.commit ?? 'unknown', there: last?.there.commit ?? 'unknown' },
    size,
    seed,
    pairs,
    rows,
    not_compared: missing,
    fallen: rows.flatMap(({ name, target, relative }) =>
      target !== undefined && relative < LOWEST_RELATIVE ? [name] : [],
    ),
  };
}

/** Runs one case in a child process. Resolves to null if the build cannot measure the case. */
async function runCase(
  program: string,
  name: string,
  size: Size,
  seed: string,
): Promise<BenchResult | null> {
  const folder = mkdtempSync(join(tmpdir(), 'folkmoot-bench-'));
  const file = join(folder, 'bench.json');
  const flags = ['--expose-gc', '--max-semi-space-size=128'];
  const args = ['--case', name, '--size', size, '--seed', seed, '--json', file];
  try {
    await promisify(execFile)(process.execPath, [...flags, program, ...args], {
      maxBuffer: 64 * 2 ** 20,
    });
    return JSON.parse(readFileSync(file, 'utf8')) as BenchResult;
  } catch {
    return null;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Compares the rows that all runs of both builds have. */
function compareRows(pairs: readonly { here: BenchResult; there: BenchResult }[]): ComparedRow[] {
  return pairs[0]!.here.cases.flatMap((first) => {
    const measured = pairs.map(({ here, there }) => {
      const one = here.cases.find(({ name }) => name === first.name);
      const other = there.cases.find(({ name }) => name === first.name);
      return one && other && { here: figureOf(one, here.r), there: figureOf(other, there.r) };
    });
    const figures = measured.flatMap((pair) => {
      const { here, there } = pair ?? {};
      if (!here || !there || here.figure !== there.figure) return [];
      return [{ figure: here.figure, here: here.amount, there: there.amount }];
    });
    if (figures.length < pairs.length) return [];
    const { figure } = figures[0]!;
    const relatives = figures.map(({ here, there }) =>
      figure === 'cpu' || figure === 'value' ? there / here : here / there,
    );
    const target = first.wanted ?? first.allowed;
    return [
      {
        case: first.case,
        name: first.name,
        figure,
        here: median(figures.map(({ here }) => here)),
        there: median(figures.map(({ there }) => there)),
        relative: median(relatives),
        range: [Math.min(...relatives), Math.max(...relatives)],
        ...(target !== undefined && { target }),
      } satisfies ComparedRow,
    ];
  });
}

/** Returns the figure that represents a row's speed, or null if the row has none. */
function figureOf(row: Row, r: number): { figure: ComparedRow['figure']; amount: number } | null {
  const { wanted, allowed, ratio, value, cpu_us, per_s } = row;
  const found =
    wanted !== undefined
      ? { figure: 'ratio' as const, amount: ratio }
      : allowed !== undefined
        ? { figure: 'value' as const, amount: value }
        : cpu_us !== undefined
          ? { figure: 'cpu' as const, amount: (cpu_us * r) / 1e6 }
          : { figure: 'rate' as const, amount: per_s && per_s / r };
  const { figure, amount } = found;
  return amount === undefined || !(amount > 0) ? null : { figure, amount };
}
