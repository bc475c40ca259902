/** A measure over two factors: a field for each combination, with its number in it. */
import { cell, type PlotOptions, text } from '@observablehq/plot';
import type { Chart } from '../../../report/figure.js';
import { axisOf, measureMeaning } from '../../../report/shared/measures/titles.js';
import { brief } from '../../../report/shared/numbers.js';
import { shortened } from '../../../report/shared/text.js';
import { pointsBy } from '../roles.js';
import type { CellData, FactorData } from '../sweep-data.js';
import { extremes, namesOf } from './response.js';

/** More levels could not be read. */
const MOST_LEVELS = 20;

/** Null where there are too many levels, or most combinations were not run. */
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
  const { label, unit } = axisOf(measure, Math.max(Math.abs(least), Math.abs(most)));
  const rows = points.map(({ levels, mean }) => ({
    levels,
    label: brief(mean / unit),
    strength: most === least ? 0.3 : 0.06 + (0.64 * (mean - least)) / (most - least),
  }));
  const over = rest.length > 0 ? `, over ${namesOf(rest)}` : '';
  return {
    title: `${label} by ${x.column} and ${y.column}`,
    caption:
      `${measureMeaning(measure)}: the mean of each combination${over}; the stronger its colour, ` +
      `the larger. Empty: not run, or it cannot be said. ${extremes(measure, points, [x, y])}`,
    draw: (width, narrow) => {
      const upright = narrow && x.levels.length > y.levels.length;
      return drawing(rows, upright ? [y, x] : [x, y], width, narrow);
    },
  };
}

interface Field {
  levels: Record<string, string>;
  label: string;
  strength: number;
}

function drawing(
  rows: readonly Field[],
  [x, y]: readonly [FactorData, FactorData],
  width: number,
  narrow: boolean,
): PlotOptions {
  const most = { label: narrow ? 34 : 80, level: narrow ? 9 : 20 };
  const short = (level: string) => shortened(level, most.level);
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
      label: shortened(x.column, most.label),
      tickFormat: short,
      labelOffset: below - 4,
      tickRotate: rotated ? -45 : 0,
    },
    y: {
      type: 'band',
      domain: y.levels,
      label: shortened(y.column, most.label),
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

/** Of a digit, in parts of the size of its font; and the smallest font that can be read. */
const LETTER_WIDTH = 0.62;
const SMALLEST = 7;

const longestOf = (texts: readonly string[]): number =>
  texts.reduce((length, one) => Math.max(length, one.length), 0);
