/** How numbers and times are shown: the same everywhere, without a locale. */

/** Decimals that say something of a number of this size. */
const decimalsOf = (size: number): number =>
  Number.isInteger(size) ? 0 : size >= 1_000 ? 1 : size >= 10 ? 2 : 4;

/** Groups thousands and cuts zeros at the end. */
export function shown(value: number | null, decimals?: number): string {
  if (value === null) return '–';
  const digits = decimals ?? decimalsOf(Math.abs(value));
  const [whole, part] = value.toFixed(digits).split('.');
  const grouped = whole!.replace(/\B(?=(\d{3})+$)/g, ',');
  const rest = part?.replace(/0+$/, '');
  return rest ? `${grouped}.${rest}` : grouped;
}

/** A count and its noun: `1 vote`, `1,204 votes`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${shown(count)} ${count === 1 ? one : many}`;

/** For the tick of an axis: large numbers as 20k and 1.5M. */
export function tick(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e6) return `${shown(value / 1e6)}M`;
  return size >= 1e4 ? `${shown(value / 1e3)}k` : shown(value);
}

/** Where there is little room: like a tick, and three digits that say something. */
export function brief(value: number): string {
  const size = Math.abs(value);
  const unit = size >= 1e6 ? 1e6 : size >= 1e4 ? 1e3 : 1;
  const parts = size / unit >= 100 ? 1 : size / unit >= 10 ? 10 : size >= 1 ? 100 : 1_000;
  return tick((Math.round((value / unit) * parts) / parts) * unit);
}

export interface TimeUnit {
  name: string;
  ms: number;
}

const units: readonly TimeUnit[] = [
  { name: 'ms', ms: 1 },
  { name: 's', ms: 1_000 },
  { name: 'min', ms: 60_000 },
  { name: 'h', ms: 3_600_000 },
  { name: 'days', ms: 86_400_000 },
];

/** For an axis: the largest unit of which there are some. */
export const timeUnit = (longestMs: number): TimeUnit => unitOf(longestMs / 3);

/** The largest unit of which there is one. */
export const unitOf = (ms: number): TimeUnit =>
  units.findLast((unit) => ms >= unit.ms) ?? units[0]!;

export function time(ms: number | null): string {
  if (ms === null) return '–';
  const unit = unitOf(ms);
  return `${shown(Math.round((ms * 100) / unit.ms) / 100)} ${unit.name}`;
}
