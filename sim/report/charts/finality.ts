/**
 * Time to finality over a run: a dot for each finalized block, their running median, which stops
 * where nothing became final, and signs above for the blocks that never did.
 */
import { dot, gridY, lineY, type Markish, ruleY, text } from '@observablehq/plot';
import type { Chart, LegendEntry } from '../../../report/figure.js';
import { captions } from '../../../report/shared/captions.js';
import { shown, type TimeUnit, tick, time, timeUnit } from '../../../report/shared/numbers.js';
import { type OutcomeName, outcomes } from '../../../report/shared/outcomes.js';
import { variable } from '../../../report/shared/palette.js';
import { runningMedian, thin, thinned } from '../../../report/shared/thin.js';
import type { Measures } from '../../measure/dictionary.js';
import { type ClosedBlock, type Outage, outagesOf } from './blocks.js';
import { type Shade, shaded, shadedText } from './shades.js';

const WINDOW = 25;
const MOST_DOTS = 1_500;
const MOST_STEPS = 400;
/** Of one line of signs at the top, in parts of the axis. */
const LANE = 0.07;

/** A few blocks that took far longer must not press all others to the floor. */
function ceilingOf(slowestMs: number, p95Ms: number): number {
  return p95Ms > 0 && slowestMs > 3 * p95Ms ? 2 * p95Ms : slowestMs;
}

const others = ['expired', 'rejected', 'orphaned'] as const satisfies OutcomeName[];

