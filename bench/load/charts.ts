import type { LoadChart, LoadTable } from '../../api/contract/load.js';
import {
  axisX,
  barX,
  dot,
  gridX,
  gridY,
  line,
  type PlotOptions,
  ruleX,
  ruleY,
  text,
} from '../../report/bundled/plot.js';
import type { Chart } from '../../report/figure.js';
import {
  format,
  formatMs,
  formatTick,
  LOGARITHMIC,
  timeScale,
} from '../../report/shared/format.js';
import { getColor, getDash } from '../../report/shared/palette.js';
import { decodeHistogram } from './percentiles.js';
import type { LoadResult, Percentiles } from './result.js';

interface Bar {
  name: string;
  value: number;
  color: string;
  label: string;
}

function namedBars(bars: readonly Bar[], axis: string): PlotOptions {
  return {
    ...{ height: 44 * bars.length + 56, marginLeft: 12, marginTop: 10, marginRight: 24 },
    y: { domain: bars.map(({ name }) => name), axis: null, padding: 0 },
    color: { type: 'identity' },
    marks: [
      gridX({ stroke: 'var(--line)', strokeOpacity: 1, ticks: 5 }),
      axisX({ ticks: 5, tickFormat: formatTick, label: axis, labelOffset: 42 }),
      barX(bars, { x: 'value', y: 'name', fill: 'color', insetTop: 24, insetBottom: 4 }),
      ruleX([0], { stroke: 'var(--faint)' }),
      text(bars, {
        ...{ x: 0, y: 'name', text: 'label', textAnchor: 'start', dx: 6, dy: -10 },
        ...{ fill: 'currentColor', stroke: 'var(--paper)', strokeWidth: 3 },
      }),
    ],
  };
}

const MOST_BARS = 20;

/** Draws the most frequent rows of the table of failed requests. */
export function failuresChart({ title, rows }: LoadTable): Chart {
  const operations = [...new Set(rows.map(([operation]) => operation))];
  const bars = rows.slice(0, MOST_BARS).map(([operation, ...cells], index): Bar => {
    const parts = cells.slice(0, 4).filter((cell) => cell !== null && cell !== 'refused');
    const text = parts.map((part) => String(part).slice(0, 40)).join(' ');
    const value = Number(cells[4]);
    const label = `${operation}, ${text}: ${format(value)}`;
    const color = getColor(operations.indexOf(operation!));
    return { name: String(index), value, color, label };
  });
  return {
    title,
    caption:
      'Requests that were not accepted, by status, code and reason of the refusal, or by how ' +
      `they ended without a valid response. Most frequent: ${bars[0]!.label}.` +
      (rows.length > MOST_BARS ? ' The table has more.' : ''),
    draw: () => namedBars(bars, 'requests'),
  };
}

const frame = { marginLeft: 56, marginTop: 28 };

/** Horizontal lines, and one at 0 unless the axis is logarithmic. */
const background = (isLogarithmic: boolean, ticks: number | number[] | null = null) => [
  gridY({ stroke: 'var(--line)', strokeOpacity: 1, ...(ticks === null ? {} : { ticks }) }),
  ...(isLogarithmic ? [] : [ruleY([0], { stroke: 'var(--faint)' })]),
];

interface PercentileCurve {
  name: string;
  color: string;
  percentiles: Percentiles;
}

