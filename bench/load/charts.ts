import {
  axisX,
  barX,
  dot,
  gridX,
  gridY,
  line,
  type Markish,
  type PlotOptions,
  ruleX,
  ruleY,
  text,
} from '../../report/bundled/plot.js';
import type { Chart } from '../../report/figure.js';
import {
  format,
  formatMs,
  formatTick,
  LOGARITHMIC,
  timeScale,
} from '../../report/shared/format.js';
import { getColor, getDash } from '../../report/shared/palette.js';
import { extreme, mean, type Step, wholeSeconds, worst } from './figures.js';
import { curve, type Failure, failures } from './histograms.js';
import type { LoadResult, Operation, Percentiles, Second } from './result.js';

interface Bar {
  /** Name of a group. Bars with equal names are stacked. */
  name: string;
  value: number;
  color: string;
}

/** @param labels labels by name, from top to bottom. */
function namedBars(
  bars: readonly Bar[],
  labels: ReadonlyMap<string, string>,
  axis: string,
): PlotOptions {
  const names = [...labels].map(([name, label]) => ({ name, label }));
  return {
    height: 44 * names.length + 56,
    marginLeft: 12,
    marginTop: 10,
    marginRight: 24,
    y: { domain: names.map(({ name }) => name), axis: null, padding: 0 },
    color: { type: 'identity' },
    marks: [
      gridX({ stroke: 'var(--line)', strokeOpacity: 1, ticks: 5 }),
      axisX({ ticks: 5, tickFormat: formatTick, label: axis, labelOffset: 42 }),
      barX(bars, { x: 'value', y: 'name', fill: 'color', insetTop: 24, insetBottom: 4 }),
      ruleX([0], { stroke: 'var(--faint)' }),
      text(names, {
        x: 0,
        y: 'name',
        text: 'label',
        textAnchor: 'start',
        dx: 6,
        dy: -10,
        fill: 'currentColor',
        stroke: 'var(--paper)',
        strokeWidth: 3,
      }),
    ],
  };
}

const MOST_CODES = 20;

/** Returns null if everything was accepted. */
export function errorsChart(operations: readonly Operation[]): Chart | null {
  const all = operations.flatMap((operation, index) =>
    failures(operation).map((failure) => ({
      name: nameOf(failure),
      value: failure.count,
      color: getColor(index),
      operation: operation.operation,
    })),
  );
  if (all.length === 0) return null;
  const totals = new Map<string, number>();
  for (const { name, value } of all) totals.set(name, (totals.get(name) ?? 0) + value);
  const sorted = [...totals].sort(([, a], [, b]) => b - a);
  const labels = new Map(
    sorted.slice(0, MOST_CODES).map(([name, count]) => [name, `${name}: ${format(count)}`]),
  );
  const failing = operations.filter((one) => failures(one).length > 0);
  const left = sorted.length - labels.size;
  const [first] = labels.values();
  return {
    title: 'Errors by cause',
    caption:
      `Requests that were not accepted, by status, code and reason of the refusal, or by how ` +
      `they ended without a valid response. Most frequent: ${first}.` +
      (left > 0 ? ` ${left} rarer causes are in errors.csv.` : ''),
    legend: operations.flatMap((one, index) =>
      failing.includes(one) ? [{ color: getColor(index), text: one.operation }] : [],
    ),
    draw: () =>
      namedBars(
        all.filter(({ name }) => labels.has(name)),
        labels,
        'requests',
      ),
  };
}

const words = {
  lie: 'success without data',
  timed_out: 'timed out',
  broken: 'connection lost',
  unfinished: 'pending at the end',
} as const;

function nameOf({ what, status, code, reason }: Failure): string {
  if (what !== 'refused') return words[what];
  const named = [code, reason].filter((part) => part !== '-').map((part) => part!.slice(0, 40));
  return [status, ...named].join(' ');
}

interface PercentileCurve {
  name: string;
  color: string;
  percentiles: Percentiles;
}

