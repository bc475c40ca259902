/** Charts of a run's groups: votes, won blocks, agreement and reputation. */
import { axisX, barX, gridX, gridY, lineY, ruleX, text } from '../../report/bundled/plot.js';
import type { Chart } from '../../report/figure.js';
import { parseNumber, type TableRow, tableRows } from '../../report/folder.js';
import {
  describeDownsampling,
  downsample,
  format,
  plural,
  shorten,
  timeUnit,
} from '../../report/shared/format.js';
import { captions } from '../../report/shared/measures.js';
import { COLORED, getColor, getDash, OTHERS } from '../../report/shared/palette.js';
import { describeShades, drawOverTime, type Shade } from './timeline.js';

const MOST_GROUPS = 20;
/** Maximum length of a group name at its bars. */
const MOST_LETTERS = 22;

const panels = [
  { column: 'approve_share', label: 'approving votes' },
  { column: 'won_share', label: 'majority wins' },
  { column: 'agreement', label: 'agreement within group' },
] as const;

/** @param groups rows of groups.csv, largest group first. */
export function groupsChart(groups: readonly TableRow[]): Chart | null {
  const drawn = groups.filter(({ votes }) => Number(votes) > 0).slice(0, MOST_GROUPS);
  if (drawn.length === 0) return null;
  const rows = drawn.flatMap((row) =>
    panels.map(({ column, label }) => ({
      group: row.group!,
      label,
      value: parseNumber(row[column]),
    })),
  );
  const names = drawn.map(({ group }) => group!);
  const short = (name: string) => shorten(name, MOST_LETTERS);
  const longest = names.reduce((most, name) => Math.max(most, short(name).length), 0);
  const votes = drawn.reduce((sum, row) => sum + Number(row.votes), 0);
  const left = groups.length - drawn.length;
  return {
    title: 'Votes by group',
    caption:
      `${captions.groups} n = ${plural(votes, 'vote')}.${mostAndLeast(drawn)}` +
      (left > 0 ? ` Not drawn: ${left} groups that are smaller or did not vote.` : ''),
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
              text: ({ value }: { value: number }) => format(Math.round(value * 100) / 100),
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

function mostAndLeast(groups: readonly TableRow[]): string {
  const sorted = groups.toSorted((a, b) => Number(a.approve_share) - Number(b.approve_share));
  const [least, most] = [sorted[0]!, sorted.at(-1)!];
  if (sorted.length < 2) return '';
  const said = ({ group, approve_share }: TableRow) =>
    `${group} (${format(parseNumber(approve_share))})`;
  return ` Highest approving share: ${said(most)}; lowest: ${said(least)}.`;
}

const MOST_STEPS = 400;
/** Maximum number of lines. More lines would hide each other. */
const MOST_LINES = 20;

/** @param groups groups, largest first. The first groups get distinct colours. */
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
    downsample(all, MOST_STEPS).map(({ ms, value }) => ({ x: ms / x.ms, y: value ?? Number.NaN })),
  );
  const ends = curves.map(({ group, all }) => `${group} ${format(all.at(-1)?.value ?? null)}`);
  const left = groups.length - curves.length;
  return {
    title: 'Mean reputation by group',
    caption:
      `${captions.reputation} n = ${plural(curves.length, 'group')}, ` +
      `${plural(instants, 'instant')}. At the end: ${ends.join(', ')}.` +
      (left > 0 ? ` Not drawn: ${left} groups that are smaller or empty.` : '') +
      describeShades(shades) +
      describeDownsampling('instants', instants, MOST_STEPS),
    legend: [
      ...curves
        .slice(0, COLORED)
        .map(({ group }, index) => ({ color: getColor(index), dash: getDash(index), text: group })),
      ...(curves.length > COLORED ? [{ color: OTHERS, dash: '', text: 'other groups' }] : []),
    ],
    draw: drawOverTime({ unit: x, lastMs: last.ms, shades }, (_, narrow) => ({
      height: narrow ? 240 : 300,
      y: { label: 'mean overall reputation', nice: true },
      marks: [
        gridY({ stroke: 'var(--line)', strokeOpacity: 1 }),
        // Dashes let a covered line show through.
        ...curves.map((_, index) =>
          lineY(rows[index]!, {
            ...{ x: 'x', y: 'y', stroke: getColor(index), strokeWidth: 2 },
            ...(getDash(index) === '' ? {} : { strokeDasharray: getDash(index) }),
          }),
        ),
      ],
    })),
  };
}

interface Instant {
  ms: number;
  value: number | null;
}

/** Curves from series.csv. */
export class SeriesData {
  readonly #curves = new Map<string, Instant[]>();

  static async read(folder: string): Promise<SeriesData> {
    const data = new SeriesData();
    for await (const { t_ms, measure, group, value } of tableRows(folder, 'series.csv')) {
      const key = data.#key(measure!, group!);
      const curve = data.#curves.get(key) ?? [];
      if (curve.length === 0) data.#curves.set(key, curve);
      curve.push({ ms: Number(t_ms), value: parseNumber(value) });
    }
    return data;
  }

  /** Returns a group's curve, or without a group the whole network's curve. */
  curve(measure: string, group = ''): readonly Instant[] {
    return this.#curves.get(this.#key(measure, group)) ?? [];
  }

  #key(measure: string, group: string): string {
    return JSON.stringify([measure, group]);
  }
}