export function percentileChart(
  title: string,
  caption: string,
  all: readonly PercentileCurve[],
): Chart | null {
  const curves = all.filter(({ percentiles }) => percentiles.histogram !== null);
  if (curves.length === 0) return null;
  const lines = curves.map(({ percentiles, color }) => ({ color, points: pointsOf(percentiles) }));
  const scale = timeScale(lines.flatMap(({ points }) => points.map(({ ms }) => ms)));
  const rarest = lines.reduce((most, { points }) => Math.max(most, points.at(-1)!.rarity), 10);
  const height = (point: Point) => Math.max(point.ms, scale.least) / scale.unit.ms;
  const legend = curves.map(({ name, color }, index) => {
    return { color, dash: getDash(index), text: name };
  });
  return {
    title,
    caption: [caption, ...curves.map(sentence), ...(scale.wide ? [LOGARITHMIC] : [])].join(' '),
    ...(curves.length > 1 ? { legend } : {}),
    draw: (_, narrow) => ({
      ...{ ...frame, height: narrow ? 240 : 300, marginRight: 28 },
      x: {
        ...{ type: 'log', domain: [1, rarest], label: 'percentile', labelOffset: 42 },
        ...{ ticks: ticksTo(rarest, narrow), tickFormat: percentileOf },
      },
      y: { label: scale.unit.name, tickFormat: formatTick, ...scale.axis },
      marks: [
        ...background(scale.wide, scale.axis.ticks),
        ruleX(ticksTo(rarest, narrow).slice(1), { stroke: 'var(--line)' }),
        ...lines.map(({ color, points }, index) =>
          // The first curve is wider, so that it stays visible under a different curve.
          line(points, {
            x: 'rarity',
            y: height,
            stroke: color,
            strokeWidth: lines.length > 1 && index === 0 ? 3.6 : 1.8,
            ...(getDash(index) === '' ? {} : { strokeDasharray: getDash(index) }),
          }),
        ),
      ],
    }),
  };
}

interface Point {
  /** One in `rarity` samples is slower than the value. */
  rarity: number;
  ms: number;
}

/** Points on a curve per halving of the distance to 100 %. */
const STEPS = 6;

/** Returns the points on a curve, denser toward 100 %, as far as the samples reach. */
function pointsOf({ histogram, count, independent = count }: Percentiles): Point[] {
  const decoded = decodeHistogram(histogram!);
  const steps = Math.ceil(STEPS * Math.log2(Math.max(2, independent)));
  return Array.from({ length: steps + 1 }, (_, step) => {
    const rarity = 2 ** (step / STEPS);
    return { rarity, ms: decoded.getValueAtPercentile(100 * (1 - 1 / rarity)) / 1_000 };
  });
}

function sentence({ name, percentiles: { p50, p99, max } }: PercentileCurve): string {
  const title = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  return `${title}: median ${formatMs(p50)}, p99 ${formatMs(p99)}, max ${formatMs(max)}.`;
}

/** Returns 0 %, 50 %, 90 %, 99 % and so on, as rarities. */
function ticksTo(rarest: number, narrow: boolean): number[] {
  const decades = Math.floor(Math.log10(rarest) + 1e-9);
  const tens = Array.from({ length: decades }, (_, index) => 10 ** (index + 1));
  const room = narrow && decades > 4 ? tens.filter((_, index) => index % 2 === 1) : tens;
  return narrow ? [1, ...room] : [1, 2, ...room];
}

function percentileOf(rarity: number): string {
  const digits = Math.max(0, Math.round(Math.log10(rarity)) - 2);
  return `${(100 - 100 / rarity).toFixed(rarity < 10 ? 0 : digits)} %`;
}

type Saturation = NonNullable<LoadResult['saturation']>;

