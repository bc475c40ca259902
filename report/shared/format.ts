/**
 * Formats numbers, times and text identically everywhere, regardless of the locale, and downsamples
 * long series.
 */
/** Formats a number with grouped thousands and without trailing zeros. */
export function format(value: number | null, decimals?: number): string {
  if (value === null) return '–';
  const size = Math.abs(value);
  const fine = Number.isInteger(size) ? 0 : size >= 1_000 ? 1 : size >= 10 ? 2 : 4;
  const digits = decimals ?? fine;
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
const getTimeUnit = (ms: number): TimeUnit => units.findLast((unit) => ms >= unit.ms) ?? units[0]!;

export function formatMs(ms: number | null): string {
  if (ms === null) return '–';
  const unit = getTimeUnit(ms);
  return `${format(Math.round((ms * 100) / unit.ms) / 100)} ${unit.name}`;
}

/** Unit of a figure. A share is a fraction of one; `of_r` counts multiples of R. */
export type Unit = 'text' | 'count' | 'ms' | 'share' | 'per_s' | 'of_r' | 'verifications';

/** Text of a value, and the number that a reader derives from the text. */
export interface Rounded {
  text: string;
  value: number;
}

/** Rounds a value for display. @param more number of extra decimals. */
export function roundedValue(unit: Unit, value: number, more = 0): Rounded {
  const { name, size } = scaleOf(unit, value);
  const amount = value / size;
  const decimals = shownDecimals(unit, Math.abs(amount)) + more;
  const rounded = Number(amount.toFixed(decimals));
  return { text: `${format(rounded, decimals)}${name}`, value: rounded * size };
}

const unitNames = { per_s: '/s', of_r: ' R', verifications: ' verifications', count: '', text: '' };

function scaleOf(unit: Unit, value: number): { name: string; size: number } {
  if (unit === 'ms') {
    const { name, ms } = getTimeUnit(value);
    return { name: ` ${name}`, size: ms };
  }
  return unit === 'share' ? { name: ' %', size: 0.01 } : { name: unitNames[unit], size: 1 };
}

/** Returns the number of decimals that shows a change of about 1 % in a value of usual size. */
function shownDecimals(unit: Unit, amount: number): number {
  if (unit === 'ms') return amount >= 1 ? 2 : 3;
  if (unit === 'share') return amount >= 1 ? 2 : amount >= 0.1 ? 3 : 4;
  return amount >= 100 ? 0 : amount >= 10 ? 1 : amount >= 1 ? 2 : 4;
}

/** Formats a value with its unit: `4.05 ms`, `99 %`, `990/s`. */
export const formatValue = (value: string | number | null, unit: Unit): string =>
  value === null ? '–' : typeof value === 'string' ? value : roundedValue(unit, value).text;

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

/** Aligns the columns of a text table: the given ones to the left, all others to the right. */
export function alignColumns(
  rows: readonly (readonly string[])[],
  left: readonly number[] = [0],
): string[] {
  const widths = (rows[0] ?? []).map((_, at) =>
    Math.max(...rows.map((row) => row[at]?.length ?? 0)),
  );
  const cell = (text: string, at: number) =>
    left.includes(at) ? text.padEnd(widths[at] ?? 0) : text.padStart(widths[at] ?? 0);
  return rows.map((row) => row.map(cell).join('  ').trimEnd());
}

/** Formats a Markdown table with aligned columns. */
export function formatMarkdownTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const cells = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = head.map((_, at) => Math.max(...cells.map((row) => row[at]!.length)));
  const rule = widths.map((width) => '-'.repeat(width));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, at) => cell.padEnd(widths[at]!)).join(' | ')} |`;
  return [cells[0]!, rule, ...cells.slice(1)].map(line).join('\n');
}

const plainWord = /^[\w./:=@%+-]+$/;

/** Formats words for pasting, quoted for a POSIX shell. */
export const shellLine = (words: readonly string[]): string =>
  words
    .map((word) => (plainWord.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(' ');

/** Builds a folkmoot command line. The page footer says where `npx folkmoot` works. */
export const commandLine = (...words: readonly string[]): string =>
  shellLine(['npx', 'folkmoot', ...words]);

/* Time axis: linear from 0, or logarithmic if the times span a wide range. */

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
