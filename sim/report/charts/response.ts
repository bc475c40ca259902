/** How a measure answers to the factors of a sweep: curves with intervals, or dots. */
import { dot, gridY, lineY, type Markish, ruleX, text } from '@observablehq/plot';
import type { Chart, LegendEntry } from '../../../report/figure.js';
import {
  axisOf,
  isShare,
  measureMeaning,
  measureText,
  measureTitle,
} from '../../../report/shared/measures/titles.js';
import { shown, tick } from '../../../report/shared/numbers.js';
import { colorOf, dashOf } from '../../../report/shared/palette.js';
import { shortened } from '../../../report/shared/text.js';
import { thin, thinned } from '../../../report/shared/thin.js';
import { type Point, pointsBy, type Roles } from '../roles.js';
import type { CellData, FactorData } from '../sweep-data.js';
import { type Drawn, type Row, rangeOf, rowsOf, within } from './estimates.js';

const MOST_POINTS = 2_000;
/** A range that is wider than this is drawn on a logarithmic axis. */
const WIDE_RANGE = 200;

/** A line for each level of one factor, a panel for each level of another. */
export function responseChart(
  measure: string,
  { x, lines, panels, rest }: Roles,
  cells: readonly CellData[],
): Chart | null {
  const factors = [x, lines, panels].filter((factor) => factor !== null);
  const points = pointsBy(factors, cells, measure);
  if (points.length === 0) return null;
  const by = lines ? `, ${x.numeric ? 'a line' : 'a sign'} for each ${lines.column}` : '';
  const across = panels ? `, a panel for each ${panels.column}` : '';
  const mean = rest.length > 0 ? ` Points are means over ${namesOf(rest)}.` : '';
  // What is in no order has nothing between its values.
  const shape = { x, lines, panels, joined: x.numeric };
  const { rows, label, cut } = prepared(measure, points, shape);
  return {
    title: `${measureTitle(measure)} by ${x.column}`,
    caption:
      `${measureMeaning(measure)}: mean of the runs of a cell, with its 95 % interval${by}` +
      `${across}.${mean}${cut} ${extremes(measure, points, factors)}` +
      thinned('points', rows.length, MOST_POINTS),
    ...(lines ? { legend: legendOf(lines, x.numeric) } : {}),
    draw: (_, narrow) => drawing(measure, label, thin(rows, MOST_POINTS), shape, narrow),
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
  const shape = { x, lines: null, panels: null, joined: false };
  const { rows, label, cut } = prepared(measure, points, shape);
  return {
    title: `${measureTitle(measure)} by ${x.column}`,
    caption:
      `${measureMeaning(measure)}: a dot for each cell, with the 95 % interval of its mean. The ` +
      `other factors vary too.${cut} ${extremes(measure, points, [x])}` +
      thinned('cells', rows.length, most),
    draw: (_, narrow) => drawing(measure, label, thin(rows, most), shape, narrow),
  };
}

interface Shape {
  x: FactorData;
  lines: FactorData | null;
  panels: FactorData | null;
  joined: boolean;
}

/** In the unit of the axis. */
function prepared(measure: string, points: readonly Point[], { x, lines, panels }: Shape) {
  const most = points.reduce((found, { mean }) => Math.max(found, Math.abs(mean)), 0);
  const { label, unit } = axisOf(measure, most);
  const rows = rowsOf(points, unit, x, lines, panels);
  const open = within(rows, rangeOf(measure, rows)).filter((row) => row.cutLow || row.cutHigh);
  const cut =
    open.length === 0
      ? ''
      : ` Triangles: where an interval goes on beyond the axis (${shown(open.length)}); the ` +
        `table of cells has its ends.`;
  return { rows, label, cut };
}

function drawing(
  measure: string,
  label: string,
  rows: readonly Row[],
  { x, lines, panels, joined }: Shape,
  narrow: boolean,
) {
  const names = panels ? panels.levels.map((level) => `${panels.column} ${level}`) : [];
  const beside = !narrow && names.length <= 3;
  const panel: Panel = panels ? { [beside ? 'fx' : 'fy']: 'panel' } : {};
  const scale = { label: null, domain: names, axis: null, padding: beside ? 0.12 : 0.22 };
  const stacked = panels && !beside ? names.length : 1;
  const height = narrow ? 240 : 300;
  const range = rangeOf(measure, rows);
  const drawn = within(rows, range);
  const count = lines?.levels.length ?? 1;
  const marks: Markish[] = [
    gridY({ stroke: 'var(--line)', strokeOpacity: 1 }),
    ...Array.from({ length: count }, (_, line) =>
      lineMarks(
        drawn.filter((row) => row.line === line),
        { line, joined, panel, dx: STEP * (line - (count - 1) / 2) },
      ),
    ).flat(),
  ];
  if (panels) marks.push(panelNames(names, beside ? 'fx' : 'fy'));
  return {
    height: stacked * height * (stacked > 1 ? 0.8 : 1) + (panels ? 16 : 0),
    marginLeft: 60,
    marginTop: panels ? 44 : 28,
    ...(panels ? { [beside ? 'fx' : 'fy']: scale } : {}),
    x: xScale(x, narrow || (panels !== null && beside)),
    y: { label, tickFormat: tick, domain: [range.least, range.most], nice: !isShare(measure) },
    color: { type: 'identity' as const },
    marks,
  };
}

type Panel = { fx?: 'panel'; fy?: 'panel' };

/** Pixels between what several lines have at one place: none hides another. */
const STEP = 5;
const symbols = ['circle', 'square', 'diamond', 'triangle', 'cross'] as const;

interface LineLook {
  line: number;
  joined: boolean;
  panel: Panel;
  dx: number;
}

function lineMarks(rows: readonly Drawn[], { line, joined, panel, dx }: LineLook): Markish[] {
  const color = colorOf(line);
  const dash = dashOf(line);
  const symbol = symbols[line % symbols.length]!;
  const end = { x: 'x', dx, symbol: 'triangle', r: 3.4, fill: color, ...panel } as const;
  const high = rows.filter(({ cutHigh }) => cutHigh);
  const low = rows.filter(({ cutLow }) => cutLow);
  const stroke = { stroke: color, dx };
  return [
    ruleX(rows, { x: 'x', y1: 'low', y2: 'high', ...stroke, strokeWidth: 1.5, ...panel }),
    ...(joined
      ? [
          lineY(rows, {
            ...{ x: 'x', y: 'mean', ...stroke, strokeWidth: 1.8, ...panel },
            ...(dash === '' ? {} : { strokeDasharray: dash }),
          }),
        ]
      : []),
    dot(rows, {
      x: 'x',
      y: 'mean',
      dx,
      symbol,
      fill: color,
      r: rows.length > 200 ? 1.8 : 3.2,
      ...panel,
    }),
    ...(high.length > 0 ? [dot(high, { ...end, y: 'high' })] : []),
    ...(low.length > 0 ? [dot(low, { ...end, y: 'low', rotate: 180 })] : []),
  ];
}

function panelNames(names: readonly string[], panel: 'fx' | 'fy') {
  const rows = names.map((name) => ({ name }));
  return text(rows, {
    [panel]: 'name',
    text: ({ name }: { name: string }) => shortened(name, panel === 'fx' ? 36 : 46),
    frameAnchor: 'top-left',
    dy: -14,
    dx: panel === 'fx' ? 0 : 4,
    fontWeight: 600,
    fill: 'currentColor',
  });
}

function xScale(x: FactorData, small: boolean) {
  const label = shortened(x.column, small ? 34 : 80);
  if (!x.numeric)
    return {
      type: 'point' as const,
      domain: x.levels,
      label,
      tickFormat: (level: string) => shortened(level, small ? 9 : 20),
      labelOffset: 42,
      padding: 0.4,
    };
  const values = x.levels.map(Number);
  const least = values[0]!;
  const wide = least > 0 && values.at(-1)! / least > WIDE_RANGE;
  const few = values.length <= (small ? 5 : 12);
  const ticks = { labelOffset: 42, inset: 8, ticks: few ? values : small ? 5 : 10 };
  if (!wide) return { label, ...ticks, ...(few ? { tickFormat: tick } : {}) };
  return { type: 'log' as const, label: `${label} (logarithmic)`, tickFormat: tick, ...ticks };
}

export const namesOf = (factors: readonly FactorData[]): string =>
  factors.map(({ column }) => column).join(', ');

function legendOf(lines: FactorData, joined: boolean): LegendEntry[] {
  return lines.levels.map((level, index) => ({
    color: colorOf(index),
    sign: symbols[index % symbols.length]!,
    ...(joined ? { dash: dashOf(index) } : {}),
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
  const said = ({ mean }: Point) => measureText(measure, mean);
  if (lowest.mean === highest.mean) return `${said(lowest)} everywhere.`;
  const where = ({ levels }: Point) =>
    factors.map(({ column }) => `${column} ${levels[column]}`).join(', ');
  const at = (point: Point) => `${said(point)} (${where(point)})`;
  return `Lowest: ${at(lowest)}; highest: ${at(highest)}.`;
}
