/** Timeline of a run for charts: shaded periods, closed blocks and outages. */
import { type Markish, type PlotOptions, rect, ruleX, text } from '../../report/bundled/plot.js';
import type { Chart } from '../../report/figure.js';
import { parseNumber, tableRows } from '../../report/folder.js';
import { formatMs, shorten, type TimeUnit } from '../../report/shared/format.js';
import { type OutcomeName, outcomeNames } from '../../report/shared/palette.js';
import type { SimResult } from '../run/result.js';
import { joinedByMs, leftByMs } from '../scenario/population.js';

/** Shaded period, in milliseconds of virtual time. */
export interface Shade {
  kind: 'warm-up' | 'fault' | 'intervention' | 'stay';
  label: string;
  fromMs: number;
  toMs: number;
}

/** Maximum length of the label above a shade. */
const MOST_LETTERS = 40;

type Shaded = Pick<SimResult, 'scenario' | 'virtual_ms' | 'measured_from_ms' | 'interventions'>;

/**
 * Returns shades for the warm-up, the faults, the interventions (which last until the end of the
 * run), and groups' joins and departures. Periods after the end are omitted.
 */
export function computeShades(of: Shaded): Shade[] {
  const { scenario, virtual_ms, measured_from_ms = 0, interventions = [] } = of;
  const { faults, agents } = scenario;
  const warmup: Shade = {
    kind: 'warm-up',
    label: 'warm-up',
    fromMs: 0,
    toMs: measured_from_ms ?? virtual_ms,
  };
  const wrong = faults.map(({ kind, start_ms, length_ms }): Shade => {
    const label = kind.replace('_', ' ');
    return { kind: 'fault', label, fromMs: start_ms, toMs: start_ms + length_ms };
  });
  const changed = interventions.flatMap(({ what, at_ms }): Shade[] =>
    at_ms === null ? [] : [{ kind: 'intervention', label: what, fromMs: at_ms, toMs: virtual_ms }],
  );
  const stays = agents.flatMap((group): Shade[] => {
    const { group: name, join, leave } = group;
    const toMs = leftByMs(group) ?? 0;
    const kind = 'stay' as const;
    return [
      ...(join
        ? [{ kind, label: `${name} joins`, fromMs: join.start_ms, toMs: joinedByMs(group) }]
        : []),
      ...(leave ? [{ kind, label: `${name} leaves`, fromMs: leave.at_ms, toMs }] : []),
    ];
  });
  return [...(warmup.toMs > 0 ? [warmup] : []), ...wrong, ...changed, ...stays]
    .filter(({ fromMs }) => fromMs < virtual_ms)
    .map((shade) => ({
      ...shade,
      label: shorten(shade.label, MOST_LETTERS),
      toMs: Math.min(shade.toMs, virtual_ms),
    }))
    .sort((a, b) => a.fromMs - b.fromMs || a.toMs - b.toMs);
}

/** Describes the shaded areas in one sentence for a caption; empty if there are none. */
export function describeShades(shades: readonly Shade[]): string {
  if (shades.length === 0) return '';
  const named = shades.slice(0, MOST_LANES).map(({ label, fromMs, toMs }) => {
    return `${label} from ${formatMs(fromMs)} to ${formatMs(toMs)}`;
  });
  const left = shades.length - named.length;
  return ` Shaded: ${named.join('; ')}${left > 0 ? `; and ${left} more` : ''}.`;
}

/** Styles. A fault is darker than a warm-up, join or departure. An intervention has an edge. */
const looks: Record<Shade['kind'], { fill: string; opacity: number; edge: boolean }> = {
  'warm-up': { fill: 'var(--c8)', opacity: 0.1, edge: false },
  fault: { fill: 'var(--c8)', opacity: 0.22, edge: false },
  intervention: { fill: 'var(--c4)', opacity: 0.12, edge: true },
  stay: { fill: 'var(--c8)', opacity: 0.1, edge: false },
};

/** Maximum number of label lanes. More lanes would hide the chart. */
const MOST_LANES = 4;
const LANE_HEIGHT = 14;
const LETTER_WIDTH = 6.6;

interface TimeAxis {
  unit: TimeUnit;
  /** Length of the axis in milliseconds. */
  lastMs: number;
  shades: readonly Shade[];
}

/** Returns the drawing of a chart over virtual time, with shades. `rest` gives what is its own. */
export const drawOverTime =
  ({ unit, lastMs, shades }: TimeAxis, rest: Chart['draw']): Chart['draw'] =>
  (width, narrow) => {
    const x = {
      label: `virtual time (${unit.name})`,
      labelOffset: 42,
      domain: [0, lastMs / unit.ms],
      ticks: narrow ? 5 : 10,
    };
    const options = { marginLeft: 52, marginTop: 28, x, ...rest(width, narrow) };
    return addShades(options, shades, { unitMs: unit.ms, lastMs, width });
  };

