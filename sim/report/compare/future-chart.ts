/** Two futures of one past: how many blocks had become final in each, over the time of the runs. */
import { dot, gridY, lineY, type Markish, ruleX, ruleY } from '@observablehq/plot';
import type { Chart } from '../../../report/figure.js';
import { type Html, html } from '../../../report/html.js';
import { table } from '../../../report/page.js';
import { shown, tick, time, timeUnit } from '../../../report/shared/numbers.js';
import { variable } from '../../../report/shared/palette.js';
import type { ClosedBlock } from '../charts/blocks.js';
import { type Shade, shaded, shadedText } from '../charts/shades.js';

const MOST_STEPS = 400;
/** Of the table that says the same. */
const ROWS = 12;

const PAST = variable('c8');

export interface Future {
  /** `A` or `B`. */
  side: string;
  blocks: readonly ClosedBlock[];
  endMs: number;
}

export const looks = {
  A: { color: variable('c1'), dash: '' },
  B: { color: variable('c2'), dash: '7 4' },
} as const;

/**
 * @param partedMs null of runs that have no past in common.
 * @param shades faults and interventions of either.
 */
export function futureChart(
  [a, b]: readonly [Future, Future],
  partedMs: number | null,
  shades: readonly Shade[],
): Chart | null {
  const last = Math.max(a.endMs, b.endMs);
  if (a.blocks.length + b.blocks.length === 0 || last <= 0) return null;
  const x = timeUnit(last);
  const [one, other] = [stepsOf(a), stepsOf(b)];
  const past =
    partedMs === null
      ? 'Nothing before is the same in both.'
      : `Up to ${time(partedMs)} both are one run, entry by entry: the thick grey line.`;
  const ends = [one, other].map((steps) => shown(steps.at(-1)!.count));
  const common = partedMs === null ? [] : upTo(one, partedMs);
  return {
    title: 'Blocks finalized over time',
    caption:
      `How many blocks had become final by each time: A as a whole line, B dashed, each up to ` +
      `the sign at its end. ${past} At the end: ${ends[0]} in A, after ${time(a.endMs)}; ` +
      `${ends[1]} in B, after ${time(b.endMs)}.${shadedText(shades)}`,
    legend: [
      ...(partedMs === null ? [] : [{ color: PAST, dash: '', text: 'the same in both' }]),
      { ...looks.A, text: 'A' },
      { ...looks.B, text: 'B' },
    ],
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
          y: { label: 'blocks finalized', tickFormat: tick, nice: true },
          marks: [
            gridY({ stroke: 'var(--line)', strokeOpacity: 1 }),
            ruleY([0], { stroke: 'var(--faint)' }),
            ...(partedMs === null ? [] : pastMarks(common, partedMs, x.ms)),
            ...[one, other].flatMap((steps, index) =>
              futureMarks(from(steps, partedMs ?? 0), x.ms, index === 0 ? 'A' : 'B'),
            ),
          ],
        },
        shades,
        { unitMs: x.ms, lastMs: last, width },
      ),
  };
}

/** What both share, and where they part. */
const pastMarks = (common: readonly Step[], partedMs: number, unitMs: number): Markish[] => [
  ruleX([partedMs / unitMs], { stroke: PAST, strokeDasharray: '4 3' }),
  curve(common, unitMs, { stroke: PAST, strokeWidth: 5 }),
];

function futureMarks(steps: readonly Step[], unitMs: number, side: keyof typeof looks): Markish[] {
  const { color, dash } = looks[side];
  const look = {
    stroke: color,
    strokeWidth: side === 'A' ? 2.6 : 1.8,
    ...(dash === '' ? {} : { strokeDasharray: dash }),
  };
  return [curve(steps, unitMs, look), endOf(steps, unitMs, side)];
}

const curve = (
  steps: readonly Step[],
  unitMs: number,
  look: { stroke: string; strokeWidth: number; strokeDasharray?: string },
): Markish =>
  lineY(steps, { x: ({ ms }: Step) => ms / unitMs, y: 'count', curve: 'step-after', ...look });

const upTo = (steps: readonly Step[], ms: number): Step[] => {
  const before = steps.filter((step) => step.ms <= ms);
  return [...before, { ms, count: before.at(-1)!.count }];
};

const from = (steps: readonly Step[], ms: number): Step[] => [
  ...upTo(steps, ms).slice(-1),
  ...steps.filter((step) => step.ms > ms),
];

/** A run that is over does not stand still: a dot ends its line. */
const endOf = (steps: readonly Step[], unitMs: number, side: keyof typeof looks): Markish =>
  dot(steps.slice(-1), {
    ...{ x: ({ ms }: Step) => ms / unitMs, y: 'count', r: 4.5, fill: looks[side].color },
    ...(side === 'A' ? {} : { symbol: 'square' }),
  });

interface Step {
  ms: number;
  count: number;
}

const finalIn = ({ blocks }: Future): number[] =>
  blocks
    .filter(({ status }) => status === 'finalized')
    .map(({ closedMs }) => closedMs)
    .sort((a, b) => a - b);

/** Each finalization; evenly spaced instants where these are too many. */
function stepsOf(future: Future): Step[] {
  const closings = finalIn(future);
  const all = closings.map((ms, index) => ({ ms, count: index + 1 }));
  const even = instants(future.endMs, MOST_STEPS).map((ms) => ({
    ms,
    count: countAt(closings, ms),
  }));
  const end = { ms: future.endMs, count: closings.length };
  return [{ ms: 0, count: 0 }, ...(closings.length > MOST_STEPS ? even : all), end];
}

const instants = (endMs: number, most: number): number[] =>
  Array.from({ length: most }, (_, index) => ((index + 1) * endMs) / most);

const countAt = (closings: readonly number[], ms: number): number =>
  closings.filter((one) => one <= ms).length;

/** The same as a table, at some instants; nothing after the end of a run. */
export function futureTable([a, b]: readonly [Future, Future]): Html {
  const [one, other] = [finalIn(a), finalIn(b)];
  const rows = instants(Math.max(a.endMs, b.endMs), ROWS).map((ms) => {
    const at = (closings: readonly number[], endMs: number) =>
      ms > endMs + 1 ? '–' : shown(countAt(closings, ms));
    return [time(ms), at(one, a.endMs), at(other, b.endMs)];
  });
  const columns = [
    { name: 'time' },
    { name: 'finalized in A', kind: 'number' },
    { name: 'finalized in B', kind: 'number' },
  ] as const;
  return html`<details>
<summary>The same as a table</summary>
${table('Blocks finalized by each time', columns, rows)}</details>
`;
}
