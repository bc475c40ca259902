/** How blocks ended, cumulated over the run. */
import { areaY, gridY, ruleY } from '@observablehq/plot';
import type { Chart } from '../../../report/figure.js';
import { shown, tick, time, timeUnit } from '../../../report/numbers.js';
import { thin, thinned } from '../../../report/thin.js';
import type { Instant, SeriesData } from '../series-data.js';
import { type Shade, shaded, shadedText } from './shades.js';

const MOST_STEPS = 400;

const outcomes = [
  { name: 'finalized', color: 'var(--c1)' },
  { name: 'rejected', color: 'var(--c2)' },
  { name: 'expired', color: 'var(--c5)' },
  { name: 'orphaned', color: 'var(--c8)' },
] as const;

export function outcomesChart(series: SeriesData, shades: readonly Shade[]): Chart | null {
  const curves = outcomes.map(({ name, color }) => ({ name, color, all: series.curve(name) }));
  const instants = curves[0]!.all.length;
  const last = curves[0]!.all.at(-1);
  const totals = curves.map(({ name, all }) => ({ name, total: all.at(-1)?.value ?? 0 }));
  const closed = totals.reduce((sum, { total }) => sum + total, 0);
  if (!last || closed === 0) return null;
  const x = timeUnit(last.ms);
  const rows = curves.flatMap(({ name, color, all }) =>
    thin(all, MOST_STEPS).map(({ ms, value }) => ({ x: ms / x.ms, y: value ?? 0, name, color })),
  );
  const ended = totals.map(({ name, total }) => `${shown(total)} ${name}`).join(', ');
  return {
    title: 'How blocks ended',
    caption:
      `Blocks that had closed by each time, stacked by how they ended. In the end there were ` +
      `${shown(closed)}: ${ended}.${longestWithout(curves[0]!.all)}` +
      shadedText(shades) +
      thinned('instants', instants, MOST_STEPS),
    legend: curves.map(({ name, color }, index) => ({
      color,
      text: `${name} (${shown(totals[index]!.total)})`,
    })),
    draw: (width, narrow) =>
      shaded(
        {
          height: narrow ? 220 : 280,
          marginLeft: 52,
          marginTop: 28,
          x: { label: `time of the run, ${x.name}`, labelOffset: 42, ticks: narrow ? 5 : 10 },
          y: { label: 'closed blocks', tickFormat: tick },
          color: { type: 'identity' },
          marks: [
            gridY({ stroke: 'var(--line)', strokeOpacity: 1 }),
            areaY(rows, {
              x: 'x',
              y: 'y',
              z: 'name',
              fill: 'color',
              fillOpacity: 0.85,
              curve: 'step-after',
              order: outcomes.map(({ name }) => name),
            }),
            ruleY([0], { stroke: 'var(--faint)' }),
          ],
        },
        shades,
        { unitMs: x.ms, lastMs: last.ms, width },
      ),
  };
}

/** The longest time between two instants at which as many blocks had been finalized. */
function longestWithout(finalized: readonly Instant[]): string {
  let longest = { from: 0, to: 0 };
  let since = finalized[0]!;
  for (const instant of finalized) {
    if (instant.value !== since.value) since = instant;
    if (instant.ms - since.ms > longest.to - longest.from) {
      longest = { from: since.ms, to: instant.ms };
    }
  }
  if (longest.to === 0) return '';
  const { from, to } = longest;
  return ` None was finalized for ${time(to - from)}, the longest, from ${time(from)} on.`;
}