interface Axis {
  /** Milliseconds per axis unit, and the length of the whole axis in milliseconds. */
  unitMs: number;
  lastMs: number;
  width: number;
}

const MARGIN_RIGHT = 20;

/** Adds the shades behind the marks, and makes room for their labels above the plot. */
function addShades(options: PlotOptions, shades: readonly Shade[], axis: Axis): PlotOptions {
  if (shades.length === 0) return options;
  const { height = 0, marginTop = 0, marginLeft = 0, marks = [] } = options;
  const width = axis.width - marginLeft - MARGIN_RIGHT;
  const { room, marks: behind } = shadeMarks(shades, { ...axis, width });
  const taller = { height: height + room, marginTop: marginTop + room };
  return {
    color: { type: 'identity' },
    opacity: { type: 'identity' },
    ...options,
    ...taller,
    marks: [...behind, ...marks],
  };
}

/** Draws shades with labels above the frame, in as many lanes as needed. */
function shadeMarks(shades: readonly Shade[], axis: Axis): { room: number; marks: Markish[] } {
  const { unitMs, lastMs, width } = axis;
  const areas = shades.map(({ kind, fromMs, toMs }) => ({
    ...looks[kind],
    x1: fromMs / unitMs,
    // A minimum width keeps short periods visible.
    x2: Math.max(toMs, fromMs + (2 * lastMs) / width) / unitMs,
  }));
  const lanes: number[] = [];
  const names = shades.flatMap(({ label, fromMs, toMs }) => {
    const wide = LETTER_WIDTH * label.length;
    const place = (fromMs / lastMs) * width;
    const end = place + wide > width;
    const left = end ? (toMs / lastMs) * width - wide : place;
    const free = lanes.findIndex((taken) => taken < left);
    const lane = free >= 0 ? free : lanes.length;
    if (lane >= MOST_LANES) return [];
    lanes[lane] = left + wide + 4;
    return [{ label, x: (end ? toMs : fromMs) / unitMs, end, dy: -6 - LANE_HEIGHT * lane }];
  });
  const room = LANE_HEIGHT * lanes.length;
  const area = { x1: 'x1', x2: 'x2', fill: 'fill', fillOpacity: 'opacity' };
  const edges = areas.filter(({ edge }) => edge);
  const edge = { stroke: 'fill', strokeDasharray: '4 3' };
  const behind = [rect(areas, area), ruleX(edges, { ...edge, x: 'x1' })];
  const written = names.map(({ label, x, end, dy }) =>
    text([{ label, x }], {
      x: 'x',
      text: 'label',
      frameAnchor: 'top',
      textAnchor: end ? 'end' : 'start',
      lineAnchor: 'bottom',
      dy: dy + 4,
      fill: 'var(--faint)',
      fontSize: 11,
    }),
  );
  return { room, marks: [...behind, ...written] };
}

/** Row of blocks.csv, reduced to the fields that the charts use. */
export interface ClosedBlock {
  height: number;
  hash: string;
  status: OutcomeName;
  closedMs: number;
  /** Null unless the block was finalized. */
  finalityMs: number | null;
}

/** Reads the blocks of a run, without those that were open at its end. */
export async function readClosedBlocks(folder: string): Promise<ClosedBlock[]> {
  const blocks: ClosedBlock[] = [];
  for await (const row of tableRows(folder, 'blocks.csv')) {
    const status = outcomeNames.find((one) => one === row.status);
    const [closedMs, finalityMs] = [parseNumber(row.closed_ms), parseNumber(row.finality_ms)];
    const [height, hash] = [parseNumber(row.height) ?? 0, row.block_hash ?? ''];
    if (status && closedMs !== null) blocks.push({ height, hash, status, closedMs, finalityMs });
  }
  return blocks;
}

/** Returns the closing times of the blocks with a status, ascending. */
export const closingsOf = (blocks: readonly ClosedBlock[], status: OutcomeName): number[] =>
  blocks.flatMap((one) => (one.status === status ? [one.closedMs] : [])).sort((a, b) => a - b);

/** Period without a finalized block that is much longer than this run's usual gap. */
export interface Outage {
  fromMs: number;
  toMs: number;
}

/** Minimum outage: a multiple of the median gap between finalized blocks, and a part of the run. */
const TIMES = 5;
const PART = 0.02;

/** @param closings closing times of finalized blocks, ascending. */
export function findOutages(closings: readonly number[], endMs: number): Outage[] {
  if (closings.length < 3) return [];
  const gaps = closings.slice(1).map((ms, index) => ms - closings[index]!);
  const usual = gaps.toSorted((a, b) => a - b)[gaps.length >> 1]!;
  const least = Math.max(TIMES * usual, PART * endMs);
  const marks = [0, ...closings, endMs];
  return marks.slice(1).flatMap((toMs, index) => {
    const fromMs = marks[index]!;
    return toMs - fromMs > least ? [{ fromMs, toMs }] : [];
  });
}
