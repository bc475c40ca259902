/** Time axis: linear from 0, or logarithmic if the times span a wide range. */
import { type TimeUnit, timeUnit } from './format.js';

/** Ratio of the longest to the shortest time above which the axis is logarithmic. */
const WIDE_RANGE = 60;
/** Ratio of a logarithmic axis's ends. Shorter times are drawn at the lower end. */
const WIDEST = 1_000;

export interface TimeScale {
  wide: boolean;
  unit: TimeUnit;
  /** Time at the lower end, in milliseconds. */
  least: number;
  axis: { type?: 'log'; domain: [number, number]; ticks: number | number[] };
}

export function timeScale(times: readonly number[]): TimeScale {
  const most = times.reduce((a, b) => Math.max(a, b));
  const positive = times.filter((ms) => ms > 0).reduce((a, b) => Math.min(a, b), most);
  const shortest = Math.max(positive, most / WIDEST);
  const wide = most / shortest > WIDE_RANGE;
  const unit = timeUnit(wide ? shortest * 3 : most);
  const top = (most / unit.ms) * 1.04 || 1;
  if (!wide) return { wide, unit, least: 0, axis: { domain: [0, top], ticks: 6 } };
  // The lower end gets a tick even below 1, because an axis without its lowest value cannot be
  // read.
  const floor = stepsTo(shortest / unit.ms).at(-1)!;
  const domain: [number, number] = [floor, top];
  return {
    wide,
    unit,
    least: floor * unit.ms,
    axis: { type: 'log', domain, ticks: ticksIn(domain) },
  };
}

/** Returns 1, 2 and 5 times the power of ten at or below the value, up to the value. */
function stepsTo(value: number): number[] {
  const ten = 10 ** Math.floor(Math.log10(value) + 1e-9);
  return [1, 2, 5].map((step) => step * ten).filter((step) => step <= value * (1 + 1e-9));
}

/**
 * Returns ticks at 1, 2 and 5 times each power of ten, or on a long axis only at powers of ten. The
 * lower end is always included.
 */
function ticksIn([least, most]: [number, number]): number[] {
  const from = Math.floor(Math.log10(least) + 1e-9);
  const to = Math.ceil(Math.log10(most));
  const steps = Math.log10(most / least) > 2.5 ? [1] : [1, 2, 5];
  const all = Array.from({ length: to - from + 1 }, (_, index) => 10 ** (from + index))
    .flatMap((ten) => steps.map((step) => Number((step * ten).toPrecision(6))))
    .filter((value) => value > least * 1.6 && value <= most);
  return [Number(least.toPrecision(6)), ...all];
}

export const LOGARITHMIC = 'The time axis is logarithmic.';