/** @param endMs of the run. */
export function finalityChart(
  blocks: readonly ClosedBlock[],
  measures: Measures,
  shades: readonly Shade[],
  endMs: number,
): Chart | null {
  const final = blocks
    .flatMap(({ closedMs, finalityMs }) => (finalityMs === null ? [] : [{ closedMs, finalityMs }]))
    .toSorted((a, b) => a.closedMs - b.closedMs);
  const lanes = others.flatMap((status) => {
    const closings = blocks.filter((one) => one.status === status).map(({ closedMs }) => closedMs);
    return closings.length === 0 ? [] : [{ status, closings, ...outcomes[status] }];
  });
  if (final.length === 0) return null;
  const slowest = final.reduce((most, { finalityMs }) => Math.max(most, finalityMs), 0);
  const last = blocks.reduce((most, { closedMs }) => Math.max(most, closedMs), endMs);
  const ceiling = ceilingOf(slowest, measures.finality_p95_ms ?? slowest);
  const above = final.filter(({ finalityMs }) => finalityMs > ceiling).length;
  const outages = outagesOf(
    final.map(({ closedMs }) => closedMs),
    last,
  );
  const x = timeUnit(last);
  const y = timeUnit(ceiling);
  const points = pointsOf(final, outages, { x, y, ceiling });
  const top = (ceiling / y.ms) * 1.05 || 1;
  const scale = { x, top, lane: top * LANE };
  return {
    title: 'Time to finality',
    caption:
      `${captions.finality} The line is the median of the ${WINDOW} blocks around. Half of all ` +
      `were final within ${time(measures.finality_p50_ms)}, 95 % within ` +
      `${time(measures.finality_p95_ms)}.` +
      (above > 0
        ? ` Triangles at the top: ${shown(above)} that took longer than ${time(ceiling)}, up to ` +
          `${time(slowest)}.`
        : ` The slowest took ${time(slowest)}.`) +
      outageText(outages) +
      (lanes.length > 0 ? ' Signs above the axis: blocks that never became final.' : '') +
      shadedText(shades) +
      thinned('blocks', points.length, MOST_DOTS),
    legend: [
      { color: variable('c1'), sign: 'circle', text: `finalized (${shown(final.length)})` },
      { color: variable('ink'), dash: '', text: 'running median' },
      ...lanes.map(
        ({ status, color, sign, closings }): LegendEntry => ({
          color: variable(color),
          sign,
          text: `${status} (${shown(closings.length)})`,
        }),
      ),
      ...(outages.length > 0 ? [{ color: variable('bad'), text: 'nothing became final' }] : []),
    ],
    draw: (width, narrow) =>
      shaded(
        {
          height: (narrow ? 240 : 320) + 16 * lanes.length,
          marginLeft: 52,
          marginTop: 28,
          x: {
            label: `time of the run, ${x.name}`,
            labelOffset: 42,
            domain: [0, last / x.ms],
            ticks: narrow ? 5 : 10,
          },
          y: {
            label: `time to finality, ${y.name}`,
            domain: [0, top + lanes.length * scale.lane],
            // The lanes are of no time.
            tickFormat: (value: number) => (value > top ? '' : tick(value)),
          },
          marks: [
            ...marksOf(points),
            ...laneMarks(lanes, scale),
            ...outageMarks(outages, scale, ((width - 72) * x.ms) / last),
          ],
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
  /** Between which outages it lies. */
  part: number;
}

/** The median knows nothing of blocks beyond an outage. */
function pointsOf(
  final: readonly { closedMs: number; finalityMs: number }[],
  outages: readonly Outage[],
  { x, y, ceiling }: { x: TimeUnit; y: TimeUnit; ceiling: number },
): Point[] {
  const starts = [...outages.map(({ toMs }) => toMs), Number.POSITIVE_INFINITY];
  return starts.flatMap((start, part) => {
    const since = part === 0 ? Number.NEGATIVE_INFINITY : starts[part - 1]!;
    const blocks = final.filter(({ closedMs }) => closedMs >= since && closedMs < start);
    const medians = runningMedian(
      blocks.map(({ finalityMs }) => finalityMs),
      WINDOW,
    );
    return blocks.map(({ closedMs, finalityMs }, index) => ({
      x: closedMs / x.ms,
      y: Math.min(finalityMs, ceiling) / y.ms,
      median: Math.min(medians[index]!, ceiling) / y.ms,
      above: finalityMs > ceiling,
      part,
    }));
  });
}

function marksOf(points: readonly Point[]): Markish[] {
  const place = { x: 'x', y: 'y', r: points.length > 300 ? 1.8 : 2.8 };
  const drawn = thin(points, MOST_DOTS);
  const inside = drawn.filter(({ above }) => !above);
  const above = drawn.filter((point) => point.above);
  const parts = [...new Set(points.map(({ part }) => part))];
  const steps = parts.flatMap((part) => {
    const within = points.filter((point) => point.part === part);
    return thin(within, Math.max(2, Math.floor((MOST_STEPS * within.length) / points.length)));
  });
  return [
    gridY({ stroke: 'var(--line)', strokeOpacity: 1 }),
    ruleY([0], { stroke: 'var(--faint)' }),
    dot(inside, { ...place, fill: 'var(--c1)', fillOpacity: 0.55 }),
    dot(above, { ...place, symbol: 'triangle', r: 4, fill: 'var(--c1)' }),
    lineY(steps, { x: 'x', y: 'median', z: 'part', stroke: 'var(--ink)', strokeWidth: 1.6 }),
  ];
}

interface Lane {
  closings: readonly number[];
  color: Parameters<typeof variable>[0];
  sign: 'cross' | 'times' | 'diamond';
}

interface Scale {
  x: TimeUnit;
  /** Where the lanes begin, and how high each is. */
  top: number;
  lane: number;
}

/** A line of signs for each way not to become final. */
function laneMarks(lanes: readonly Lane[], { x, top, lane }: Scale): Markish[] {
  if (lanes.length === 0) return [];
  const signs = lanes.map(({ closings, color, sign }, index) => {
    const rows = thin(closings, MOST_DOTS).map((ms) => ({ x: ms / x.ms }));
    const paint = sign === 'times' ? 'stroke' : 'fill';
    const y = top + (index + 0.5) * lane;
    return dot(rows, { x: 'x', y: () => y, symbol: sign, r: 3.6, [paint]: variable(color) });
  });
  return [ruleY([top], { stroke: 'var(--line)', strokeDasharray: '2 3' }), ...signs];
}

/** On the floor, with words where there is room for them. */
function outageMarks(outages: readonly Outage[], { x }: Scale, pixels: number): Markish[] {
  if (outages.length === 0) return [];
  const rows = outages.map(({ fromMs, toMs }) => {
    const [from, to] = [fromMs / x.ms, toMs / x.ms];
    const words = `none final for ${time(toMs - fromMs)}`;
    return { from, to, middle: (from + to) / 2, words: fits(words, to - from, pixels) };
  });
  return [
    ruleY(rows, { x1: 'from', x2: 'to', y: 0, stroke: 'var(--bad)', strokeWidth: 5 }),
    text(rows, {
      x: 'middle',
      y: 0,
      text: 'words',
      dy: -10,
      fill: 'currentColor',
      stroke: 'var(--paper)',
      strokeWidth: 3,
    }),
  ];
}

const LETTER_WIDTH = 6.6;
const fits = (words: string, wide: number, pixels: number): string =>
  wide * pixels > LETTER_WIDTH * words.length ? words : '';

const MOST_TOLD = 4;

function outageText(outages: readonly Outage[]): string {
  if (outages.length === 0) return '';
  const told = outages
    .slice(0, MOST_TOLD)
    .map(({ fromMs, toMs }) => `from ${time(fromMs)} to ${time(toMs)}`);
  const left = outages.length - told.length;
  const more = left > 0 ? `, and ${left} more times` : '';
  return ` None became final ${told.join(', ')}${more}: the median stops there.`;
}
