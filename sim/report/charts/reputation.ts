/** Reputation by group over the run. */
import { gridY, lineY } from '@observablehq/plot';
import type { Chart } from '../../../report/figure.js';
import { captions } from '../../../report/shared/captions.js';
import { shown, timeUnit } from '../../../report/shared/numbers.js';
import { COLORED, colorOf, dashOf, OTHERS } from '../../../report/shared/palette.js';
import { thin, thinned } from '../../../report/shared/thin.js';
import type { SeriesData } from '../series-data.js';
import { type Shade, shaded, shadedText } from './shades.js';

const MOST_STEPS = 400;
/** Lines beyond these would hide each other. */
const MOST_LINES = 20;

/** @param groups the largest first: those have a colour of their own. */
export function reputationChart(
  series: SeriesData,
  groups: readonly string[],
  shades: readonly Shade[],
): Chart | null {
  const curves = groups
    .map((group) => ({ group, all: series.curve('reputation_mean', group) }))
    .filter(({ all }) => all.some(({ value }) => value !== null))
    .slice(0, MOST_LINES);
  const instants = curves[0]?.all.length ?? 0;
  const last = curves[0]?.all.at(-1);
  if (!last) return null;
  const x = timeUnit(last.ms);
  const rows = curves.map(({ all }) =>
    thin(all, MOST_STEPS).map(({ ms, value }) => ({ x: ms / x.ms, y: value ?? Number.NaN })),
  );
  const ends = curves.map(({ group, all }) => `${group} ${shown(all.at(-1)?.value ?? null)}`);
  const left = groups.length - curves.length;
  return {
    title: 'Reputation by group',
    caption:
      `${captions.reputation} At the end: ${ends.join(', ')}.` +
      (left > 0 ? ` ${left} groups that are smaller, or empty, are not drawn.` : '') +
      shadedText(shades) +
      thinned('instants', instants, MOST_STEPS),
    legend: [
      ...curves.slice(0, COLORED).map(({ group }, index) => ({
        color: colorOf(index),
        dash: dashOf(index),
        text: group,
      })),
      ...(curves.length > COLORED ? [{ color: OTHERS, dash: '', text: 'other groups' }] : []),
    ],
    draw: (width, narrow) =>
      shaded(
        {
          height: narrow ? 240 : 300,
          marginLeft: 52,
          marginTop: 28,
          x: { label: `time of the run, ${x.name}`, labelOffset: 42, ticks: narrow ? 5 : 10 },
          y: { label: 'mean overall reputation', nice: true },
          marks: [
            gridY({ stroke: 'var(--line)', strokeOpacity: 1 }),
            // Where two lie on each other, the lower one shows through the dashes.
            ...curves.map((_, index) =>
              lineY(rows[index]!, {
                x: 'x',
                y: 'y',
                stroke: colorOf(index),
                strokeWidth: 2,
                ...(dashOf(index) === '' ? {} : { strokeDasharray: dashOf(index) }),
              }),
            ),
          ],
        },
        shades,
        { unitMs: x.ms, lastMs: last.ms, width },
      ),
  };
}
