/** Latency by percentile: the nearer to 100 %, the more room, so that the tail can be seen. */
import { gridY, line, ruleX, ruleY } from '@observablehq/plot';
import type { Chart } from '../../../../report/figure.js';
import { tick, time } from '../../../../report/shared/numbers.js';
import { dashOf } from '../../../../report/shared/palette.js';
import { LOGARITHMIC, timeScale } from '../../../../report/shared/time-scale.js';
import { curve } from '../../figures/histograms.js';
import type { Percentiles } from '../../result.js';

export interface Curve {
  name: string;
  /** A CSS colour. */
  color: string;
  percentiles: Percentiles;
}

/** Null without a sample. */
export function percentileChart(
  title: string,
  caption: string,
  all: readonly Curve[],
): Chart | null {
  const curves = all.filter(({ percentiles }) => percentiles.histogram !== null);
  if (curves.length === 0) return null;
  const lines = curves.map(({ percentiles, color }) => ({ color, points: pointsOf(percentiles) }));
  const scale = timeScale(lines.flatMap(({ points }) => points.map(({ ms }) => ms)));
  const rarest = lines.reduce((most, { points }) => Math.max(most, points.at(-1)!.rarity), 10);
  const height = (point: Point) => Math.max(point.ms, scale.least) / scale.unit.ms;
  return {
    title,
    caption: [caption, ...curves.map(sentence), ...(scale.wide ? [LOGARITHMIC] : [])].join(' '),
    ...(curves.length > 1
      ? {
          legend: curves.map(({ name, color }, index) => ({
            color,
            dash: dashOf(index),
            text: name,
          })),
        }
      : {}),
    draw: (_, narrow) => ({
      height: narrow ? 240 : 300,
      marginLeft: 56,
      marginTop: 28,
      marginRight: 28,
      x: {
        type: 'log',
        domain: [1, rarest],
        label: 'percentile',
        labelOffset: 42,
        ticks: ticksTo(rarest, narrow),
        tickFormat: percentileOf,
      },
      y: { label: scale.unit.name, tickFormat: tick, ...scale.axis },
      marks: [
        gridY({ stroke: 'var(--line)', strokeOpacity: 1, ticks: scale.axis.ticks }),
        ruleX(ticksTo(rarest, narrow).slice(1), { stroke: 'var(--line)' }),
        ...(scale.wide ? [] : [ruleY([0], { stroke: 'var(--faint)' })]),
        ...lines.map(({ color, points }, index) =>
          // The first shows at both sides of one that lies on it.
          line(points, {
            x: 'rarity',
            y: height,
            stroke: color,
            strokeWidth: lines.length > 1 && index === 0 ? 3.6 : 1.8,
            ...(dashOf(index) === '' ? {} : { strokeDasharray: dashOf(index) }),
          }),
        ),
      ],
    }),
  };
}

interface Point {
  /** One in so many is slower. */
  rarity: number;
  ms: number;
}

const pointsOf = (percentiles: Percentiles): Point[] =>
  curve(percentiles).map(({ percentile, ms }) => ({ rarity: 100 / (100 - percentile), ms }));

function sentence({ name, percentiles: { p50, p99, max } }: Curve): string {
  const tail = `99\u00a0% within ${time(p99)}, the longest ${time(max)}`;
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}: half within ${time(p50)}, ${tail}.`;
}

/** 0 %, 50 %, 90 %, 99 % and so on, as one in so many. */
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
