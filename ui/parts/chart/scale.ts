/** Axes of charts: where a value lies, and which values are written beside it. */
import { shown, tick } from '../../../report/shared/numbers.js';
import { timeScale } from '../../../report/shared/time-scale.js';

/** A value that is written beside an axis, and its share of the way along it. */
export interface Tick {
  at: number;
  text: string;
}

export interface Scale {
  /** What it counts, as it stands above the axis. */
  name: string;
  /** From 0 at the foot to 1; what is off the axis lies at its end. */
  place(value: number): number;
  ticks: readonly Tick[];
  /** Each step of it is as many times the one before. */
  logarithmic: boolean;
}

const STEPS = 5;

/** Of counts, from nothing on. */
export function countScale(name: string, most: number): Scale {
  const top = most > 0 ? most * 1.06 : 1;
  const place = (value: number) => inside(value / top);
  return { name, place, ticks: evenTicks(top, STEPS), logarithmic: false };
}

/** Of milliseconds, as reports draw them: logarithmic where the longest would hide all others. */
export function msScale(times: readonly number[]): Scale {
  const { wide, unit, least, axis } = timeScale(times.length > 0 ? times : [1]);
  const [from, to] = axis.domain;
  const place = (ms: number) => {
    const here = Math.max(ms, least) / unit.ms;
    return inside(wide ? Math.log(here / from) / Math.log(to / from) : here / to);
  };
  const written = (value: number): Tick => ({ at: place(value * unit.ms), text: shown(value) });
  const ticks = Array.isArray(axis.ticks) ? axis.ticks.map(written) : evenTicks(to, STEPS);
  return { name: unit.name, place, ticks, logarithmic: wide };
}

/** From 0 on: 1, 2 or 5 of a power of ten apart, and about so many. */
export function evenTicks(most: number, steps: number): Tick[] {
  const least = most / steps;
  const ten = 10 ** Math.floor(Math.log10(least));
  const step = ten * ([1, 2, 5, 10].find((part) => part * ten >= least) ?? 10);
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, index) => {
    const value = Number((index * step).toPrecision(12));
    return { at: value / most, text: tick(value) };
  });
}

const inside = (share: number) => Math.min(1, Math.max(0, share));
