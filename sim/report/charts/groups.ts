/** What groups voted and how often they won: bars, a panel for each measure. */
import { axisX, barX, gridX, ruleX, text } from '@observablehq/plot';
import type { Chart } from '../../../report/figure.js';
import { numberOf, type TableRow } from '../../../report/read.js';
import { captions } from '../../../report/shared/captions.js';
import { shown } from '../../../report/shared/numbers.js';
import { shortened } from '../../../report/shared/text.js';

const MOST_GROUPS = 20;
/** Of a name, beside its bars. */
const MOST_LETTERS = 22;

const panels = [
  { column: 'approve_share', label: 'approving votes' },
  { column: 'won_share', label: 'blocks that went its way' },
  { column: 'agreement', label: 'agreement within' },
] as const;

/** @param groups rows of groups.csv, the largest group first. */
export function groupsChart(groups: readonly TableRow[]): Chart | null {
  const drawn = groups.filter(({ votes }) => Number(votes) > 0).slice(0, MOST_GROUPS);
  if (drawn.length === 0) return null;
  const rows = drawn.flatMap((row) =>
    panels.map(({ column, label }) => ({
      group: row.group!,
      label,
      value: numberOf(row[column]),
    })),
  );
  const names = drawn.map(({ group }) => group!);
  const short = (name: string) => shortened(name, MOST_LETTERS);
  const longest = names.reduce((most, name) => Math.max(most, short(name).length), 0);
  const left = groups.length - drawn.length;
  return {
    title: 'Votes by group',
    caption:
      `${captions.groups}${mostAndLeast(drawn)}` +
      (left > 0 ? ` ${left} groups that are smaller, or never voted, are not drawn.` : ''),
    draw: (_, narrow) => {
      const panel = narrow ? 'fy' : 'fx';
      const rowHeight = 24 * drawn.length;
      return {
        height: narrow ? 3 * (rowHeight + 40) + 30 : rowHeight + 72,
        marginLeft: Math.min(170, 20 + 7 * longest),
        marginRight: narrow ? 40 : 34,
        marginTop: narrow ? 26 : 34,
        marginBottom: 28,
        [panel]: {
          label: null,
          domain: panels.map(({ label }) => label),
          axis: null,
          padding: narrow ? 0.28 : 0.18,
        },
        x: { domain: [0, 1], label: null },
        y: { domain: names, label: null, padding: 0.25, tickFormat: short },
        marks: [
          gridX({ stroke: 'var(--line)', strokeOpacity: 1, ticks: 5 }),
          axisX({ ticks: narrow ? 5 : 3, label: null }),
          barX(rows, { x: 'value', y: 'group', [panel]: 'label', fill: 'var(--c1)' }),
          ruleX([0], { stroke: 'var(--faint)' }),
          text(
            rows.filter(({ value }) => value !== null),
            {
              x: 'value',
              y: 'group',
              [panel]: 'label',
              text: ({ value }: { value: number }) => shown(Math.round(value * 100) / 100),
              textAnchor: 'start',
              dx: 5,
              fill: 'currentColor',
            },
          ),
          text(panels, {
            [panel]: 'label',
            text: 'label',
            frameAnchor: 'top-left',
            dy: -18,
            fontWeight: 600,
            fill: 'currentColor',
          }),
        ],
      };
    },
  };
}

/** Who approves most, and who least. */
function mostAndLeast(groups: readonly TableRow[]): string {
  const sorted = groups.toSorted((a, b) => Number(a.approve_share) - Number(b.approve_share));
  const [least, most] = [sorted[0]!, sorted.at(-1)!];
  if (sorted.length < 2) return '';
  const said = ({ group, approve_share }: TableRow) =>
    `${group} (${shown(numberOf(approve_share))})`;
  return ` Most approving: ${said(most)}; least: ${said(least)}.`;
}
