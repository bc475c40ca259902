/** What happened second by second: rates, and times beside the generator's own lag. */
import { gridY, line, type Markish, ruleY } from '@observablehq/plot';
import type { Chart } from '../../../../report/figure.js';
import { shown, tick, time } from '../../../../report/shared/numbers.js';
import { LOGARITHMIC, timeScale } from '../../../../report/shared/time-scale.js';
import { extreme, mean, type Step, wholeSeconds, worst } from '../../figures/seconds.js';
import type { LoadResult, Second } from '../../result.js';

/** More could not be told apart in a picture. */
const MOST_STEPS = 400;

export function throughputChart(result: LoadResult): Chart | null {
  const { asked } = result;
  const seconds = wholeSeconds(result);
  const steps = stepsOf(seconds);
  if (steps.length === 0) return null;
  const open = asked.loop === 'open';
  const curves: Curve[] = [
    ...(open
      ? [{ name: 'by the schedule', color: 'var(--c8)', of: mean('intended'), dash: '5 4' }]
      : []),
    { name: 'accepted', color: 'var(--c1)', of: mean('accepted') },
    { name: 'failed', color: 'var(--c2)', of: mean('failed'), dash: '2 3' },
  ];
  return {
    title: 'Arrivals over time',
    caption:
      `Arrivals a second that were accepted, and that were refused, timed out, broke or got a ` +
      `lie${open ? '; the dashed line is what the schedule intended' : ''}. The least in a ` +
      `second: ${shown(extreme(seconds, 'accepted', Math.min))} accepted.${grouped(steps)}`,
    legend: curves.map(keyOf),
    draw: (_, narrow) => ({
      ...frame(steps, narrow),
      y: { label: 'arrivals a second', tickFormat: tick, domain: [0, top(steps, curves)] },
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
  const curves: Curve[] = [{ name, color: 'var(--c3)', of: mean(name) }];
  return {
    title: 'Finalized transactions over time',
    caption:
      `Transactions a second that were seen in finalized blocks: ${shown(transactions.tps)} on ` +
      `average over the measured time, ${shown(extreme(seconds, name, Math.max))} in the best ` +
      `second.${grouped(steps)}`,
    draw: (_, narrow) => ({
      ...frame(steps, narrow),
      y: { label: 'transactions a second', tickFormat: tick, domain: [0, top(steps, curves)] },
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
  const curves: Curve[] = [
    { name: '99th percentile', color: 'var(--c2)', of: scaled('response_p99') },
    { name: 'median', color: 'var(--c1)', of: scaled('response_p50'), dash: '7 4' },
    { name: 'lag of the generator', color: 'var(--c8)', of: scaled('lag_max'), dash: '2 3' },
  ];
  return {
    title: 'Response times over time',
    caption:
      `Of what was answered in each second; and the longest time by which the generator itself ` +
      `was late. Where its lag is as high as the response times, they are not the server's. The ` +
      `worst second had a 99th percentile of ${time(longest)}.${grouped(steps, 'the longest')}` +
      (wide ? ` ${LOGARITHMIC}` : ''),
    legend: curves.map(keyOf),
    draw: (_, narrow) => ({
      ...frame(steps, narrow),
      y: { label: unit.name, tickFormat: tick, ...axis },
      marks: [...ground(wide ? null : 0, axis.ticks), ...drawn(steps, curves)],
    }),
  };
}

const keyOf = ({ name, color, dash = '' }: Curve) => ({ color, dash, text: name });

interface Curve {
  name: string;
  color: string;
  /** '' or nothing for a whole line. */
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

/** In the middle of its seconds. */
const middle = (step: Step): number => step[0]!.second + step.length / 2;

function top(steps: readonly Step[], curves: readonly Curve[]): number {
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
      tickFormat: tick,
    },
  };
}

/** @param floor null where the axis has no end below. */
const ground = (floor: number | null = 0, ticks?: number | number[]): Markish[] => [
  gridY({ stroke: 'var(--line)', strokeOpacity: 1, ...(ticks === undefined ? {} : { ticks }) }),
  ...(floor === null ? [] : [ruleY([floor], { stroke: 'var(--faint)' })]),
];

/** A gap where nothing was answered; a single second is a dash. */
const drawn = (steps: readonly Step[], curves: readonly Curve[]): Markish[] =>
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
