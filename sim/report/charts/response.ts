/** How a measure answers to the factors of a sweep: curves with intervals, or dots. */
import { dot, gridY, lineY, type Markish, ruleX, text } from '@observablehq/plot';
import { type Chart, colorOf } from '../../../report/figure.js';
import { shown, tick } from '../../../report/numbers.js';
import { thin, thinned } from '../../../report/thin.js';
import { type MeasureName, measures } from '../../measure/dictionary.js';
import { type Point, pointsBy, type Roles } from '../roles.js';
import type { CellData, FactorData } from '../sweep-data.js';

const MOST_POINTS = 2_000;
/** A range that is wider than this is drawn on a logarithmic axis. */
const WIDE_RANGE = 200;

interface Row {
  x: number | string;
  mean: number;
  low: number;
  high: number;
  line: string;
  panel: string;
  color: string;
}

/** A line for each level of one factor, a panel for each level of another. */
export function responseChart(
  measure: string,
  { x, lines, panels, rest }: Roles,
  cells: readonly CellData[],
): Chart | null {
  const factors = [x, lines, panels].filter((factor) => factor !== null);
  const points = pointsBy(factors, cells, measure);
  if (points.length === 0) return null;
  const rows = rowsOf(points, x, lines, panels);
  const by = lines ? `, a line for each ${lines.column}` : '';
  const across = panels ? `, a panel for each ${panels.column}` : '';
  const mean = rest.length > 0 ? ` Points are means over ${namesOf(rest)}.` : '';
  return {
    title: `${measure} by ${x.column}`,
    caption:
      `${meaningOf(measure)}: mean of the runs of a cell, with its 95 % interval${by}${across}.` +
      `${mean} ${extremes(measure, points, factors)}` +
      thinned('points', rows.length, MOST_POINTS),
    ...(lines ? { legend: legendOf(lines) } : {}),
    draw: (_, narrow) => drawing(measure, thin(rows, MOST_POINTS), x, panels, narrow, true),
  };
}

/** A dot for each cell: for designs in which no two cells share a value. */
export function scatterChart(
  measure: string,
  x: FactorData,
  cells: readonly CellData[],
  most: number,
): Chart | null {
  const points = cells.flatMap(({ levels, estimates }) => {
    const estimate = estimates.get(measure);
    return estimate ? [{ ...estimate, levels }] : [];
  });
  if (points.length === 0) return null;
  const rows = rowsOf(points, x, null, null);
  return {
    title: `${measure} by ${x.column}`,
    caption:
      `${meaningOf(measure)}: a dot for each cell, with the 95 % interval of its mean. The other ` +
      `factors vary too. ${extremes(measure, points, [x])}${thinned('cells', rows.length, most)}`,
    draw: (_, narrow) => drawing(measure, thin(rows, most), x, null, narrow, false),
  };
}

function rowsOf(
  points: readonly Point[],
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
    const line = lines ? levels[lines.column]! : '';
    return {
      x: x.numeric ? Number(level) : level,
      mean,
      low: low ?? mean,
      high: high ?? mean,
      line,
      panel: panels ? `${panels.column} ${levels[panels.column]!}` : '',
      color: colorOf(lines ? lines.levels.indexOf(line) : 0),
    };
  });
}

