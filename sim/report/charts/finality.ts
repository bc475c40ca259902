/** Time to finality over a run: a dot for each finalized block, and their running median. */
import { dot, gridY, lineY, type Markish, ruleY } from '@observablehq/plot';
import type { Chart } from '../../../report/figure.js';
import { shown, time, timeUnit } from '../../../report/numbers.js';
import { runningMedian, thin, thinned } from '../../../report/thin.js';
import type { Measures } from '../../measure/dictionary.js';
import { type Shade, shaded, shadedText } from './shades.js';

export interface FinalBlock {
  closedMs: number;
  finalityMs: number;
}

const WINDOW = 25;
const MOST_DOTS = 1_500;
const MOST_STEPS = 400;

/** A few blocks that took far longer must not press all others to the floor. */
function ceilingOf(slowestMs: number, p95Ms: number): number {
  return p95Ms > 0 && slowestMs > 3 * p95Ms ? 2 * p95Ms : slowestMs;
}

/** @param blocks in the order in which they were proposed. */
export function finalityChart(
  blocks: readonly FinalBlock[],
  measures: Measures,
  shades: readonly Shade[],
): Chart | null {
  if (blocks.length === 0) return null;
  const slowest = blocks.reduce((most, { finalityMs }) => Math.max(most, finalityMs), 0);
  const ends = [...shades.map(({ toMs }) => toMs), ...blocks.map(({ closedMs }) => closedMs)];
  const last = ends.reduce((most, ms) => Math.max(most, ms), 0);
  const ceiling = ceilingOf(slowest, measures.finality_p95_ms ?? slowest);
  const above = blocks.filter(({ finalityMs }) => finalityMs > ceiling).length;
  const x = timeUnit(last);
  const y = timeUnit(ceiling);
  const medians = runningMedian(
    blocks.map(({ finalityMs }) => finalityMs),
    WINDOW,
  );
  const points = blocks.map(({ closedMs, finalityMs }, index) => ({
    x: closedMs / x.ms,
    y: Math.min(finalityMs, ceiling) / y.ms,
    median: Math.min(medians[index]!, ceiling) / y.ms,
    above: finalityMs > ceiling,
  }));
  return {
    title: 'Time to finality',
    caption:
      `Each dot is a finalized block: when it became final, and how long that took after it was ` +
      `proposed. The line is the median of the ${WINDOW} blocks around. Half of all were final ` +
      `within ${time(measures.finality_p50_ms)}, 95 % within ${time(measures.finality_p95_ms)}.` +
      (above > 0
        ? ` Triangles at the top: ${shown(above)} that took longer than ${time(ceiling)}, up to ` +
          `${time(slowest)}.`
        : ` The slowest took ${time(slowest)}.`) +
      shadedText(shades) +
      thinned('blocks', points.length, MOST_DOTS),
    draw: (width, narrow) =>
      shaded(
        {
          height: narrow ? 240 : 320,
          marginLeft: 52,
          marginTop: 28,
          x: {
            label: `time of the run, ${x.name}`,
            labelOffset: 42,
            domain: [0, last / x.ms],
            ticks: narrow ? 5 : 10,
          },
          y: { label: `time to finality, ${y.name}`, domain: [0, (ceiling / y.ms) * 1.05 || 1] },
          marks: marksOf(points),
        },
        shades,
        { unitMs: x.ms, lastMs: last, width },
      ),
  };
}

interface Point {
  x: number;
  y: number;
  median: number;
  above: boolean;
}

function marksOf(points: readonly Point[]): Markish[] {
  const place = { x: 'x', y: 'y', r: points.length > 300 ? 1.8 : 2.8 };
  const drawn = thin(points, MOST_DOTS);
  const inside = drawn.filter(({ above }) => !above);
  const above = drawn.filter((point) => point.above);
  return [
    gridY({ stroke: 'var(--line)', strokeOpacity: 1 }),
    ruleY([0], { stroke: 'var(--faint)' }),
    dot(inside, { ...place, fill: 'var(--c1)', fillOpacity: 0.55 }),
    dot(above, { ...place, symbol: 'triangle', r: 4, fill: 'var(--c1)' }),
    lineY(thin(points, MOST_STEPS), {
      x: 'x',
      y: 'median',
      stroke: 'var(--c2)',
      strokeWidth: 2,
    }),
  ];
}
