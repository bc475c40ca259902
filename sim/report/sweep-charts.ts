/** Charts of a measure over a sweep's factors: lines with intervals, dots, or a heat map of two. */
import {
  cell,
  dot,
  gridY,
  lineY,
  type Markish,
  type PlotOptions,
  ruleX,
  text,
} from '../../report/bundled/plot.js';
import type { Chart, LegendEntry } from '../../report/figure.js';
import {
  compact,
  describeDownsampling,
  downsample,
  format,
  formatTick,
  plural,
  shorten,
} from '../../report/shared/format.js';
import {
  getAxis,
  isShare,
  measureMeaning,
  measureText,
  measureTitle,
} from '../../report/shared/measures.js';
import { getColor, getDash } from '../../report/shared/palette.js';
import { type CellData, type FactorData, type Point, pointsBy, type Roles } from './sweep-data.js';

const MOST_POINTS = 2_000;
/** Ratio of the largest to the smallest value above which the axis is logarithmic. */
const WIDE_RANGE = 200;

/** Draws one line per level of one factor, and one panel per level of another factor. */
export function responseChart(
  measure: string,
  { x, lines, panels, rest }: Roles,
  cells: readonly CellData[],
): Chart | null {
  const factors = [x, lines, panels].filter((factor) => factor !== null);
  const points = pointsBy(factors, cells, measure);
  if (points.length === 0) return null;
  const by = lines ? `, one ${x.numeric ? 'line' : 'symbol'} per ${lines.column}` : '';
  const across = panels ? `, one panel per ${panels.column}` : '';
  const mean = rest.length > 0 ? ` Points average over ${namesOf(rest)}.` : '';
  // A line joins only numeric levels.
  const shape = { x, lines, panels, joined: x.numeric };
  const { rows, label, unitText, cut } = prepared(measure, points, shape);
  return {
    title: `${measureTitle(measure)}, by ${x.column}`,
    caption:
      `${measureMeaning(measure)}${unitText}. Points: mean over the runs of a cell; ` +
      `bars: 95 % interval${by}` +
      `${across}. ${sizes(points)}${mean}${cut} ${extremes(measure, points, factors)}` +
      describeDownsampling('points', rows.length, MOST_POINTS),
    ...(lines ? { legend: legendOf(lines, x.numeric) } : {}),
    draw: (_, narrow) =>
      responseDrawing(measure, label, downsample(rows, MOST_POINTS), shape, narrow),
  };
}

/** Draws one dot per cell, for designs in which no two cells share a value. */
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
  const { rows, label, unitText, cut } = prepared(measure, points, shape);
  return {
    title: `${measureTitle(measure)}, by ${x.column}`,
    caption:
      `${measureMeaning(measure)}${unitText}. One dot per cell, with the 95 % interval of its ` +
      `mean. ${sizes(points)} The other factors vary too.${cut} ${extremes(measure, points, [x])}` +
      describeDownsampling('cells', rows.length, most),
    draw: (_, narrow) => responseDrawing(measure, label, downsample(rows, most), shape, narrow),
  };
}

interface Shape {
  x: FactorData;
  lines: FactorData | null;
  panels: FactorData | null;
  joined: boolean;
}

function prepared(measure: string, points: readonly Point[], shape: Shape) {
  const most = points.reduce((found, { mean }) => Math.max(found, Math.abs(mean)), 0);
  const { label, unit, unitText } = getAxis(measure, most);
  const rows = rowsOf(points, unit, shape);
  const open = clipToRange(rows, computeRange(measure, rows)).filter(
    (row) => row.cutLow || row.cutHigh,
  );
  const cut =
    open.length === 0
      ? ''
      : ` Triangles mark ${format(open.length)} intervals that extend beyond the axis; see the ` +
        `table of cells.`;
  return { rows, label, unitText, cut };
}

function responseDrawing(
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
  const range = computeRange(measure, rows);
  const drawn = clipToRange(rows, range);
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
    y: {
      label,
      tickFormat: formatTick,
      domain: [range.least, range.most],
      nice: !isShare(measure),
    },
    color: { type: 'identity' as const },
    marks,
  };
}

type Panel = { fx?: 'panel'; fy?: 'panel' };

/** Horizontal pixels between different lines' symbols at one x value. */
const STEP = 5;
const symbols = ['circle', 'square', 'diamond', 'triangle', 'cross'] as const;

