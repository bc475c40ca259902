/** Two results side by side, and what keeps them from being compared. */
import { format, getTimeUnit } from '../../report/shared/format.js';
import { type Figure, listFigures } from './figures.js';
import { type LoadResult, usableVerdicts } from './result.js';

export interface Comparison {
  /** Whether both runs say something about the server. */
  usable: boolean;
  r: {
    a: number | null;
    b: number | null;
    change: number | null;
    moved: boolean;
    /** True when `by_r` has the ratios of the figures to R. */
    scaled: boolean;
  };
  /** What differs beside the figures, and what else should be known before they are believed. */
  warnings: string[];
  figures: ComparedFigure[];
}

/** `change` is computed from `a` and `b` beside it, and from nothing else. */
export interface Change {
  a: number | null;
  b: number | null;
  /** 0.1 is ten percent more; of shares the difference. Null where it cannot be said. */
  change: number | null;
}

export interface ComparedFigure extends Change {
  figure: string;
  unit: Figure['unit'];
  /**
   * The figure in units of R: rates as a share of it, times as verifications that one core does
   * meanwhile. Null unless the machine set the pace of both runs and its speed moved.
   */
  by_r: (Change & { unit: 'of_r' | 'verifications' }) | null;
}

/** A unit of a figure, or of its ratio to R. */
export type Unit = Figure['unit'] | NonNullable<ComparedFigure['by_r']>['unit'];

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
      scaled: isScaled(a, b),
    },
    warnings: [
      ...doubts('A', a),
      ...doubts('B', b),
      ...machines(a, b, moved),
      ...differences(a, b),
    ],
    figures: listFigures([a, b]).map((figure) => compareFigure(figure, a, b)),
  };
}

/** UNSTABLE figures are uncertain; these are not the server's. */
export const usable = ({ verdict }: LoadResult): boolean => usableVerdicts.includes(verdict);

/** Whether the machine set the pace: in the closed loop, and at the rate that just holds. */
const bothLimited = (a: LoadResult, b: LoadResult): boolean =>
  [a, b].every(({ asked, saturation }) => asked.loop === 'closed' || saturation !== null);

const machineMoved = ({ r: a }: LoadResult, { r: b }: LoadResult): boolean =>
  Boolean(a && b) && Math.abs(b! / a! - 1) > MOST_MOVED;

const isScaled = (a: LoadResult, b: LoadResult): boolean => machineMoved(a, b) && bothLimited(a, b);

/** A figure of both results, its change, and the same in units of R where that is needed. */
export function compareFigure(figure: Figure, a: LoadResult, b: LoadResult): ComparedFigure {
  const [before, after] = [figure.of(a), figure.of(b)];
  const of = (one: number | null, other: number | null, unit: Unit): Change => ({
    a: one,
    b: other,
    change: computeChange(unit, one, other),
  });
  const plain = { figure: figure.name, unit: figure.unit, ...of(before, after, figure.unit) };
  if (figure.unit === 'share' || !isScaled(a, b)) return { ...plain, by_r: null };
  const unit = figure.unit === 'ms' ? 'verifications' : 'of_r';
  const scaled = (value: number | null, r: number) =>
    value === null ? null : unit === 'verifications' ? (value * r) / 1_000 : value / r;
  return { ...plain, by_r: { unit, ...of(scaled(before, a.r!), scaled(after, b.r!), unit) } };
}

/** From `before` to `after`: of shares the difference, of all else the ratio less one. */
export function computeChange(
  unit: Unit,
  before: number | null,
  after: number | null,
): number | null {
  if (before === null || after === null) return null;
  if (unit === 'share') return after - before;
  if (before === 0) return after === 0 ? 0 : null;
  return after / before - 1;
}

/** A value as a text has it: the text, and the number that a reader takes from it. */
interface Rounded {
  text: string;
  value: number;
}

/**
 * Rounds a value as it is shown.
 * @param more decimals beyond the usual ones.
 */
export function roundedValue(unit: Unit, value: number, more = 0): Rounded {
  const { name, size } = scaleOf(unit, value);
  const amount = value / size;
  const decimals = decimalsOf(unit, Math.abs(amount)) + more;
  const rounded = Number(amount.toFixed(decimals));
  return { text: `${format(rounded, decimals)}${name}`, value: rounded * size };
}

function scaleOf(unit: Unit, value: number): { name: string; size: number } {
  if (unit === 'ms') {
    const { name, ms } = getTimeUnit(value);
    return { name: ` ${name}`, size: ms };
  }
  if (unit === 'share') return { name: ' %', size: 0.01 };
  return { name: { per_s: '/s', of_r: ' R', verifications: ' verifications' }[unit], size: 1 };
}

/** So many that a change of a thousandth shows, and no fewer than the clock of a run has. */
function decimalsOf(unit: Unit, amount: number): number {
  if (unit === 'ms') return amount >= 1 ? 2 : 3;
  if (unit === 'share') return amount >= 1 ? 2 : amount >= 0.1 ? 3 : 4;
  return amount >= 100 ? 0 : amount >= 10 ? 1 : amount >= 1 ? 2 : 4;
}

export const valueText = ({ unit }: { unit: Unit }, value: number | null): string =>
  value === null ? '–' : roundedValue(unit, value).text;

/** The change between two values as they are shown, so that a reader who computes it gets it. */
export function changeText(unit: Unit, a: number | null, b: number | null): string {
  if (a === null || b === null) return '–';
  const [before, after] = [roundedValue(unit, a).value, roundedValue(unit, b).value];
  const change = computeChange(unit, before, after);
  return change === null ? '–' : roundedChange(unit, change).text;
}

/** A change in percent, or in percentage points; `value` is the fraction that the text gives. */
export function roundedChange(unit: Unit, change: number, more = 0): Rounded {
  const percent = 100 * change;
  const size = Math.abs(percent);
  // Points of shares have the decimals of the shares; a small change does not read as none.
  const usual = unit === 'share' ? 4 : size >= 0.05 || size === 0 ? 1 : 4;
  const digits = percent.toFixed(usual + more).replace(/(\.\d+?)0+$/, '$1');
  const value = Number(digits);
  const signed = value > 0 ? `+${digits}` : value === 0 ? '0.0' : digits;
  return { text: `${signed} ${unit === 'share' ? 'points' : '%'}`, value: value / 100 };
}

/** Of a run that did not end as planned: `was interrupted after 3.1 of 10 s`. */
export function early({ ended, measured_s, asked }: LoadResult): string {
  const measured = format(Math.round(measured_s * 10) / 10);
  const how = ended === 'failed' ? 'ended by a failure' : ended;
  return `was ${how} after ${measured} of ${asked.duration_s} s`;
}

function doubts(name: string, result: LoadResult): string[] {
  const { verdict, reasons, ended } = result;
  const why = reasons.length > 0 ? `: ${reasons.join('; ')}` : '';
  return [
    ...(verdict === 'VALID' && why === '' ? [] : [`${name} is ${verdict}${why}`]),
    ...(ended === 'complete' ? [] : [`${name} did not end as planned: it ${early(result)}`]),
  ];
}

function machines(a: LoadResult, b: LoadResult, moved: boolean): string[] {
  if (a.r === null || b.r === null) {
    return ['R is not known of both: whether the machine was as fast cannot be said'];
  }
  if (!moved) return [];
  const r = `R, ${format(Math.round(a.r))}/s in A and ${format(Math.round(b.r))}/s in B`;
  const how = bothLimited(a, b)
    ? "the rows by R have the figures' ratios to R"
    : 'the rate was asked for, so no figure is divided by R';
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