/** Returns null if no curve has a sample. */
export function percentileChart(
  title: string,
  caption: string,
  all: readonly PercentileCurve[],
): Chart | null {
  const curves = all.filter(({ percentiles }) => percentiles.histogram !== null);
  if (curves.length === 0) return null;
  const lines = curves.map(({ percentiles, color }) => ({ color, points: pointsOf(percentiles) }));
  const scale = timeScale(lines.flatMap(({ points }) => points.map(({ ms }) => ms)));
  const rarest = lines.reduce((most, { points }) => Math.max(most, points.at(-1)!.rarity), 10);
  const height = (point: Point) => Math.max(point.ms, scale.least) / scale.unit.ms;
  return {
    title,
    caption: [caption, ...curves.map(sentence), ...(scale.wide ? [LOGARITHMIC] : [])].join(' '),
    ...(curves.length > 1
      ? {
          legend: curves.map(({ name, color }, index) => ({
            color,
            dash: getDash(index),
            text: name,
          })),
        }
      : {}),
    draw: (_, narrow) => ({
      height: narrow ? 240 : 300,
      marginLeft: 56,
      marginTop: 28,
      marginRight: 28,
      x: {
        type: 'log',
        domain: [1, rarest],
        label: 'percentile',
        labelOffset: 42,
        ticks: ticksTo(rarest, narrow),
        tickFormat: percentileOf,
      },
      y: { label: scale.unit.name, tickFormat: formatTick, ...scale.axis },
      marks: [
        gridY({ stroke: 'var(--line)', strokeOpacity: 1, ticks: scale.axis.ticks }),
        ruleX(ticksTo(rarest, narrow).slice(1), { stroke: 'var(--line)' }),
        ...(scale.wide ? [] : [ruleY([0], { stroke: 'var(--faint)' })]),
        ...lines.map(({ color, points }, index) =>
          // The first curve is wider, so that it stays visible under a different curve.
          line(points, {
            x: 'rarity',
            y: height,
            stroke: color,
            strokeWidth: lines.length > 1 && index === 0 ? 3.6 : 1.8,
            ...(getDash(index) === '' ? {} : { strokeDasharray: getDash(index) }),
          }),
        ),
      ],
    }),
  };
}

interface Point {
  /** One in `rarity` samples is slower than the value. */
  rarity: number;
  ms: number;
}

const pointsOf = (percentiles: Percentiles): Point[] =>
  curve(percentiles).map(({ percentile, ms }) => ({ rarity: 100 / (100 - percentile), ms }));

function sentence({ name, percentiles: { p50, p99, max } }: PercentileCurve): string {
  const title = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  return `${title}: median ${formatMs(p50)}, p99 ${formatMs(p99)}, max ${formatMs(max)}.`;
}

/** Returns 0 %, 50 %, 90 %, 99 % and so on, as rarities. */
function ticksTo(rarest: number, narrow: boolean): number[] {
  const decades = Math.floor(Math.log10(rarest) + 1e-9);
  const tens = Array.from({ length: decades }, (_, index) => 10 ** (index + 1));
  const room = narrow && decades > 4 ? tens.filter((_, index) => index % 2 === 1) : tens;
  return narrow ? [1, ...room] : [1, 2, ...room];
}

function percentileOf(rarity: number): string {
  const digits = Math.max(0, Math.round(Math.log10(rarity)) - 2);
  return `${(100 - 100 / rarity).toFixed(rarity < 10 ? 0 : digits)} %`;
}

type Saturation = NonNullable<LoadResult['saturation']>;

