/**
 * Runs cases round by round. Figures from several rounds are reduced to medians. The result names
 * the machine, because figures from different machines cannot be compared.
 */

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { BenchResult, Case, Round, Row, Size } from './case.js';
import { median, rawVerifications } from './raw/raw.js';

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
