/** How blocks ended, cumulated over the run: exact, with what the last moment brought. */
import { areaY, gridY, ruleY } from '@observablehq/plot';
import type { Chart } from '../../../report/figure.js';
import { captions } from '../../../report/shared/captions.js';
import { shown, tick, time, timeUnit } from '../../../report/shared/numbers.js';
import { outcomeNames, outcomes } from '../../../report/shared/outcomes.js';
import { variable } from '../../../report/shared/palette.js';
import type { ClosedBlock } from './blocks.js';
import { type Shade, shaded, shadedText } from './shades.js';

/** More instants than these are drawn as so many, evenly spaced. */
const MOST_STEPS = 400;
/** Beyond the end of the run, in parts of it: what its last moment brought has a width there. */
const TAIL = 0.015;

/** @param endMs of the run. */
export function outcomesChart(
  blocks: readonly ClosedBlock[],
  shades: readonly Shade[],
  endMs: number,
): Chart | null {
  if (blocks.length === 0) return null;
  const last = blocks.reduce((most, { closedMs }) => Math.max(most, closedMs), endMs);
  const x = timeUnit(last);
  const curves = outcomeNames.map((name) => {
    const closings = blocks.filter(({ status }) => status === name).map(({ closedMs }) => closedMs);
    return {
      name,
      closings: closings.sort((a, b) => a - b),
      color: variable(outcomes[name].color),
    };
  });
  const drawn = curves.filter(({ closings }) => closings.length > 0);
  const instants = instantsOf(blocks, last);
  const rows = drawn.flatMap(({ name, closings, color }) =>
    countsAt(closings, instants).map(({ ms, count }) => ({ x: ms / x.ms, y: count, name, color })),
  );
  const ended = curves.map(({ name, closings }) => `${shown(closings.length)} ${name}`).join(', ');
  const end = last * (1 + TAIL);
  return {
    title: 'How blocks ended',
    caption:
      `${captions.outcomes} In the end there were ${shown(blocks.length)}: ${ended}; the sliver ` +
      `at the right, beyond the end, shows them.${longestWithout(curves[0]!.closings, last)}` +
      shadedText(shades),
    legend: curves.map(({ name, closings, color }) => ({
      color,
      text: `${name} (${shown(closings.length)})`,
    })),
    draw: (width, narrow) =>
      shaded(
        {
          height: narrow ? 220 : 280,
          marginLeft: 52,
          marginTop: 28,
          x: {
            label: `time of the run, ${x.name}`,
            labelOffset: 42,
            domain: [0, end / x.ms],
            ticks: narrow ? 5 : 10,
          },
          y: { label: 'closed blocks', tickFormat: tick },
          color: { type: 'identity' },
          marks: marksOf(
            rows,
            drawn.map(({ name }) => name),
          ),
        },
        shades,
        { unitMs: x.ms, lastMs: end, width },
      ),
  };
}

interface Row {
  x: number;
  y: number;
  name: string;
  color: string;
}

function marksOf(rows: readonly Row[], order: string[]) {
  const place = { x: 'x', y: 'y', z: 'name', curve: 'step-after', order } as const;
  return [
    gridY({ stroke: 'var(--line)', strokeOpacity: 1 }),
    // Layers are parted by a line too, for who cannot tell their colours apart.
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

/** When something closed, or evenly spaced instants where that is often; then the end, twice. */
function instantsOf(blocks: readonly ClosedBlock[], last: number): number[] {
  const closings = [...new Set(blocks.map(({ closedMs }) => closedMs))].sort((a, b) => a - b);
  const even = Array.from({ length: MOST_STEPS }, (_, index) => (index * last) / MOST_STEPS);
  const within = closings.length > MOST_STEPS ? even : [0, ...closings];
  return [...within, last, last * (1 + TAIL)];
}

/** How many had closed by each instant. */
function countsAt(closings: readonly number[], instants: readonly number[]) {
  let count = 0;
  return instants.map((ms) => {
    while (count < closings.length && closings[count]! <= ms) count += 1;
    return { ms, count };
  });
}

/** The longest time in which none was finalized, also at the beginning and the end. */
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
  return ` None was finalized for ${time(to - from)}, the longest, from ${time(from)} on.`;
}
