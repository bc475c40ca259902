/**
 * Parsers for option values. Each parser throws an InvalidArgumentError that states the expected
 * format. It also carries the JSON Schema of the value, so that flags, environment variables and
 * configuration files have one definition.
 */
import { Command, InvalidArgumentError, Option } from 'commander';
import { durationPattern, parseDuration, parseNumber } from '../../bench/load/options.js';
import { UsageError } from '../output/exit.js';

/** A command with shared options, options with choices, and the notes and examples of its help. */
export class CliCommand extends Command {
  override createCommand(name?: string): CliCommand {
    return new CliCommand(name);
  }

  /** Adds an option that accepts only some values. */
  choice(flags: string, text: string, values: readonly string[], initial?: string): this {
    return this.addOption(new Option(flags, text).choices(values).default(initial));
  }

  addOptions(options: readonly Option[]): this {
    for (const option of options) this.addOption(option);
    return this;
  }

  /** Adds paragraphs after the options, at most 80 columns wide. */
  notes(text: string): this {
    return this.addHelpText('after', `\n${text.trim()}`);
  }

  /**
   * Ends the help with three to five command lines without the program name, and a reference. A
   * long command line continues on an indented line.
   */
  examples(...examples: readonly string[]): this {
    const lines = examples.map((example) => `  $ folkmoot ${example}`).join('\n');
    const codes = 'Exit codes: folkmoot help exit-codes';
    return this.addHelpText('after', `\nExamples:\n${lines}\n\n${codes}`);
  }
}

/** JSON Schema of an option's value in a configuration file. */
export type ValueSchema = Readonly<Record<string, unknown>>;

/** Parser for an option's text. Values in a configuration file are passed to it as text too. */
export type Parser<T> = ((text: string, before?: T) => T) & {
  readonly schema: ValueSchema;
  /** Formats a value as in a configuration file. */
  readonly format: (value: T) => unknown;
};

/** Adds the schema and the format of its values to a parser. */
export const typed = <T>(
  schema: ValueSchema,
  parse: (text: string, before?: T) => T,
  format: (value: T) => unknown = (value) => value,
): Parser<T> => Object.assign(parse, { schema, format });

/** Parses a factor of wall time. */
export const speed = typed({ type: 'number', minimum: 0.01, maximum: 1_000 }, (text): number => {
  const value = parseSpeed(text);
  if (value !== null) return value;
  throw new InvalidArgumentError('expected a number from 0.01 to 1000, such as 1 or 10');
});

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

export function integer(least: number, most: number): Parser<number> {
  return typed({ type: 'integer', minimum: least, maximum: most }, (text) => {
    const value = Number(text);
    const whole = /^\d{1,15}$/.test(text) && value >= least && value <= most;
    if (whole) return value;
    const range =
      most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
    throw new InvalidArgumentError(`expected a whole number ${range}`);
  });
}

/** Parses a rate per second, such as 1500, 1.5k or 100/s. */
export function ratePerSecond(most: number): Parser<number> {
  return typed({ type: 'number', exclusiveMinimum: 0, maximum: most }, (text) => {
    const value = parseNumber(text.replace(/\/s$/, ''));
    if (value !== null && value > 0 && value <= most) return value;
    throw new InvalidArgumentError(`expected a rate per second above 0, up to ${most}`);
  });
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
      'milliseconds, or a percentage of the mean, such as 5%',
  );
}

/** Parses a duration with units. Returns whole milliseconds. */
export function duration({ leastMs, mostMs }: { leastMs: number; mostMs: number }): Parser<number> {
  const schema = { type: 'string', pattern: durationPattern.source };
  const parse = (text: string): number => {
    const value = Math.round(parseDuration(text) ?? Number.NaN);
    if (value >= leastMs && value <= mostMs) return value;
    throw new InvalidArgumentError(
      `expected a duration such as 500ms, 10s or 1m30s, from ${leastMs} ms to ${mostMs / 60_000} m`,
    );
  };
  return typed(schema, parse, (ms) => `${ms}ms`);
}

/** Parses a whole number, which may have the form 1e3 or 1k. */
export function wholeNumber(least: number, most: number): Parser<number> {
  return typed({ type: 'integer', minimum: least, maximum: most }, (text) => {
    const value = parseNumber(text);
    if (Number.isInteger(value) && value! >= least && value! <= most) return value!;
    throw new InvalidArgumentError(`expected a whole number from ${least} to ${most}`);
  });
}

/**
 * The bound is `limits.mostThreads` of the engine, which the help does not load.
 * @param kind what the threads do.
 */
export const threadsOption = (kind: 'signing' | 'verifying'): Option =>
  new Option(
    '--verify-threads <n>',
    `maximum ${kind} threads (default: all cores but 2)`,
  ).argParser(integer(1, 256));

const textList = { type: 'array', items: { type: 'string', minLength: 1 } };

/** Collects the values of a repeatable option. */
export const collect = typed<string[]>(textList, (text, before = []) => [...before, text]);

/** Collects a repeatable, comma-separated option. */
export const commaList = typed<string[]>(textList, (text, before = []) => [
  ...before,
  ...text.split(',').map((value) => value.trim()),
]);

const namePattern = /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$/;

/** Parses the name of a network or a node, which becomes part of keys and file names. */
export const shortName = typed({ type: 'string', pattern: namePattern.source }, (text): string => {
  if (namePattern.test(text)) return text;
  throw new InvalidArgumentError('expected 1 to 64 letters, digits, ., _ or -');
});
