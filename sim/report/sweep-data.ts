/** Data for a sweep report, from sweep.json, runs.csv, summary.csv, and the factors' roles. */
import {
  hasFile,
  type Provenance,
  parseNumber,
  readJson,
  type TableRow,
  tableRows,
} from '../../report/folder.js';
import { shorten } from '../../report/shared/format.js';
import type { Verdict } from '../run/result.js';
import type { Scenario, Sweep } from '../scenario/schema/scenario.js';

/** Contents of sweep.json. */
export interface SweepHead extends Partial<Provenance> {
  scenario: Scenario & { sweep: Sweep };
  /** Number of planned runs. */
  runs: number;
  seed?: string;
  /** SHA-256 of the registration that the sweep obeys. */
  registered?: string;
}

export interface FactorData {
  /** Column name, and path in the scenario. */
  column: string;
  path: string;
  /** Values as written in the tables, ascending if numeric. */
  levels: string[];
  numeric: boolean;
}

interface Estimate {
  n: number;
  mean: number;
  low: number | null;
  high: number | null;
  /** Number of runs without a value, and bounds on the mean of all runs. Absent in old folders. */
  missing?: number;
  least?: number | null;
  most?: number | null;
}

export interface CellData {
  cell: number;
  /** Keyed by column. */
  levels: Record<string, string>;
  /** Keyed by measure. Measures without a value are absent. */
  estimates: Map<string, Estimate>;
  /** Number of runs without a value, keyed by measure. */
  missing: Map<string, number>;
}

interface FailedRun {
  run: string;
  cell: string;
  seed: string;
  verdict: string;
  levels: Record<string, string>;
  /** Error or violated rule, if saved. */
  why: string;
}

export interface SweepData {
  head: SweepHead;
  factors: FactorData[];
  cells: CellData[];
  verdicts: Map<string, number>;
  /** Number of runs per verdict other than pass, keyed by cell. */
  notPassed: Map<number, Map<string, number>>;
  /** Seed of each cell's first run. */
  seeds: Map<number, string>;
  /** First runs that failed or violated a rule, and the total number of such runs. */
  failed: FailedRun[];
  failures: number;
}

/** Longest error text in the report. A script may throw text of any length. */
const MOST_LETTERS = 500;
const MOST_FAILED = 100;

export async function readSweep(folder: string): Promise<SweepData> {
  const head = readJson<SweepHead>(folder, 'sweep.json');
  const { factors: varied, responses } = head.scenario.sweep;
  const columns = varied.map(({ name, path }) => (name ?? path).toWellFormed());
  const cells = await readCells(folder, columns, new Set(responses));
  const factors = varied.map(({ path, values }, index) => {
    const column = columns[index]!;
    return { column, path, ...levelsOf(cells, column, values?.map(String)) };
  });
  return { head, factors, cells, ...(await readRuns(folder, columns)) };
}

async function readCells(
  folder: string,
  columns: readonly string[],
  responses: ReadonlySet<string>,
): Promise<CellData[]> {
  const cells = new Map<string, CellData>();
  for await (const row of tableRows(folder, 'summary.csv')) {
    if (!responses.has(row.measure!)) continue;
    const key = row.cell!;
    const cell = cells.get(key) ?? {
      cell: Number(key),
      levels: levelsIn(row, columns),
      estimates: new Map(),
      missing: new Map(),
    };
    cells.set(key, cell);
    const { n, low, high, missing } = row;
    if (missing) cell.missing.set(row.measure!, Number(missing));
    const mean = parseNumber(row.mean);
    if (mean === null) continue;
    cell.estimates.set(row.measure!, {
      n: Number(n),
      mean,
      low: parseNumber(low),
      high: parseNumber(high),
      missing: Number(missing ?? 0),
      least: parseNumber(row.mean_least),
      most: parseNumber(row.mean_most),
    });
  }
  return [...cells.values()];
}

const levelsIn = (row: TableRow, columns: readonly string[]): Record<string, string> =>
  Object.fromEntries(columns.map((column) => [column, row[column] ?? '']));

/** Returns levels in design order, or ascending if numeric. */
function levelsOf(cells: readonly CellData[], column: string, planned: readonly string[] = []) {
  const found = new Set(cells.map(({ levels }) => levels[column]!));
  const levels = [...new Set([...planned.filter((level) => found.has(level)), ...found])];
  const numeric = levels.every((level) => level.trim() !== '' && Number.isFinite(Number(level)));
  if (numeric) levels.sort((a, b) => Number(a) - Number(b));
  return { levels, numeric };
}

