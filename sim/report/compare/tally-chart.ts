/** Blocks that ended otherwise: the tally of A to the left, that of B mirrored to the right. */
import { axisX, barX, gridX, ruleX, text } from '@observablehq/plot';
import type { Chart } from '../../../report/figure.js';
import { type Html, html } from '../../../report/html.js';
import { table } from '../../../report/page.js';
import { shown, tick } from '../../../report/shared/numbers.js';
import { variable } from '../../../report/shared/palette.js';
import type { BlockDifference, BlockOutcome } from '../../compare/index.js';

const MOST_BLOCKS = 40;
const MOST_ROWS = 300;

/** Those that ended otherwise first, by number; then those whose tallies alone differ. */
export function ordered(blocks: readonly BlockDifference[]): BlockDifference[] {
  const turned = ({ a, b }: BlockDifference) => a?.status !== b?.status;
  return [...blocks.filter(turned), ...blocks.filter((one) => !turned(one))];
}

export function tallyChart(blocks: readonly BlockDifference[]): Chart | null {
  const changed = ordered(blocks).filter(({ a, b }) => !sameTally(a, b));
  const drawn = changed.slice(0, MOST_BLOCKS).sort((a, b) => a.number - b.number);
  if (drawn.length === 0) return null;
  const most = drawn
    .flatMap(({ a, b }) => [a, b])
    .reduce((found, one) => Math.max(found, one ? one.approve + one.reject : 0), 1);
  const bars = drawn.flatMap(({ number, a, b }) => [
    ...barsOf(number, a, -1),
    ...barsOf(number, b, 1),
  ]);
  const ends = drawn.flatMap(({ number, a, b }) => [
    { number, x: -most, label: statusOf(a), anchor: 'end' as const },
    { number, x: most, label: statusOf(b), anchor: 'start' as const },
  ]);
  const left = changed.length - drawn.length;
  return {
    title: 'Tallies of changed blocks, mirrored',
    caption:
      `A row for each block whose tally or end is another: A to the left, B to the right; ` +
      `approving weight next to the middle, rejecting weight beyond it, and how the block ended ` +
      `at both sides. Blocks are paired by number.` +
      (left > 0 ? ` ${shown(left)} more are not drawn.` : ''),
    legend: [
      { color: variable('c1'), text: 'approving' },
      { color: variable('c2'), text: 'rejecting' },
    ],
    draw: (_, narrow) => ({
      height: 22 * drawn.length + 84,
      marginLeft: narrow ? 104 : 130,
      marginRight: narrow ? 64 : 90,
      marginTop: 34,
      x: { domain: [-most, most], label: null },
      y: { domain: drawn.map(({ number }) => number), type: 'band', padding: 0.24, axis: null },
      color: { type: 'identity' },
      marks: [
        gridX({ stroke: 'var(--line)', strokeOpacity: 1, ticks: 5 }),
        axisX({ ticks: narrow ? 3 : 7, tickFormat: weight, label: 'weight', labelOffset: 42 }),
        barX(bars, { x1: 'x1', x2: 'x2', y: 'number', fill: 'color' }),
        ruleX([0], { stroke: 'var(--ink)' }),
        ...(['end', 'start'] as const).map((anchor) =>
          text(
            ends.filter((one) => one.anchor === anchor),
            {
              ...{ x: 'x', y: 'number', text: 'label', textAnchor: anchor },
              ...{ dx: anchor === 'end' ? -6 : 6, fill: 'currentColor' },
            },
          ),
        ),
        text(drawn, {
          y: 'number',
          frameAnchor: 'left',
          textAnchor: 'end',
          dx: narrow ? -66 : -84,
          text: ({ number }: BlockDifference) => `${number}`,
          fill: 'var(--faint)',
        }),
        ...(['A', 'B'] as const).map((side) =>
          text([side], {
            x: [side === 'A' ? -most / 2 : most / 2],
            frameAnchor: 'top',
            dy: -16,
            text: [side],
            fontWeight: 600,
            fill: 'currentColor',
          }),
        ),
      ],
    }),
  };
}

const weight = (value: number): string => tick(Math.abs(value));

function barsOf(number: number, one: BlockOutcome | null, sign: 1 | -1) {
  if (!one) return [];
  const { approve, reject } = one;
  return [
    { number, x1: 0, x2: sign * approve, color: variable('c1') },
    { number, x1: sign * approve, x2: sign * (approve + reject), color: variable('c2') },
  ];
}

const sameTally = (a: BlockOutcome | null, b: BlockOutcome | null): boolean =>
  a?.status === b?.status && a?.approve === b?.approve && a?.reject === b?.reject;

const statusOf = (one: BlockOutcome | null): string => one?.status ?? 'not there';

/** Every block that differs, with its figures. */
export function tallyTable(blocks: readonly BlockDifference[]): Html {
  const number = (name: string) => ({ name, kind: 'number' }) as const;
  const side = (name: string) => [
    { name: `in ${name}` },
    number(`for, ${name}`),
    number(`against, ${name}`),
  ];
  const cells = (one: BlockOutcome | null) =>
    one ? [one.status, shown(one.approve), shown(one.reject)] : ['not there', '–', '–'];
  const rows = ordered(blocks)
    .slice(0, MOST_ROWS)
    .map(({ number, a, b }) => [shown(number), ...cells(a), ...cells(b)]);
  const left = blocks.length - rows.length;
  return html`<details>
<summary>The same as a table</summary>
${table(
  'Blocks that differ, those that ended otherwise first; some differ in their hash alone',
  [number('block'), ...side('A'), ...side('B')],
  rows,
)}${left > 0 ? html`<p>${shown(left)} more: folkmoot compare --json has all.</p>` : null}</details>
`;
}
