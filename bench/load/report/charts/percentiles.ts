/** Latency by percentile: the nearer to 100 %, the more room, so that the tail can be seen. */
import { gridY, line, ruleX, ruleY } from '@observablehq/plot';
import type { Chart } from '../../../../sim/report/figure.js';
import { tick, time, timeUnit } from '../../../../sim/report/numbers.js';
import { curve } from '../../files/histograms.js';
import type { Percentiles } from '../../result.js';

export interface Curve {
  name: string;
  /** A CSS colour. */
  color: string;
  percentiles: Percentiles;
}

/** A range that is wider than this is drawn on a logarithmic axis. */
const WIDE_RANGE = 60;

/** Null without a sample. */
export function percentileChart(
  title: string,
  caption: string,
  all: readonly Curve[],
): Chart | null {
  const curves = all.filter(({ percentiles }) => percentiles.histogram !== null);
  if (curves.length === 0) return null;
  const drawn = curves.map(({ percentiles, color }) => ({
    color,
    // One in so many is slower than this.
    points: curve(percentiles).map(({ percentile, ms }) => ({
      rarity: 100 / (100 - percentile),
      ms,
    })),
  }));
  const times = drawn.flatMap(({ points }) => points.map(({ ms }) => ms));
  const most = times.reduce((a, b) => Math.max(a, b));
  const least = times.filter((ms) => ms > 0).reduce((a, b) => Math.min(a, b), most);
  const rarest = drawn.reduce((a, { points }) => Math.max(a, points.at(-1)!.rarity), 10);
  const wide = most / least > WIDE_RANGE;
  const unit = timeUnit(wide ? least * 3 : most);
  return {
    title,
    caption: `${caption} ${sentence(curves)}${wide ? ' The time axis is logarithmic.' : ''}`,
    legend: curves.map(({ name, color }) => ({ color, text: name })),
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
      y: {
        label: unit.name,
        tickFormat: tick,
        ...(wide
          ? { type: 'log' as const, domain: [least / unit.ms, most / unit.ms], ticks: 5 }
          : { domain: [0, (most / unit.ms) * 1.04 || 1] }),
      },
      marks: [
        gridY({ stroke: 'var(--line)', strokeOpacity: 1, ...(wide ? { ticks: 5 } : {}) }),
        ruleX(ticksTo(rarest, narrow).slice(1), { stroke: 'var(--line)' }),
        ...(wide ? [] : [ruleY([0], { stroke: 'var(--faint)' })]),
        ...drawn.map(({ color, points }) =>
          line(points, {
            x: 'rarity',
            y: ({ ms }: { ms: number }) => Math.max(ms, wide ? least : 0) / unit.ms,
            stroke: color,
            strokeWidth: 2,
          }),
        ),
      ],
    }),
  };
}

function sentence(curves: readonly Curve[]): string {
  const told = curves.map(({ name, percentiles: { p50, p99, max } }) => {
    const tail = `99 % within ${time(p99)}, the longest ${time(max)}`;
    return `${name}: half within ${time(p50)}, ${tail}.`;
  });
  return told.join(' ');
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