async function readRuns(folder: string, columns: readonly string[]) {
  const verdicts = new Map<string, number>();
  const notPassed: SweepData['notPassed'] = new Map();
  const failed: FailedRun[] = [];
  let failures = 0;
  const seeds: SweepData['seeds'] = new Map();
  for await (const row of tableRows(folder, 'runs.csv')) {
    const { run = '', cell = '', seed = '', verdict = '', file = '' } = row;
    verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1);
    if (!seeds.has(Number(cell))) seeds.set(Number(cell), seed);
    if (verdict !== 'pass') {
      const ofCell = notPassed.get(Number(cell)) ?? new Map<string, number>();
      notPassed.set(Number(cell), ofCell.set(verdict, (ofCell.get(verdict) ?? 0) + 1));
    }
    if ((['pass', 'no_progress', 'conflict'] satisfies Verdict[] as string[]).includes(verdict))
      continue;
    failures += 1;
    if (failed.length === MOST_FAILED) continue;
    const levels = levelsIn(row, columns);
    failed.push({ run, cell, seed, verdict, levels, why: whyFailed(folder, file) });
  }
  return { verdicts, notPassed, failed, failures, seeds };
}

/** Accepts only file names that the sweep writes. */
const isFile = (name: string): boolean => /^[\w-]+\.json$/.test(name);

interface Kept {
  error?: { message: string } | null;
  broken?: { rule: string; expected: string; found: string } | null;
}

function whyFailed(folder: string, name: string): string {
  const file = `runs/${name}`;
  if (!isFile(name) || !hasFile(folder, file)) return '';
  const { error, broken } = readJson<Kept>(folder, file);
  if (error) return shorten(error.message, MOST_LETTERS);
  const text = broken && `${broken.rule}: expected ${broken.expected}, found ${broken.found}`;
  return text ? shorten(text, MOST_LETTERS) : '';
}

export interface Roles {
  x: FactorData;
  /** One line per level. */
  lines: FactorData | null;
  /** One panel per level. */
  panels: FactorData | null;
  /** Remaining factors. Cells that differ only in these factors are averaged. */
  rest: FactorData[];
}

const MOST = { lines: 7, panels: 6 } as const;

/** Assigns the factors to roles. Null if no factor varies. */
export function assignRoles(
  factors: readonly FactorData[],
  cells: readonly CellData[],
): Roles | null {
  const varied = factors.filter(({ levels }) => levels.length > 1);
  const x = most(varied.filter(({ numeric }) => numeric)) ?? most(varied);
  if (!x) return null;
  const others = varied.filter((factor) => factor !== x && crosses(factor, x, cells));
  others.sort((a, b) => a.levels.length - b.levels.length);
  const lines = others.findLast(({ levels }) => levels.length <= MOST.lines) ?? null;
  const panels =
    others.find((factor) => factor !== lines && factor.levels.length <= MOST.panels) ?? null;
  const rest = varied.filter((factor) => ![x, lines, panels].includes(factor));
  return { x, lines, panels, rest };
}

const most = (factors: readonly FactorData[]): FactorData | undefined =>
  [...factors].sort((a, b) => b.levels.length - a.levels.length)[0];

/** True if some level of `factor` occurs with several levels of `other`. */
function crosses(factor: FactorData, other: FactorData, cells: readonly CellData[]): boolean {
  const met = new Map<string, Set<string>>();
  for (const { levels } of cells) {
    const level = levels[factor.column]!;
    const others = met.get(level) ?? new Set();
    met.set(level, others.add(levels[other.column]!));
  }
  return [...met.values()].some(({ size }) => size > 1);
}

export interface Point extends Estimate {
  levels: Record<string, string>;
}

/** Returns a point per combination of factor levels: its cell's estimate, or a mean over cells. */
export function pointsBy(
  factors: readonly FactorData[],
  cells: readonly CellData[],
  measure: string,
): Point[] {
  const groups = new Map<string, Point[]>();
  for (const { levels, estimates } of cells) {
    const estimate = estimates.get(measure);
    if (!estimate) continue;
    const key = JSON.stringify(factors.map(({ column }) => levels[column]));
    const group = groups.get(key) ?? [];
    groups.set(key, group);
    group.push({ ...estimate, levels });
  }
  return [...groups.values()].map((group) => {
    if (group.length === 1) return group[0]!;
    const mean = group.reduce((sum, point) => sum + point.mean, 0) / group.length;
    const n = group.reduce((sum, point) => sum + point.n, 0);
    return { levels: group[0]!.levels, n, mean, low: null, high: null };
  });
}