export function saturationChart({ brackets, slo }: Saturation): Chart | null {
  const probes = brackets.flatMap((bracket, index) =>
    bracket.probes.map((probe) => ({ ...probe, color: getColor(index) })),
  );
  if (probes.length === 0) return null;
  const most = probes.reduce((rate, probe) => Math.max(rate, probe.rate), 0);
  const held = brackets.map(({ holds }) => holds);
  const range = `${format(Math.min(...held))} to ${format(Math.max(...held))}/s`;
  return {
    title: 'Saturation search',
    caption:
      `Each mark is a run at a fixed rate: filled if the rate held, open if not ` +
      `(${['99 % of the rate', ...slo].join(', ')}). On the dashed line all arrivals were ` +
      `accepted. Highest rates that held: ${range}.`,
    legend: brackets.map((_, index) => ({ color: getColor(index), text: `bracket ${index + 1}` })),
    draw: (_, narrow) => ({
      height: narrow ? 240 : 320,
      marginLeft: 56,
      marginTop: 28,
      x: {
        label: 'target rate, arrivals/s',
        labelOffset: 42,
        domain: [0, most * 1.04],
        ticks: narrow ? 5 : 10,
        tickFormat: formatTick,
      },
      y: { label: 'accepted, arrivals/s', domain: [0, most * 1.04], tickFormat: formatTick },
      color: { type: 'identity' },
      marks: [
        gridY({ stroke: 'var(--line)', strokeOpacity: 1 }),
        ruleY([0], { stroke: 'var(--faint)' }),
        line(
          [0, most].map((rate) => ({ rate })),
          { x: 'rate', y: 'rate', stroke: 'var(--faint)', strokeDasharray: '5 4' },
        ),
        dot(
          probes.filter(({ holds }) => holds),
          { x: 'rate', y: 'accepted_per_s', fill: 'color', r: 4.5 },
        ),
        dot(
          probes.filter(({ holds }) => !holds),
          { x: 'rate', y: 'accepted_per_s', stroke: 'color', strokeWidth: 2, r: 4.5 },
        ),
      ],
    }),
  };
}

export function tiersChart(tiers: LoadResult['tiers'], r: number | null): Chart | null {
  if (tiers.length === 0) return null;
  const labels = new Map(
    tiers.map(({ name, per_s, of_r }) => {
      const ratio = format(Math.round(of_r * 100) / 100);
      return [name, `${name}: ${format(Math.round(per_s))}/s, ${ratio} R`];
    }),
  );
  const bars = tiers.map(({ name, per_s }) => ({ name, value: per_s, color: 'var(--c1)' }));
  return {
    title: 'Throughput by tier',
    caption:
      `The same workload through an increasing part of the server, measured with this run: ` +
      `the loss at a tier is its cost. R is the verification rate of libsodium alone on one core` +
      `${r === null ? '' : `, ${format(Math.round(r))}/s`}. ${[...labels.values()].join('; ')}.`,
    draw: () => namedBars(bars, labels, 'per second'),
  };
}

/** Maximum number of points. More points would be indistinguishable on a screen. */
const MOST_STEPS = 400;

export function throughputChart(result: LoadResult): Chart | null {
  const { asked } = result;
  const seconds = wholeSeconds(result);
  const steps = stepsOf(seconds);
  if (steps.length === 0) return null;
  const open = asked.loop === 'open';
  const curves: SecondsCurve[] = [
    ...(open ? [{ name: 'scheduled', color: 'var(--c8)', of: mean('intended'), dash: '5 4' }] : []),
    { name: 'accepted', color: 'var(--c1)', of: mean('accepted') },
    { name: 'failed', color: 'var(--c2)', of: mean('failed'), dash: '2 3' },
  ];
  return {
    title: 'Arrivals over time',
    caption:
      `Arrivals/s that were accepted, and that failed: refused, timed out, connection lost or ` +
      `invalid response${open ? '; the dashed line is the schedule' : ''}. Lowest second: ` +
      `${format(extreme(seconds, 'accepted', Math.min))} accepted.${grouped(steps)}`,
    legend: curves.map(keyOf),
    draw: (_, narrow) => ({
      ...frame(steps, narrow),
      y: { label: 'arrivals/s', tickFormat: formatTick, domain: [0, top(steps, curves)] },
      marks: [...ground(), ...drawn(steps, curves)],
    }),
  };
}

export function finalizedChart(result: LoadResult): Chart | null {
  const { transactions } = result;
  const seconds = wholeSeconds(result);
  const steps = stepsOf(seconds);
  if (steps.length === 0 || transactions.proposed === 0) return null;
  const name = 'finalized_transactions';
  const curves: SecondsCurve[] = [{ name, color: 'var(--c3)', of: mean(name) }];
  return {
    title: 'Finalized transactions over time',
    caption:
      `Transactions/s in finalized blocks: ${format(transactions.tps)} on average over the ` +
      `measured time, ${format(extreme(seconds, name, Math.max))} in the best ` +
      `second.${grouped(steps)}`,
    draw: (_, narrow) => ({
      ...frame(steps, narrow),
      y: {
        label: 'transactions/s',
        tickFormat: formatTick,
        domain: [0, top(steps, curves)],
      },
      marks: [...ground(), ...drawn(steps, curves)],
    }),
  };
}

