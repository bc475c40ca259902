/**
 * Parsers for option values. Each parser throws an InvalidArgumentError that states the expected
 * format.
 */
import { InvalidArgumentError } from 'commander';
import { UsageError } from '../output/exit.js';

/** Parses a factor of wall time. */
export function speed(text: string): number {
  const value = parseSpeed(text);
  if (value !== null) return value;
  throw new InvalidArgumentError('expected a number from 0.01 to 1000, such as 1 or 10');
}

/** Parses a factor of wall time, or `max`. */
export function watchedSpeed(text: string): number | 'max' {
  const value = text === 'max' ? text : parseSpeed(text);
  if (value !== null) return value;
  throw new InvalidArgumentError('expected a number from 0.01 to 1000, such as 1 or 10, or max');
}

function parseSpeed(text: string): number | null {
  const value = Number(text);
  return /^\d{1,4}(\.\d{1,3})?$/.test(text) && value >= 0.01 && value <= 1_000 ? value : null;
}

export function integer(bounds: { least: number; most: number }): (text: string) => number {
  return (text) => {
    const value = Number(text);
    const whole = /^\d{1,15}$/.test(text) && value >= bounds.least && value <= bounds.most;
    if (whole) return value;
    const range =
      bounds.most === Number.MAX_SAFE_INTEGER
        ? `of at least ${bounds.least}`
        : `from ${bounds.least} to ${bounds.most}`;
    throw new InvalidArgumentError(`expected a whole number ${range}`);
  };
}

export function positive(most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d{1,9}(\.\d{1,3})?$/.test(text) && value > 0 && value <= most) return value;
    throw new InvalidArgumentError(`expected a number above 0, up to ${most}`);
  };
}

/** @throws {UsageError} if a range ends before it begins. */
export function expectOrdered(from: number, to: number | undefined): void {
  if (to !== undefined && from > to) throw new UsageError('REVERSED_RANGE', { from, to });
}

/** Half-width of an interval, in the response's unit or as a percentage of its mean. */
export type HalfWidth = { half_width: number } | { percent: number };

export function halfWidth(text: string): HalfWidth {
  const [, number, percent] = /^(\d{1,9}(?:\.\d{1,9})?)(%?)$/.exec(text) ?? [];
  const value = Number(number);
  if (value > 0 && percent === '') return { half_width: value };
  if (value > 0 && value <= 100) return { percent: value };
  throw new InvalidArgumentError(
    'expected a number above 0 in the unit of the response, such as 0.02 for a share or 500 for ' +
      'milliseconds, or percent of the mean, such as 5%',
  );
}

const unitsMs = { ms: 1, s: 1_000, m: 60_000 } as const;

/** Parses a duration with a unit. Returns whole milliseconds. */
export function duration(bounds: { leastMs: number; mostMs: number }): (text: string) => number {
  return (text) => {
    const [, number, unit] = /^(\d{1,7}(?:\.\d{1,3})?)(ms|s|m)$/.exec(text) ?? [];
    const value = Math.round(Number(number) * unitsMs[(unit ?? 'ms') as keyof typeof unitsMs]);
    if (value >= bounds.leastMs && value <= bounds.mostMs) return value;
    throw new InvalidArgumentError(
      `expected a duration such as 500ms, 10s or 2m, from ${bounds.leastMs} ms to ` +
        `${bounds.mostMs / 60_000} m`,
    );
  };
}