interface LineLook {
  line: number;
  joined: boolean;
  panel: Panel;
  dx: number;
}

function lineMarks(rows: readonly Drawn[], { line, joined, panel, dx }: LineLook): Markish[] {
  const color = getColor(line);
  const dash = getDash(line);
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
    text: ({ name }: { name: string }) => shorten(name, panel === 'fx' ? 36 : 46),
    frameAnchor: 'top-left',
    dy: -14,
    dx: panel === 'fx' ? 0 : 4,
    fontWeight: 600,
    fill: 'currentColor',
  });
}

function xScale(x: FactorData, small: boolean) {
  const label = shorten(x.column, small ? 34 : 80);
  if (!x.numeric)
    return {
      type: 'point' as const,
      domain: x.levels,
      label,
      tickFormat: (level: string) => shorten(level, small ? 9 : 20),
      labelOffset: 42,
      padding: 0.4,
    };
  const values = x.levels.map(Number);
  const least = values[0]!;
  const wide = least > 0 && values.at(-1)! / least > WIDE_RANGE;
  const few = values.length <= (small ? 5 : 12);
  const ticks = { labelOffset: 42, inset: 8, ticks: few ? values : small ? 5 : 10 };
  if (!wide) return { label, ...ticks, ...(few ? { tickFormat: formatTick } : {}) };
  return {
    type: 'log' as const,
    label: `${label} (logarithmic)`,
    tickFormat: formatTick,
    ...ticks,
  };
}

const namesOf = (factors: readonly FactorData[]): string =>
  factors.map(({ column }) => column).join(', ');

function legendOf(lines: FactorData, joined: boolean): LegendEntry[] {
  return lines.levels.map((level, index) => ({
    color: getColor(index),
    sign: symbols[index % symbols.length]!,
    ...(joined ? { dash: getDash(index) } : {}),
    text: `${lines.column} ${level}`,
  }));
}

/** Describes the number of points and the runs per point in one sentence. */
function sizes(points: readonly Point[]): string {
  const counts = points.map(({ n }) => n);
  const least = counts.reduce((a, b) => Math.min(a, b));
  const most = counts.reduce((a, b) => Math.max(a, b));
  const runs = least === most ? format(least) : `${format(least)} to ${format(most)}`;
  return `n = ${plural(points.length, 'point')}, each from ${runs} runs.`;
}

/** Describes the lowest and the highest mean in one sentence. */
function extremes(
  measure: string,
  points: readonly Point[],
  factors: readonly FactorData[],
): string {
  const sorted = points.toSorted((a, b) => a.mean - b.mean);
  const lowest = sorted[0]!;
  const highest = sorted.at(-1)!;
  const said = ({ mean }: Point) => measureText(measure, mean);
  if (lowest.mean === highest.mean) return `All means are ${said(lowest)}.`;
  const where = ({ levels }: Point) =>
    factors.map(({ column }) => `${column} ${levels[column]}`).join(', ');
  const at = (point: Point) => `${said(point)} (${where(point)})`;
  return `Lowest: ${at(lowest)}; highest: ${at(highest)}.`;
}

/** Maximum number of levels. More levels would be unreadable. */
const MOST_LEVELS = 20;

/** Draws a heat map. Null if there are too many levels, or if most combinations were not run. */
export function heatChart(
  measure: string,
  [x, y]: readonly [FactorData, FactorData],
  rest: readonly FactorData[],
  cells: readonly CellData[],
): Chart | null {
  const fields = x.levels.length * y.levels.length;
  if (Math.max(x.levels.length, y.levels.length) > MOST_LEVELS) return null;
  const points = pointsBy([x, y], cells, measure);
  if (points.length === 0 || 2 * points.length < fields) return null;
  const means = points.map(({ mean }) => mean);
  const least = means.reduce((a, b) => Math.min(a, b));
  const most = means.reduce((a, b) => Math.max(a, b));
  const { label, unit, unitText } = getAxis(measure, Math.max(Math.abs(least), Math.abs(most)));
  const rows = points.map(({ levels, mean }) => ({
    levels,
    label: compact(mean / unit),
    strength: most === least ? 0.3 : 0.06 + (0.64 * (mean - least)) / (most - least),
  }));
  const over = rest.length > 0 ? `, averaged over ${namesOf(rest)}` : '';
  return {
    title: `${label}, by ${x.column} and ${y.column}`,
    caption:
      `${measureMeaning(measure)}${unitText}. Mean of each combination${over}; a stronger ` +
      `colour is larger. ` +
      `${sizes(points)} Empty: not run, or no value. ${extremes(measure, points, [x, y])}`,
    draw: (width, narrow) => {
      const upright = narrow && x.levels.length > y.levels.length;
      return heatDrawing(rows, upright ? [y, x] : [x, y], width, narrow);
    },
  };
}