/** Draws the probes of a search: the accepted rate, and the response time, over the target rate. */
export function saturationCharts({ brackets, slo }: Saturation): Chart[] {
  const probes = brackets.flatMap((bracket, index) =>
    bracket.probes.map((probe) => ({ ...probe, color: getColor(index) })),
  );
  if (probes.length === 0) return [];
  const most = probes.reduce((rate, probe) => Math.max(rate, probe.rate), 0);
  const held = brackets.map(({ holds }) => holds);
  const range = `${format(Math.min(...held))} to ${format(Math.max(...held))}/s`;
  const times = probes.filter(({ p99 }) => p99 !== null).sort((a, b) => a.rate - b.rate);
  const scale = timeScale(times.map(({ p99 }) => p99!));
  const legend = brackets.map((_, index) => ({
    ...{ color: getColor(index), text: `bracket ${index + 1}` },
  }));
  const x = (narrow: boolean) => ({
    ...{ label: 'target rate, arrivals/s', labelOffset: 42, domain: [0, most * 1.04] },
    ...{ ticks: narrow ? 5 : 10, tickFormat: formatTick },
  });
  type Drawn = (typeof probes)[number];
  const marks = (all: readonly Drawn[], y: string | ((probe: Drawn) => number)) => [
    dot(
      all.filter(({ holds }) => holds),
      { x: 'rate', y, fill: 'color', r: 4.5 },
    ),
    dot(
      all.filter(({ holds }) => !holds),
      { x: 'rate', y, stroke: 'color', strokeWidth: 2, r: 4.5 },
    ),
  ];
  const common = (narrow: boolean) => ({
    ...{ ...frame, height: narrow ? 240 : 320, x: x(narrow), color: { type: 'identity' } as const },
  });
  const diagonal = [0, most].map((rate) => ({ rate }));
  return [
    {
      ...{ title: 'Saturation search', legend },
      caption:
        `Each mark is a run at a fixed rate: filled if the rate held, open if not ` +
        `(${['99 % of the rate', ...slo].join(', ')}). On the dashed line all arrivals were ` +
        `accepted. Highest rates that held: ${range}.`,
      draw: (_, narrow) => ({
        ...common(narrow),
        y: { label: 'accepted, arrivals/s', domain: [0, most * 1.04], tickFormat: formatTick },
        marks: [
          ...background(false),
          line(diagonal, { x: 'rate', y: 'rate', stroke: 'var(--faint)', strokeDasharray: '5 4' }),
          ...marks(probes, 'accepted_per_s'),
        ],
      }),
    },
    ...(times.length < 2
      ? []
      : [
          {
            ...{ title: 'Saturation curve', legend },
            caption:
              `99th percentile of the response times at each rate. It rises where the server ` +
              `saturates.${scale.wide ? ` ${LOGARITHMIC}` : ''}`,
            draw: (_: unknown, narrow: boolean) => {
              const y = ({ p99 }: Drawn) => Math.max(p99!, scale.least) / scale.unit.ms;
              return {
                ...common(narrow),
                y: { label: scale.unit.name, tickFormat: formatTick, ...scale.axis },
                marks: [
                  gridY({ stroke: 'var(--line)', strokeOpacity: 1, ticks: scale.axis.ticks }),
                  line(times, { x: 'rate', y, stroke: 'var(--faint)' }),
                  ...marks(times, y),
                ],
              };
            },
          },
        ]),
  ];
}

/** Draws a chart over time, with `width` seconds per point. */
export function timeChart({ title, caption, unit, lines }: LoadChart, width: number): Chart {
  const values = lines.flatMap((one) => one.values.filter((value) => value !== null));
  const times = unit === 'ms' ? timeScale(values) : null;
  const most = values.reduce((a, b) => Math.max(a, b), 0);
  const seconds = lines[0]!.values.length * width;
  const height = (value: number | null) =>
    value === null || times === null ? value : Math.max(value, times.least) / times.unit.ms;
  const legend = lines.map(({ name, color, dash }) => {
    return { color: `var(--${color})`, dash, text: name };
  });
  const axis = times?.axis ?? { domain: [0, most * 1.06 || 1], ticks: 6 };
  return {
    title,
    caption: times?.wide ? `${caption} ${LOGARITHMIC}` : caption,
    ...(lines.length > 1 ? { legend } : {}),
    draw: (_, narrow) => ({
      ...{ ...frame, height: narrow ? 220 : 260 },
      x: {
        ...{ label: 'measured time, s', labelOffset: 42, domain: [0, seconds] },
        ...{ ticks: Math.min(seconds, narrow ? 5 : 10), tickFormat: formatTick },
      },
      y: { label: times?.unit.name ?? 'per second', tickFormat: formatTick, ...axis },
      marks: [
        ...background(times?.wide ?? false, axis.ticks),
        ...lines.map(({ color, dash, values: drawn }) =>
          // A missing value leaves a gap. A single point is drawn as a dash.
          line(
            drawn.flatMap((value, index) =>
              (drawn.length === 1 ? [0, width] : [(index + 0.5) * width]).map((x) => ({
                ...{ x, y: height(value) },
              })),
            ),
            {
              x: 'x',
              y: 'y',
              stroke: `var(--${color})`,
              strokeWidth: dash === '' ? 2 : 1.6,
              ...(dash === '' ? {} : { strokeDasharray: dash }),
            },
          ),
        ),
      ],
    }),
  };
}
