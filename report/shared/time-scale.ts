/** An axis of times: from nothing, or logarithmic where the longest would press all others down. */
import { type TimeUnit, timeUnit } from './format.js';

/** A range that is wider than this is drawn on a logarithmic axis. */
const WIDE_RANGE = 60;
/** So far down as anybody looks; what is shorter stands on the floor. */
const WIDEST = 1_000;

export interface TimeScale {
  wide: boolean;
  unit: TimeUnit;
  /** Milliseconds at the floor. */
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
  // A tick stands at the floor, below 1 too: an axis without its lowest figure cannot be read.
  const floor = stepsTo(shortest / unit.ms).at(-1)!;
  const domain: [number, number] = [floor, top];
  return {
    wide,
    unit,
    least: floor * unit.ms,
    axis: { type: 'log', domain, ticks: ticksIn(domain) },
  };
}

/** 1, 2 and 5 of each power of ten, up to a value; the last one at it or below. */
function stepsTo(value: number): number[] {
  const ten = 10 ** Math.floor(Math.log10(value) + 1e-9);
  return [1, 2, 5].map((step) => step * ten).filter((step) => step <= value * (1 + 1e-9));
}

/** 1, 2, 5 and 10; where these are many, 1 and 3, but always the floor. */
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
