/** Two results side by side, and what keeps them from being compared. */
import { shown, time } from '../../../report/shared/numbers.js';
import type { LoadResult } from '../result.js';
import { type Figure, figuresOf } from './figures.js';

export interface Comparison {
  /** Whether both runs say something about the server. */
  usable: boolean;
  r: {
    a: number | null;
    b: number | null;
    change: number | null;
    moved: boolean;
    /** Whether changes are of the figures' ratios to R. */
    scaled: boolean;
  };
  /** What differs beside the figures, and what else should be known before they are believed. */
  warnings: string[];
  figures: Compared[];
}

export interface Compared {
  figure: string;
  unit: Figure['unit'];
  a: number | null;
  b: number | null;
  /** 0.1 is ten percent more; of shares the difference. Null where it cannot be said. */
  change: number | null;
}

/** A machine whose speed differs by more than this was not the same machine. */
const MOST_MOVED = 0.1;

/** @param a the base. */
export function compare(a: LoadResult, b: LoadResult): Comparison {
  const moved = machineMoved(a, b);
  return {
    usable: usable(a) && usable(b),
    r: {
      a: a.r,
      b: b.r,
      change: a.r && b.r ? b.r / a.r - 1 : null,
      moved,
      scaled: moved && bothLimited(a, b),
    },
    warnings: [
      ...doubts('A', a),
      ...doubts('B', b),
      ...machines(a, b, moved),
      ...differences(a, b),
    ],
    figures: figuresOf([a, b]).map((figure) => ({
      figure: figure.name,
      unit: figure.unit,
      a: figure.of(a),
      b: figure.of(b),
      change: changeOf(figure, a, b),
    })),
  };
}

/** UNSTABLE figures are uncertain; these are not the server's. */
export const usable = ({ verdict }: LoadResult): boolean =>
  verdict !== 'INVALID' && verdict !== 'CLIENT_BOUND';

/** Whether the machine set the pace: in the closed loop, and at the rate that just holds. */
const bothLimited = (a: LoadResult, b: LoadResult): boolean =>
  [a, b].every(({ asked, saturation }) => asked.loop === 'closed' || saturation !== null);

/** How much more was asked for in the open loop, where rates are what was asked, and not more. */
const moreAsked = (a: LoadResult, b: LoadResult): number =>
  [a, b].every(({ asked, saturation }) => asked.loop === 'open' && saturation === null)
    ? b.asked.rate! / a.asked.rate!
    : 1;

/**
 * What became of a figure from `a` to `b`, of shares the difference. Where the machine set the pace
 * and its speed moved, of its ratio to R: rates by R, and times in verifications. In the open loop
 * rates are compared as shares of what was asked for.
 */
export function changeOf(figure: Figure, a: LoadResult, b: LoadResult): number | null {
  const before = figure.of(a);
  const after = figure.of(b);
  if (before === null || after === null) return null;
  if (figure.unit === 'share') return after - before;
  if (before === 0) return after === 0 ? 0 : null;
  const speed = machineMoved(a, b) && bothLimited(a, b) ? b.r! / a.r! : 1;
  const ratio = after / before;
  return (figure.unit === 'ms' ? ratio * speed : ratio / speed / moreAsked(a, b)) - 1;
}

const machineMoved = ({ r: a }: LoadResult, { r: b }: LoadResult): boolean =>
  Boolean(a && b) && Math.abs(b! / a! - 1) > MOST_MOVED;

export function valueText({ unit }: Pick<Figure, 'unit'>, value: number | null): string {
  if (value === null) return '–';
  if (unit === 'ms') return time(value);
  if (unit === 'per_s')
    return `${shown(value < 100 ? Math.round(value * 10) / 10 : Math.round(value))}/s`;
  const percent = 100 * value;
  const parts = percent < 1 ? 1_000 : 100;
  return `${shown(Math.round(percent * parts) / parts)} %`;
}

export function percentText({ unit }: Pick<Figure, 'unit'>, change: number | null): string {
  if (change === null) return '–';
  const text = (Math.round(change * 1_000) / 10).toFixed(1);
  const signed = change > 0 && text !== '0.0' ? `+${text}` : text.replace(/^-(?=0\.0$)/, '');
  return unit === 'share' ? `${signed} points` : `${signed} %`;
}

/** Of a run that did not end as planned: `was interrupted after 3.1 of 10 s`. */
export function early({ ended, measured_s, asked }: LoadResult): string {
  const measured = shown(Math.round(measured_s * 10) / 10);
  const how = ended === 'failed' ? 'ended by a failure' : ended;
  return `was ${how} after ${measured} of ${asked.duration_s} s`;
}

function doubts(name: string, result: LoadResult): string[] {
  const { verdict, reasons, ended } = result;
  const why = reasons.length > 0 ? `: ${reasons.join('; ')}` : '';
  return [
    ...(verdict === 'VALID' ? [] : [`${name} is ${verdict}${why}`]),
    ...(ended === 'complete' ? [] : [`${name} did not end as planned: it ${early(result)}`]),
  ];
}

function machines(a: LoadResult, b: LoadResult, moved: boolean): string[] {
  if (a.r === null || b.r === null) {
    return ['R is not known of both: whether the machine was as fast cannot be said'];
  }
  if (!moved) return [];
  const r = `R, ${shown(Math.round(a.r))}/s in A and ${shown(Math.round(b.r))}/s in B`;
  const how = bothLimited(a, b)
    ? "changes are of the figures' ratios to R"
    : 'changes are of the figures as they are, since the rate was asked for';
  return [`the machine's speed moved by more than 10 % (${r}): ${how}`];
}

/** What was asked of the two runs, and of which kind of server. */
function differences(a: LoadResult, b: LoadResult): string[] {
  const facts = (result: LoadResult): Record<string, unknown> => ({
    ...result.asked,
    limits_profile: result.server.limits_profile,
    durable: result.server.durable,
    machine: result.machine,
  });
  const of = facts(b);
  return Object.entries(facts(a))
    .filter(([name, value]) => value !== of[name])
    .map(([name, value]) => `${name} differs: ${value ?? 'none'} in A, ${of[name] ?? 'none'} in B`);
}
