/** Charts of a run's blocks: time to finality, outcomes, and vote latency. */
import {
  areaY,
  dot,
  gridY,
  lineY,
  type Markish,
  rectY,
  ruleY,
  text,
} from '../../report/bundled/plot.js';
import type { Chart, LegendEntry } from '../../report/figure.js';
import type { TableRow } from '../../report/folder.js';
import {
  describeDownsampling,
  downsample,
  format,
  formatMs,
  formatTick,
  plural,
  runningMedian,
  type TimeUnit,
  timeUnit,
} from '../../report/shared/format.js';
import { captions } from '../../report/shared/measures.js';
import {
  type OutcomeName,
  outcomeNames,
  outcomes,
  decisions as shownDecisions,
  variable,
} from '../../report/shared/palette.js';
import type { Measures } from '../measure/dictionary.js';
import {
  type ClosedBlock,
  closingsOf,
  describeShades,
  drawOverTime,
  findOutages,
  type Outage,
  type Shade,
} from './timeline.js';

const WINDOW = 25;
const MOST_DOTS = 1_500;
const MOST_STEPS = 400;
/** Height of a symbol lane above the axis, as a fraction of the axis. */
const LANE = 0.07;

/** Limits the axis, so that a few slow blocks do not flatten all other points. */
function ceilingOf(slowestMs: number, p95Ms: number): number {
  return p95Ms > 0 && slowestMs > 3 * p95Ms ? 2 * p95Ms : slowestMs;
}

const others = ['expired', 'rejected', 'orphaned'] as const satisfies OutcomeName[];

/** @param endMs end of the run. */
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
    const closings = closingsOf(blocks, status);
    return closings.length === 0 ? [] : [{ status, closings, ...outcomes[status] }];
  });
  if (final.length === 0) return null;
  const slowest = final.reduce((most, { finalityMs }) => Math.max(most, finalityMs), 0);
  const last = blocks.reduce((most, { closedMs }) => Math.max(most, closedMs), endMs);
  const ceiling = ceilingOf(slowest, measures.finality_p95_ms ?? slowest);
  const above = final.filter(({ finalityMs }) => finalityMs > ceiling).length;
  const outages = findOutages(
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
      `${captions.finality} Units: ${y.name} (vertical), ${x.name} (horizontal). ` +
      `The line is the running median of ${WINDOW} blocks. ` +
      `n = ${format(final.length)}; median ${formatMs(measures.finality_p50_ms)}, ` +
      `95th percentile ${formatMs(measures.finality_p95_ms)}.` +
      (above > 0
        ? ` Triangles at the top: ${plural(above, 'block')} above ${formatMs(ceiling)}, ` +
          `up to ${formatMs(slowest)}.`
        : ` Maximum: ${formatMs(slowest)}.`) +
      outageText(outages) +
      (lanes.length > 0
        ? ' Symbols above the plot mark the closing times of blocks that were not finalized.'
        : '') +
      describeShades(shades) +
      describeDownsampling('blocks', points.length, MOST_DOTS),
    legend: [
      { color: variable('c1'), sign: 'circle', text: `finalized (${format(final.length)})` },
      { color: variable('ink'), dash: '', text: 'running median' },
      ...lanes.map(
        ({ status, color, sign, closings }): LegendEntry => ({
          color: variable(color),
          sign,
          text: `${status} (${format(closings.length)})`,
        }),
      ),
      ...(outages.length > 0 ? [{ color: variable('bad'), text: 'no finalization' }] : []),
    ],
    draw: drawOverTime({ unit: x, lastMs: last, shades }, (width, narrow) => ({
      height: (narrow ? 240 : 320) + 16 * lanes.length,
      y: {
        label: `time to finality (${y.name})`,
        domain: [0, top + lanes.length * scale.lane],
        // No time labels in the lanes.
        tickFormat: (value: number) => (value > top ? '' : formatTick(value)),
      },
      marks: [
        ...finalityMarks(points),
        ...laneMarks(lanes, scale),
        ...outageMarks(outages, scale, ((width - 72) * x.ms) / last),
      ],
    })),
  };
}

interface Point {
  x: number;
  y: number;
  median: number;
  above: boolean;
  /** Number of outages before the block. */
  part: number;
}

/** Computes the points. The median restarts after each outage. */
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

