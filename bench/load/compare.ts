/** Comparison of two results, with warnings about differences that make them incomparable. */
import { format, type Rounded, roundedValue, type Unit } from '../../report/shared/format.js';
import { type Figure, listFigures, scheduledOperations } from './figures.js';
import { areaBetween, decodeHistogram, type Score, toScore } from './percentiles.js';
import { type LoadResult, usableVerdicts } from './result.js';

export interface Comparison {
  /** True if the figures from both runs describe the server. */
  usable: boolean;
  r: {
    a: number | null;
    b: number | null;
    change: number | null;
    moved: boolean;
    /** True if `by_r` contains the figures relative to R. */
    scaled: boolean;
  };
  /** Differences between the runs, and doubts about their figures. */
  warnings: string[];
  figures: ComparedFigure[];
  /** Sensitivity of each operation to the outages of B; empty if B has no record of outages. */
  sensitivity: { operation: string; ms: number; interval: Score | null }[];
}

/** `change` is computed from `a` and `b` of the same object only. */
export interface Change {
  a: number | null;
  b: number | null;
  /** Relative change (0.1 is ten percent more), or difference of shares; null if undefined. */
  change: number | null;
}

export interface ComparedFigure extends Change {
  figure: string;
  unit: Figure['unit'];
  /** Rates as a fraction of R, times as verifications; null unless R limited both and changed. */
  by_r: (Change & { unit: 'of_r' | 'verifications' }) | null;
}

/** Change in R above which the machines count as different. */
const MOST_MOVED = 0.1;

export function compare(a: LoadResult, b: LoadResult): Comparison {
  const moved = machineMoved(a, b);
  return {
    usable: usable(a) && usable(b),
    r: { a: a.r, b: b.r, change: a.r && b.r ? b.r / a.r - 1 : null, moved, scaled: isScaled(a, b) },
    warnings: [
      ...doubts('A', a),
      ...doubts('B', b),
      ...machines(a, b, moved),
      ...differences(a, b),
    ],
    figures: listFigures([a, b]).map((figure) => compareFigure(figure, a, b)),
    sensitivity: b.outages ? sensitivities(a, b) : [],
  };
}

/** Computes the sensitivity score of Stabl for the response times of each operation. */
const sensitivities = (a: LoadResult, b: LoadResult): Comparison['sensitivity'] =>
  scheduledOperations(a).flatMap(({ operation, response }) => {
    const other = scheduledOperations(b).find((one) => one.operation === operation);
    if (response.histogram === null || !other?.response.histogram) return [];
    const [before, after] = [response.histogram, other.response.histogram].map(decodeHistogram);
    const ms = areaBetween(before!, after!);
    const usual = { seconds: a.seconds, times: before! };
    const sizes = { seconds: b.seconds.length, count: after!.totalCount };
    return [{ operation, ms, interval: toScore(ms, usual, sizes) }];
  });

/** Returns true if the figures describe the server, although those of UNSTABLE are uncertain. */
export const usable = ({ verdict, ended }: LoadResult): boolean =>
  usableVerdicts.includes(verdict) && ended === 'complete';

/** Returns true if the machine limited both runs: closed loops, and searches for a rate. */
const bothLimited = (a: LoadResult, b: LoadResult): boolean =>
  [a, b].every(({ asked, saturation }) => asked.loop === 'closed' || saturation !== null);

const machineMoved = ({ r: a }: LoadResult, { r: b }: LoadResult): boolean =>
  Boolean(a && b) && Math.abs(b! / a! - 1) > MOST_MOVED;

const isScaled = (a: LoadResult, b: LoadResult): boolean => machineMoved(a, b) && bothLimited(a, b);

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

/** Computes the difference for shares, and the ratio minus one for other units. */
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

/** Formats the change between the displayed values, which a reader can compute as well. */
export function changeText(unit: Unit, a: number | null, b: number | null): string {
  if (a === null || b === null) return '–';
  const [before, after] = [roundedValue(unit, a).value, roundedValue(unit, b).value];
  const change = computeChange(unit, before, after);
  return change === null ? '–' : roundedChange(unit, change).text;
}

/** Formats a change in percent, or in percentage points; `value` is the fraction in the text. */
export function roundedChange(unit: Unit, change: number, more = 0): Rounded {
  const percent = 100 * change;
  const size = Math.abs(percent);
  // Percentage points have as many decimals as shares. A small change must not read as zero.
  const usual = unit === 'share' ? 4 : size >= 0.05 || size === 0 ? 1 : 4;
  const digits = percent.toFixed(usual + more).replace(/(\.\d+?)0+$/, '$1');
  const value = Number(digits);
  const signed = value > 0 ? `+${digits}` : value === 0 ? '0.0' : digits;
  return { text: `${signed} ${unit === 'share' ? 'points' : '%'}`, value: value / 100 };
}

/** Describes an early end: `was interrupted after 3.1 of 10 s`. */
export function early({ ended, measured_s, asked, saturation }: LoadResult): string {
  const measured = format(Math.round(measured_s * 10) / 10);
  const how = ended === 'failed' ? 'aborted by a failure' : ended;
  // The figures of a search are those of a whole probe.
  if (saturation) return `was ${how} during the search`;
  return `was ${how} after ${measured} of ${asked.duration_s} s`;
}

function doubts(name: string, result: LoadResult): string[] {
  const { verdict, reasons, ended } = result;
  const why = reasons.length > 0 ? `: ${reasons.join('; ')}` : '';
  return [
    ...(verdict === 'VALID' && why === '' ? [] : [`${name} is ${verdict}${why}`]),
    ...(ended === 'complete' ? [] : [`${name} ended early: ${early(result)}`]),
  ];
}

function machines(a: LoadResult, b: LoadResult, moved: boolean): string[] {
  if (a.r === null || b.r === null) {
    return ['R is unknown for at least one run, so the speeds of the machines cannot be compared'];
  }
  if (!moved) return [];
  const r = `R, ${format(Math.round(a.r))}/s in A and ${format(Math.round(b.r))}/s in B`;
  const how = bothLimited(a, b)
    ? 'rows by R show the figures relative to R'
    : 'figures are not divided by R, since the rate was fixed';
  return [`machine speed changed by more than 10 % (${r}); ${how}`];
}

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
