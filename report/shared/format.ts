/**
 * Formats numbers, times and text identically everywhere, regardless of the locale, and downsamples
 * long series.
 */
/** Number of meaningful decimals for a number of this magnitude. */
const decimalsOf = (size: number): number =>
  Number.isInteger(size) ? 0 : size >= 1_000 ? 1 : size >= 10 ? 2 : 4;

/** Formats a number with grouped thousands and without trailing zeros. */
export function format(value: number | null, decimals?: number): string {
  if (value === null) return '–';
  const digits = decimals ?? decimalsOf(Math.abs(value));
  const [whole, part] = value.toFixed(digits).split('.');
  const grouped = whole!.replace(/\B(?=(\d{3})+$)/g, ',');
  const rest = part?.replace(/0+$/, '');
  return rest ? `${grouped}.${rest}` : grouped;
}

/** Formats a count with its noun: `1 vote`, `1,204 votes`. */
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${format(count)} ${count === 1 ? one : many}`;

/** Formats an axis tick, with large numbers such as 20k and 1.5M. */
export function formatTick(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e6) return `${format(value / 1e6)}M`;
  return size >= 1e4 ? `${format(value / 1e3)}k` : format(value);
}

/** Formats an axis tick with three significant digits, for narrow places. */
export function compact(value: number): string {
  const size = Math.abs(value);
  const unit = size >= 1e6 ? 1e6 : size >= 1e4 ? 1e3 : 1;
  const parts = size / unit >= 100 ? 1 : size / unit >= 10 ? 10 : size >= 1 ? 100 : 1_000;
  return formatTick((Math.round((value / unit) * parts) / parts) * unit);
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

/** Largest unit in which the longest time is at least 3. */
export const timeUnit = (longestMs: number): TimeUnit => getTimeUnit(longestMs / 3);

/** Largest unit that is not longer than the time. */
export const getTimeUnit = (ms: number): TimeUnit =>
  units.findLast((unit) => ms >= unit.ms) ?? units[0]!;

export function formatMs(ms: number | null): string {
  if (ms === null) return '–';
  const unit = getTimeUnit(ms);
  return `${format(Math.round((ms * 100) / unit.ms) / 100)} ${unit.name}`;
}

/**
 * Characters that change the writing direction, have no width or break lines. Joiners are excluded,
 * because scripts and emoji need them.
 */
const hidden =
  /[\u00AD\u061C\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]/g;

/** Replaces invisible characters with their code points, such as `[U+202E]`. */
export const showInvisible = (text: string): string =>
  text.replace(hidden, (sign) => {
    const number = sign.charCodeAt(0).toString(16).toUpperCase();
    return `[U+${number.padStart(4, '0')}]`;
  });

/** Shortens text to at most this many characters. */
export function shorten(text: string, most: number): string {
  const letters = [...showInvisible(text)];
  return letters.length <= most ? letters.join('') : `${letters.slice(0, most - 1).join('')}…`;
}

/** Picks at most this many items, evenly spaced and including the last item. */
export function downsample<T>(items: readonly T[], most: number): readonly T[] {
  if (items.length <= most) return items;
  const last = items.length - 1;
  return Array.from(
    { length: most },
    (_, index) => items[Math.floor((index * last) / (most - 1))]!,
  );
}

/** Describes downsampling in one caption sentence; empty if every item is drawn. */
export function describeDownsampling(what: string, all: number, most: number): string {
  return all > most ? ` The chart shows ${most} of ${all} ${what}, evenly spaced.` : '';
}

/** Running median with a centered window. The window is shorter at both ends. */
export function runningMedian(values: readonly number[], window: number): number[] {
  const half = Math.floor(window / 2);
  return values.map((_, index) => {
    const around = values.slice(Math.max(0, index - half), index + half + 1).sort((a, b) => a - b);
    const middle = around.length >> 1;
    return around.length % 2 === 1 ? around[middle]! : (around[middle - 1]! + around[middle]!) / 2;
  });
}