function drawing(
  measure: string,
  rows: readonly Row[],
  x: FactorData,
  panels: FactorData | null,
  narrow: boolean,
  joined: boolean,
) {
  const names = panels ? panels.levels.map((level) => `${panels.column} ${level}`) : [];
  const beside = !narrow && names.length <= 3;
  const panel = panels ? { [beside ? 'fx' : 'fy']: 'panel' } : {};
  const scale = { label: null, domain: names, axis: null, padding: beside ? 0.12 : 0.22 };
  const stacked = panels && !beside ? names.length : 1;
  const height = narrow ? 240 : 300;
  // Said once for all where all are alike: a hypercube has many dots.
  const color = joined ? 'color' : colorOf(0);
  const marks: Markish[] = [
    gridY({ stroke: 'var(--line)', strokeOpacity: 1 }),
    ruleX(rows, { x: 'x', y1: 'low', y2: 'high', stroke: color, strokeWidth: 1.5, ...panel }),
    ...(joined
      ? [lineY(rows, { x: 'x', y: 'mean', z: 'line', stroke: 'color', strokeWidth: 1.8, ...panel })]
      : []),
    dot(rows, { x: 'x', y: 'mean', fill: color, r: rows.length > 200 ? 1.8 : 3, ...panel }),
  ];
  if (panels) marks.push(panelNames(names, beside ? 'fx' : 'fy'));
  return {
    height: stacked * height * (stacked > 1 ? 0.8 : 1) + (panels ? 16 : 0),
    marginLeft: 60,
    marginTop: panels ? 44 : 28,
    ...(panels ? { [beside ? 'fx' : 'fy']: scale } : {}),
    x: xScale(x, narrow || (panels !== null && beside)),
    y: { label: measure, tickFormat: tick, nice: true, ...yDomain(measure, rows) },
    color: { type: 'identity' as const },
    marks,
  };
}

function panelNames(names: readonly string[], panel: 'fx' | 'fy') {
  const rows = names.map((name) => ({ name }));
  return text(rows, {
    [panel]: 'name',
    text: 'name',
    frameAnchor: 'top-left',
    dy: -14,
    dx: panel === 'fx' ? 0 : 4,
    fontWeight: 600,
    fill: 'currentColor',
  });
}

function xScale(x: FactorData, small: boolean) {
  if (!x.numeric)
    return {
      type: 'point' as const,
      domain: x.levels,
      label: x.column,
      labelOffset: 42,
      padding: 0.4,
    };
  const values = x.levels.map(Number);
  const least = values[0]!;
  const wide = least > 0 && values.at(-1)! / least > WIDE_RANGE;
  const few = values.length <= (small ? 5 : 12);
  const ticks = { labelOffset: 42, ticks: few ? values : small ? 5 : 10 };
  if (!wide) return { label: x.column, ...ticks, ...(few ? { tickFormat: tick } : {}) };
  return { type: 'log' as const, label: `${x.column} (logarithmic)`, tickFormat: tick, ...ticks };
}

const fractions = /_share$|^participation$|^agreement|^influence$|^reputation_gini$/;

/** Fractions from 0 to 1; others from 0, unless all are far from it. */
function yDomain(measure: string, rows: readonly Row[]) {
  const lows = rows.map(({ low }) => low);
  const highs = rows.map(({ high }) => high);
  const low = lows.reduce((least, value) => Math.min(least, value));
  const high = highs.reduce((most, value) => Math.max(most, value));
  if (fractions.test(measure)) return { domain: [Math.min(0, low), Math.max(1, high)] };
  if (low === high)
    return { domain: low === 0 ? [0, 1] : [Math.min(0, 2 * low), Math.max(0, 2 * low)] };
  return low >= 0 && low < 0.7 * high ? { domain: [0, high * 1.03] } : {};
}

export const meaningOf = (measure: string): string => {
  const text = measures[measure as MeasureName] ?? measure;
  return text.charAt(0).toUpperCase() + text.slice(1);
};

export const namesOf = (factors: readonly FactorData[]): string =>
  factors.map(({ column }) => column).join(', ');

function legendOf(lines: FactorData) {
  return lines.levels.map((level, index) => ({
    color: colorOf(index),
    text: `${lines.column} ${level}`,
  }));
}

/** Where it is highest and lowest, in words. */
export function extremes(
  measure: string,
  points: readonly Point[],
  factors: readonly FactorData[],
): string {
  const sorted = points.toSorted((a, b) => a.mean - b.mean);
  const lowest = sorted[0]!;
  const highest = sorted.at(-1)!;
  if (lowest.mean === highest.mean) return `${measure} is ${shown(lowest.mean)} everywhere.`;
  const where = ({ levels }: Point) =>
    factors.map(({ column }) => `${column} ${levels[column]}`).join(', ');
  return (
    `Lowest: ${shown(lowest.mean)} (${where(lowest)}); ` +
    `highest: ${shown(highest.mean)} (${where(highest)}).`
  );
}
