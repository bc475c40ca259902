/** Which factor of a sweep is drawn how: along the axis, as lines, as panels. */
import type { CellData, Estimate, FactorData } from './sweep-data.js';

export interface Roles {
  x: FactorData;
  /** A line for each of its levels. */
  lines: FactorData | null;
  /** A panel for each of its levels. */
  panels: FactorData | null;
  /** What is left: cells that differ in these alone are averaged. */
  rest: FactorData[];
}

const MOST = { lines: 7, panels: 6 } as const;

/** Null when nothing is varied. */
export function rolesOf(factors: readonly FactorData[], cells: readonly CellData[]): Roles | null {
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

/** Whether some level of it meets more than one level of the other. */
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

/** One point for each combination of these factors: the cell's, or the mean of several cells. */
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