interface Field {
  levels: Record<string, string>;
  label: string;
  strength: number;
}

function heatDrawing(
  rows: readonly Field[],
  [x, y]: readonly [FactorData, FactorData],
  width: number,
  narrow: boolean,
): PlotOptions {
  const most = { label: narrow ? 34 : 80, level: narrow ? 9 : 20 };
  const short = (level: string) => shorten(level, most.level);
  const marginLeft = Math.min(narrow ? 90 : 170, 26 + 7 * longestOf(y.levels.map(short)));
  const fieldWidth = (width - marginLeft - 20) / x.levels.length;
  const fits = fieldWidth / (LETTER_WIDTH * (longestOf(rows.map(({ label }) => label)) + 0.6));
  const rotated = fieldWidth < LETTER_WIDTH * 12 * (longestOf(x.levels.map(short)) + 1);
  const place = {
    x: ({ levels }: Field) => levels[x.column],
    y: ({ levels }: Field) => levels[y.column],
  };
  const numbers = {
    ...place,
    text: 'label',
    fontSize: Math.min(12, fits),
    fill: 'currentColor',
    stroke: 'var(--paper)',
    strokeWidth: 2.5,
    strokeOpacity: 0.75,
  };
  const below = rotated ? 30 + Math.min(60, 5 * longestOf(x.levels.map(short))) : 46;
  return {
    height: y.levels.length * (narrow ? 28 : 34) + 28 + below,
    marginLeft,
    marginTop: 28,
    marginBottom: below,
    padding: 0.04,
    x: {
      type: 'band',
      domain: x.levels,
      label: shorten(x.column, most.label),
      tickFormat: short,
      labelOffset: below - 4,
      tickRotate: rotated ? -45 : 0,
    },
    y: {
      type: 'band',
      domain: y.levels,
      label: shorten(y.column, most.label),
      tickFormat: short,
      labelAnchor: 'top',
      labelArrow: 'none',
      reverse: y.numeric,
    },
    opacity: { type: 'identity' },
    marks: [
      cell(rows, { ...place, fill: 'var(--c1)', fillOpacity: 'strength' }),
      ...(fits < SMALLEST ? [] : [text(rows, numbers)]),
    ],
  };
}

/** Digit width as a fraction of the font size, and the smallest readable font size in pixels. */
const LETTER_WIDTH = 0.62;
const SMALLEST = 7;

const longestOf = (texts: readonly string[]): number =>
  texts.reduce((length, one) => Math.max(length, one.length), 0);

interface Row {
  x: number | string;
  mean: number;
  low: number;
  high: number;
  /** Line index and panel name. */
  line: number;
  panel: string;
}

/** @param unit axis unit. */
function rowsOf(points: readonly Point[], unit: number, { x, lines, panels }: Shape): Row[] {
  const rank = ({ levels }: Point) =>
    x.numeric ? Number(levels[x.column]) : x.levels.indexOf(levels[x.column]!);
  const sorted = points.toSorted((a, b) => rank(a) - rank(b));
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

/** Longest interval that fits in the plot, as a multiple of the range of the means. */
const TOO_WIDE = 2.5;

interface Range {
  least: number;
  most: number;
}

/** Computes the axis range. A share's axis always ranges from 0 to 1. */
export function computeRange(measure: string, rows: readonly Row[]): Range {
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

/** Clips intervals to the axis, and sets `cutLow` and `cutHigh` on clipped rows. */
export function clipToRange(rows: readonly Row[], { least, most }: Range) {
  return rows.map((row) => ({
    ...row,
    low: Math.max(row.low, least),
    high: Math.min(row.high, most),
    cutLow: row.low < least,
    cutHigh: row.high > most,
  }));
}

type Drawn = ReturnType<typeof clipToRange>[number];