export function timesChart(result: LoadResult): Chart | null {
  const seconds = wholeSeconds(result);
  const steps = stepsOf(seconds);
  const longest = extreme(seconds, 'response_p99', Math.max);
  if (steps.length === 0 || longest === null) return null;
  const names = ['response_p99', 'response_p50', 'lag_max'] as const;
  const times = steps.flatMap((step) => names.map((name) => worst(step, name) ?? 0));
  const { wide, unit, least, axis } = timeScale(times);
  const scaled = (name: (typeof names)[number]) => (step: Step) => {
    const ms = worst(step, name);
    return ms === null ? null : Math.max(ms, least) / unit.ms;
  };
  const curves: SecondsCurve[] = [
    { name: '99th percentile', color: 'var(--c2)', of: scaled('response_p99') },
    { name: 'median', color: 'var(--c1)', of: scaled('response_p50'), dash: '7 4' },
    { name: 'generator lag', color: 'var(--c8)', of: scaled('lag_max'), dash: '2 3' },
  ];
  return {
    title: 'Response times over time',
    caption:
      `Response times of the requests answered in each second, and the longest generator lag. ` +
      `Where the lag is as high as the response times, these do not describe the server. Worst ` +
      `second: p99 ${formatMs(longest)}.${grouped(steps, 'the maximum')}` +
      (wide ? ` ${LOGARITHMIC}` : ''),
    legend: curves.map(keyOf),
    draw: (_, narrow) => ({
      ...frame(steps, narrow),
      y: { label: unit.name, tickFormat: formatTick, ...axis },
      marks: [...ground(wide ? null : 0, axis.ticks), ...drawn(steps, curves)],
    }),
  };
}

const keyOf = ({ name, color, dash = '' }: SecondsCurve) => ({ color, dash, text: name });

interface SecondsCurve {
  name: string;
  color: string;
  dash?: string;
  of(step: Step): number | null;
}

function stepsOf(seconds: readonly Second[]): Step[] {
  const size = Math.ceil(seconds.length / MOST_STEPS);
  const count = Math.ceil(seconds.length / (size || 1));
  return Array.from({ length: count }, (_, index) =>
    seconds.slice(index * size, (index + 1) * size),
  );
}

const grouped = (steps: readonly Step[], what = 'the mean'): string =>
  steps[0]!.length > 1 ? ` Each point is ${what} of ${steps[0]!.length} seconds.` : '';

const middle = (step: Step): number => step[0]!.second + step.length / 2;

function top(steps: readonly Step[], curves: readonly SecondsCurve[]): number {
  const values = steps.flatMap((step) => curves.map(({ of }) => of(step) ?? 0));
  return values.reduce((a, b) => Math.max(a, b), 0) * 1.06 || 1;
}

function frame(steps: readonly Step[], narrow: boolean) {
  const last = steps.at(-1)!.at(-1)!.second + 1;
  const label = 'measured time, s';
  return {
    height: narrow ? 220 : 260,
    marginLeft: 56,
    marginTop: 28,
    x: {
      label,
      labelOffset: 42,
      domain: [0, last],
      ticks: Math.min(last, narrow ? 5 : 10),
      tickFormat: formatTick,
    },
  };
}

/** @param floor null if the axis has no lower end. */
const ground = (floor: number | null = 0, ticks?: number | number[]): Markish[] => [
  gridY({ stroke: 'var(--line)', strokeOpacity: 1, ...(ticks === undefined ? {} : { ticks }) }),
  ...(floor === null ? [] : [ruleY([floor], { stroke: 'var(--faint)' })]),
];

/** Leaves a gap where there were no responses. A single step is drawn as a dash. */
const drawn = (steps: readonly Step[], curves: readonly SecondsCurve[]): Markish[] =>
  curves.map(({ color, of, dash = '' }) =>
    line(
      steps.flatMap((step) => {
        const y = of(step);
        const ends = steps.length === 1 ? [0, 1] : [middle(step)];
        return ends.map((x) => ({ x, y }));
      }),
      {
        x: 'x',
        y: 'y',
        stroke: color,
        strokeWidth: dash === '' ? 2 : 1.6,
        ...(dash === '' ? {} : { strokeDasharray: dash }),
      },
    ),
  );
