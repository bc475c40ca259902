/** Rates beside each other: probes of a search for saturation, and tiers of the benchmarks. */
import { dot, gridY, line, ruleY } from '@observablehq/plot';
import type { Chart } from '../../../../report/figure.js';
import { shown, tick } from '../../../../report/shared/numbers.js';
import { colorOf } from '../../../../report/shared/palette.js';
import type { LoadResult } from '../../result.js';
import { namedBars } from './bars.js';

type Saturation = NonNullable<LoadResult['saturation']>;

export function saturationChart({ brackets, slo }: Saturation): Chart | null {
  const probes = brackets.flatMap((bracket, index) =>
    bracket.probes.map((probe) => ({ ...probe, color: colorOf(index) })),
  );
  if (probes.length === 0) return null;
  const most = probes.reduce((rate, probe) => Math.max(rate, probe.rate), 0);
  const held = brackets.map(({ holds }) => holds);
  const range = `${shown(Math.min(...held))} to ${shown(Math.max(...held))}/s`;
  return {
    title: 'The search for the rate that holds',
    caption:
      `Each mark is a run at a fixed rate: full where it held, open where it did not ` +
      `(${['99 % of the rate', ...slo].join(', ')}). On the dashed line all that was asked for ` +
      `was accepted. The highest rates that held: ${range}.`,
    legend: brackets.map((_, index) => ({ color: colorOf(index), text: `bracket ${index + 1}` })),
    draw: (_, narrow) => ({
      height: narrow ? 240 : 320,
      marginLeft: 56,
      marginTop: 28,
      x: {
        label: 'arrivals a second, asked for',
        labelOffset: 42,
        domain: [0, most * 1.04],
        ticks: narrow ? 5 : 10,
        tickFormat: tick,
      },
      y: { label: 'accepted a second', domain: [0, most * 1.04], tickFormat: tick },
      color: { type: 'identity' },
      marks: [
        gridY({ stroke: 'var(--line)', strokeOpacity: 1 }),
        ruleY([0], { stroke: 'var(--faint)' }),
        line(
          [0, most].map((rate) => ({ rate })),
          { x: 'rate', y: 'rate', stroke: 'var(--faint)', strokeDasharray: '5 4' },
        ),
        dot(
          probes.filter(({ holds }) => holds),
          { x: 'rate', y: 'accepted_per_s', fill: 'color', r: 4.5 },
        ),
        dot(
          probes.filter(({ holds }) => !holds),
          { x: 'rate', y: 'accepted_per_s', stroke: 'color', strokeWidth: 2, r: 4.5 },
        ),
      ],
    }),
  };
}

export function tiersChart(tiers: LoadResult['tiers'], r: number | null): Chart | null {
  if (tiers.length === 0) return null;
  const labels = new Map(
    tiers.map(({ name, per_s, of_r }) => {
      const ratio = shown(Math.round(of_r * 100) / 100);
      return [name, `${name}: ${shown(Math.round(per_s))}/s, ${ratio} R`];
    }),
  );
  const bars = tiers.map(({ name, per_s }) => ({ name, value: per_s, color: 'var(--c1)' }));
  return {
    title: 'Where the time goes',
    caption:
      `The same workload through more and more of the server, measured together with this run: ` +
      `what a tier loses is what it adds. R is what one core verifies with libsodium alone` +
      `${r === null ? '' : `, ${shown(Math.round(r))}/s`}. ${[...labels.values()].join('; ')}.`,
    draw: () => namedBars(bars, labels, 'a second'),
  };
}
