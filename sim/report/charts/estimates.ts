/** Means with their intervals, as points of a chart: what is drawn, and how far the axis goes. */
import { isShare } from '../../../report/shared/measures/titles.js';
import type { Point } from '../roles.js';
import type { FactorData } from '../sweep-data.js';

export interface Row {
  x: number | string;
  mean: number;
  low: number;
  high: number;
  /** Which of the lines, and which panel. */
  line: number;
  panel: string;
}

/** @param unit what an axis of it counts in. */
export function rowsOf(
  points: readonly Point[],
  unit: number,
  x: FactorData,
  lines: FactorData | null,
  panels: FactorData | null,
): Row[] {
  const rank = (level: string) => x.levels.indexOf(level);
  const sorted = x.numeric
    ? points.toSorted((a, b) => Number(a.levels[x.column]) - Number(b.levels[x.column]))
    : points.toSorted((a, b) => rank(a.levels[x.column]!) - rank(b.levels[x.column]!));
  return sorted.map(({ levels, mean, low, high }) => {
    const level = levels[x.column]!;
    return {
      x: x.numeric ? Number(level) : level,
      mean: mean / unit,
      low: (low ?? mean) / unit,
      high: (high ?? mean) / unit,
      line: lines ? lines.levels.indexOf(levels[lines.column]!) : 0,
      panel: panels ? `${panels.column} ${levels[panels.column]!}` : '',
    };
  });
}

/** An interval that is so many times the range of the means would press these to the floor. */
const TOO_WIDE = 2.5;

export interface Range {
  least: number;
  most: number;
}

/** Of what an axis shows: of a share at least from 0 to 1, and never more. */
export function rangeOf(measure: string, rows: readonly Row[]): Range {
  if (isShare(measure)) return { least: 0, most: 1 };
  const low = extreme(rows, 'low', Math.min);
  const high = extreme(rows, 'high', Math.max);
  const least = extreme(rows, 'mean', Math.min);
  const most = extreme(rows, 'mean', Math.max);
  if (low === high) {
    return low === 0 ? { least: 0, most: 1 } : ordered(Math.min(0, 2 * low), Math.max(0, 2 * low));
  }
  const size = Math.max(most - Math.min(0, least), 0.1 * Math.max(Math.abs(least), most));
  const ends = { least: Math.max(low, least - TOO_WIDE * size), most: 0 };
  ends.most = Math.min(high, most + TOO_WIDE * size);
  return ends.least >= 0 && ends.least < 0.7 * ends.most ? ordered(0, ends.most * 1.03) : ends;
}

const ordered = (least: number, most: number): Range => ({ least, most });

const extreme = (
  rows: readonly Row[],
  name: 'low' | 'high' | 'mean',
  of: (a: number, b: number) => number,
): number => rows.map((row) => row[name]).reduce((a, b) => of(a, b));

/** Within the axis; what goes on beyond it has `cut` there. */
export function within(rows: readonly Row[], { least, most }: Range) {
  return rows.map((row) => ({
    ...row,
    low: Math.max(row.low, least),
    high: Math.min(row.high, most),
    cutLow: row.low < least,
    cutHigh: row.high > most,
  }));
}

export type Drawn = ReturnType<typeof within>[number];
