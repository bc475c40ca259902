/** Time to finality over a run: a dot for each finalized block, and their running median. */
import { dot, gridY, lineY, ruleY } from '@observablehq/plot';
import type { Measures } from '../../measure/dictionary.js';
import type { Chart } from '../figure.js';
import { time, timeUnit } from '../numbers.js';
import { runningMedian, thin, thinned } from '../thin.js';

export interface FinalBlock {
  closedMs: number;
  finalityMs: number;
}

const WINDOW = 25;
const MOST_DOTS = 1_500;
const MOST_STEPS = 400;

/** @param blocks in the order in which they were proposed. */
export function finalityChart(blocks: readonly FinalBlock[], measures: Measures): Chart | null {
  if (blocks.length === 0) return null;
  const slowest = blocks.reduce((most, { finalityMs }) => Math.max(most, finalityMs), 0);
  const last = blocks.reduce((most, { closedMs }) => Math.max(most, closedMs), 0);
  const x = timeUnit(last);
  const y = timeUnit(slowest);
  const medians = runningMedian(
    blocks.map(({ finalityMs }) => finalityMs),
    WINDOW,
  );
  const points = blocks.map(({ closedMs, finalityMs }, index) => ({
    x: closedMs / x.ms,
    y: finalityMs / y.ms,
    median: medians[index]! / y.ms,
  }));
  return {
    title: 'Time to finality',
    caption:
      `Each dot is a finalized block: when it became final, and how long that took after it was ` +
      `proposed. The line is the median of the ${WINDOW} blocks around. Half of all were final ` +
      `within ${time(measures.finality_p50_ms)}, 95 % within ${time(measures.finality_p95_ms)}.` +
      thinned('blocks', points.length, MOST_DOTS),
    draw: (_, narrow) => ({
      height: narrow ? 240 : 320,
      marginLeft: 52,
      marginTop: 28,
      x: {
        label: `time of the run, ${x.name}`,
        labelOffset: 42,
        domain: [0, last / x.ms],
        ticks: narrow ? 5 : 10,
      },
      y: { label: `time to finality, ${y.name}`, domain: [0, (slowest / y.ms) * 1.05 || 1] },
      marks: [
        gridY({ stroke: 'var(--line)', strokeOpacity: 1 }),
        ruleY([0], { stroke: 'var(--faint)' }),
        dot(thin(points, MOST_DOTS), {
          x: 'x',
          y: 'y',
          r: points.length > 300 ? 1.8 : 2.8,
          fill: 'var(--c1)',
          fillOpacity: 0.55,
        }),
        lineY(thin(points, MOST_STEPS), {
          x: 'x',
          y: 'median',
          stroke: 'var(--c2)',
          strokeWidth: 2,
        }),
      ],
    }),
  };
}