function finalityMarks(points: readonly Point[]): Markish[] {
  const place = { x: 'x', y: 'y', r: points.length > 300 ? 1.8 : 2.8 };
  const drawn = downsample(points, MOST_DOTS);
  const inside = drawn.filter(({ above }) => !above);
  const above = drawn.filter((point) => point.above);
  const parts = [...new Set(points.map(({ part }) => part))];
  const steps = parts.flatMap((part) => {
    const within = points.filter((point) => point.part === part);
    return downsample(
      within,
      Math.max(2, Math.floor((MOST_STEPS * within.length) / points.length)),
    );
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
  /** Lower end of the lanes, and the height of one lane, in axis units. */
  top: number;
  lane: number;
}

/** Draws one lane of symbols per outcome other than finalized. */
function laneMarks(lanes: readonly Lane[], { x, top, lane }: Scale): Markish[] {
  if (lanes.length === 0) return [];
  const signs = lanes.map(({ closings, color, sign }, index) => {
    const rows = downsample(closings, MOST_DOTS).map((ms) => ({ x: ms / x.ms }));
    const paint = sign === 'times' ? 'stroke' : 'fill';
    const y = top + (index + 0.5) * lane;
    return dot(rows, { x: 'x', y: () => y, symbol: sign, r: 3.6, [paint]: variable(color) });
  });
  return [ruleY([top], { stroke: 'var(--line)', strokeDasharray: '2 3' }), ...signs];
}

/** Draws outages at the bottom, each with a label if the label fits. */
function outageMarks(outages: readonly Outage[], { x }: Scale, pixels: number): Markish[] {
  if (outages.length === 0) return [];
  const rows = outages.map(({ fromMs, toMs }) => {
    const [from, to] = [fromMs / x.ms, toMs / x.ms];
    const words = `no finalization for ${formatMs(toMs - fromMs)}`;
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
    .map(({ fromMs, toMs }) => `from ${formatMs(fromMs)} to ${formatMs(toMs)}`);
  const left = outages.length - told.length;
  const more = left > 0 ? `, and ${left} more periods` : '';
  return ` No block was finalized ${told.join(', ')}${more}; the median line is interrupted there.`;
}

/**
 * Width of the strip after the end of the run, as a fraction of the run. The strip makes blocks
 * that closed at the last instant visible.
 */
const TAIL = 0.015;

/** @param endMs end of the run. */
export function outcomesChart(
  blocks: readonly ClosedBlock[],
  shades: readonly Shade[],
  endMs: number,
): Chart | null {
  if (blocks.length === 0) return null;
  const last = blocks.reduce((most, { closedMs }) => Math.max(most, closedMs), endMs);
  const x = timeUnit(last);
  const curves = outcomeNames.map((name) => {
    return { name, closings: closingsOf(blocks, name), color: variable(outcomes[name].color) };
  });
  const drawn = curves.filter(({ closings }) => closings.length > 0);
  const instants = instantsOf(blocks, last);
  const rows = drawn.flatMap(({ name, closings, color }) =>
    countsAt(closings, instants).map(({ ms, count }) => ({ x: ms / x.ms, y: count, name, color })),
  );
  const ended = curves.map(({ name, closings }) => `${format(closings.length)} ${name}`).join(', ');
  const end = last * (1 + TAIL);
  return {
    title: 'Block outcomes',
    caption:
      `${captions.outcomes} n = ${format(blocks.length)}: ${ended}. The strip after the end ` +
      `shows the totals.${longestWithout(curves[0]!.closings, last)}` +
      describeShades(shades),
    legend: curves.map(({ name, closings, color }) => ({
      color,
      text: `${name} (${format(closings.length)})`,
    })),
    draw: drawOverTime({ unit: x, lastMs: end, shades }, (_, narrow) => ({
      height: narrow ? 220 : 280,
      y: { label: 'closed blocks', tickFormat: formatTick },
      color: { type: 'identity' },
      marks: outcomeMarks(
        rows,
        drawn.map(({ name }) => name),
      ),
    })),
  };
}

interface Row {
  x: number;
  y: number;
  name: string;
  color: string;
}

function outcomeMarks(rows: readonly Row[], order: string[]) {
  const place = { x: 'x', y: 'y', z: 'name', curve: 'step-after', order } as const;
  return [
    gridY({ stroke: 'var(--line)', strokeOpacity: 1 }),
    // A line separates the layers for readers who cannot tell the colours apart.
    areaY(rows, {
      ...place,
      fill: 'color',
      fillOpacity: 0.85,
      stroke: 'var(--paper)',
      strokeWidth: 0.6,
    }),
    ruleY([0], { stroke: 'var(--faint)' }),
  ];
}

/**
 * Returns closing times, or evenly spaced instants if there are too many closings, followed by the
 * end of the run and the end of the strip.
 */
function instantsOf(blocks: readonly ClosedBlock[], last: number): number[] {
  const closings = [...new Set(blocks.map(({ closedMs }) => closedMs))].sort((a, b) => a - b);
  const even = Array.from({ length: MOST_STEPS }, (_, index) => (index * last) / MOST_STEPS);
  const within = closings.length > MOST_STEPS ? even : [0, ...closings];
  return [...within, last, last * (1 + TAIL)];
}

function countsAt(closings: readonly number[], instants: readonly number[]) {
  let count = 0;
  return instants.map((ms) => {
    while (count < closings.length && closings[count]! <= ms) count += 1;
    return { ms, count };
  });
}

/** Describes the longest period without a finalized block. The run's start and end are limits. */
function longestWithout(closings: readonly number[], last: number): string {
  const marks = [0, ...closings, last];
  const longest = marks.slice(1).reduce(
    (found, to, index) => {
      const from = marks[index]!;
      return to - from > found.to - found.from ? { from, to } : found;
    },
    { from: 0, to: 0 },
  );
  if (longest.to === 0) return '';
  const { from, to } = longest;
  return ` Longest period without finalization: ${formatMs(to - from)}, from ${formatMs(from)}.`;
}

const FINE = 2_000;
const BARS = 60;
/** Fraction of votes that the chart must show. */
const MOST_VOTES = 0.995;

const decisions = (['approve', 'reject'] as const).map((name) => ({
  name,
  color: variable(shownDecisions[name].color),
}));

/** Histogram of vote latency with fine bins. Memory is constant, even for millions of rows. */
export class Latencies {
  readonly #fineMs: number;
  readonly #counts: Record<string, Float64Array>;
  #votes = 0;
  #longestMs = 0;

  /** @param periodMs longest time from a proposal to a counted vote. */
  constructor(periodMs: number) {
    this.#fineMs = Math.max(1, Math.ceil((periodMs + 1) / FINE));
    const size = Math.floor(periodMs / this.#fineMs) + 1;
    this.#counts = Object.fromEntries(decisions.map(({ name }) => [name, new Float64Array(size)]));
  }

  add({ after_ms, decision }: TableRow): void {
    const after = Number(after_ms);
    const counts = this.#counts[decision!];
    const bin = Math.floor(after / this.#fineMs);
    if (!counts || !(bin < counts.length)) return;
    counts[bin]! += 1;
    this.#votes += 1;
    this.#longestMs = Math.max(this.#longestMs, after);
  }

  chart(): Chart | null {
    if (this.#votes === 0) return null;
    const wanted = this.#binsToShow();
    const perBar = Math.ceil(wanted / BARS);
    const bars = Array.from({ length: Math.ceil(wanted / perBar) }, (_, index) => index);
    const bins = perBar * bars.length;
    const later = this.#votes - this.#total(bins);
    const x = timeUnit(bins * this.#fineMs);
    const widthMs = perBar * this.#fineMs;
    const rows = decisions.flatMap(({ name, color }) =>
      bars.map((bar) => ({
        x1: (bar * widthMs) / x.ms,
        x2: ((bar + 1) * widthMs) / x.ms,
        votes: this.#sum(name, bar * perBar, perBar),
        name,
        color,
      })),
    );
    return {
      title: 'Vote latency',
      caption:
        `Counted votes by the time from the proposal of the block to the arrival of the vote, in ` +
        `bins of ${formatMs(widthMs)}. n = ${format(this.#votes)} votes; median ` +
        `${formatMs(this.#medianMs())}, maximum ` +
        `${formatMs(this.#longestMs)}.` +
        (later > 0 ? ` Not drawn: ${format(later)} later votes.` : ''),
      legend: decisions.map(({ name, color }) => ({
        color,
        text: `${name} (${format(this.#sum(name, 0, FINE + 1))})`,
      })),
      draw: (_, narrow) => ({
        height: narrow ? 220 : 260,
        marginLeft: 56,
        marginTop: 28,
        x: {
          label: `time since the proposal (${x.name})`,
          labelOffset: 42,
          ticks: narrow ? 5 : 10,
        },
        y: { label: 'votes', tickFormat: formatTick },
        color: { type: 'identity' },
        marks: [
          gridY({ stroke: 'var(--line)', strokeOpacity: 1 }),
          rectY(rows, { x1: 'x1', x2: 'x2', y: 'votes', fill: 'color', inset: 0.5 }),
          ruleY([0], { stroke: 'var(--faint)' }),
        ],
      }),
    };
  }

  /** Returns the number of bins to draw: all, unless a few late votes would compress the rest. */
  #binsToShow(): number {
    const all = Math.floor(this.#longestMs / this.#fineMs) + 1;
    let most = 1;
    while (this.#total(most) < MOST_VOTES * this.#votes) most += 1;
    return all > 2 * most ? Math.min(all, Math.ceil(1.2 * most)) : all;
  }

  /** Median, rounded up to a fine bin. */
  #medianMs(): number {
    let bins = 1;
    while (2 * this.#total(bins) < this.#votes) bins += 1;
    return bins * this.#fineMs;
  }

  #total(bins: number): number {
    return decisions.reduce((sum, { name }) => sum + this.#sum(name, 0, bins), 0);
  }

  #sum(decision: string, from: number, count: number): number {
    return this.#counts[decision]!.subarray(from, from + count).reduce((sum, n) => sum + n, 0);
  }
}
