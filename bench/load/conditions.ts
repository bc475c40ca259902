/** Conditions on a result in their text form: `p99>200ms`, `errors>1%`, `tps<-5%`. */
import { roundedValue } from '../../report/shared/format.js';
import { type Change, compareFigure, computeChange, early, roundedChange } from './compare.js';
import { type Figure, findFigure, isOperation, type Source, vocabulary } from './figures.js';
import { conditionError, unmeasuredError } from './messages.js';
import { arrivalsPerS, kindsOf, type LoadOptions, parseDuration, parseNumber } from './options.js';
import type { LoadResult } from './result.js';

export interface Condition {
  /** Option that states the condition, or its place in a load file, for errors. */
  option: string;
  text: string;
  figure: Figure;
  operator: '>' | '>=' | '<' | '<=';
  /** Bound in the figure's unit, or a relative change, where 0.1 is ten percent more. */
  bound: number;
  relative: boolean;
}

/** A condition that must hold; `condition` is met if it does not. */
export interface Threshold {
  condition: Condition;
  /** True if the run ends as soon as it does not hold, from this measured time on. */
  abortOnFail: boolean;
  delayMs: number;
}

/** Operators of the opposite, of a condition that must hold. */
const negated = { '>': '<=', '>=': '<', '<': '>=', '<=': '>' } as const;

/**
 * Parses values of `--fail-on`, which compare with a second result if `relative`. @throws {Failure}
 */
export const parseConditions = (
  texts: readonly string[],
  { relative }: { relative: boolean },
): Condition[] => split(texts).map((text) => parse(text, '--fail-on', relative));

/** Parses a threshold, such as `p99<200ms`, to a condition that is met if it does not hold. */
export function parseThreshold(text: string, place: string): Condition {
  const condition = parse(text.trim(), `threshold of ${place}`, false);
  return { ...condition, text, operator: negated[condition.operator] };
}

function parse(text: string, option: string, mayCompare: boolean): Condition {
  const named = { option, condition: quote(text) };
  const { figure, operator, sign, bound: written } = partsOf(text, option);
  if (operator === '=') throw conditionError('NO_COMPARISON', named);
  const whole = { option, text, figure, operator, relative: sign !== '' };
  if (sign === '') return { ...whole, bound: boundOf(named, figure, written) };
  if (!mayCompare) throw conditionError('NO_BASE', named);
  const change = parseShare(written);
  if (change === null) throw conditionError('NOT_IN_PERCENT', { ...named, example: `${sign}10%` });
  return { ...whole, bound: sign === '-' ? -change : change };
}

/**
 * Parses objectives, such as `p99=200ms`: a most for times and errors, a least for rates. Each
 * condition is met if its objective is violated. @throws {Failure}
 */
export function slo(texts: readonly string[]): Condition[] {
  const option = '--slo';
  return split(texts).map((text) => {
    const named = { option, condition: quote(text) } as const;
    const refuse = (example: string) => conditionError('NOT_AN_OBJECTIVE', { ...named, example });
    if (!/[<>=]/.test(text)) throw refuse('p99=200ms');
    const { figure, operator, sign, bound } = partsOf(text, option);
    const holds = figure.good === 'more' ? '>=' : '<=';
    if ((operator !== '=' && operator !== holds) || sign !== '') {
      throw refuse(`${figure.name}=${units[figure.unit].example}`);
    }
    const whole = { option, figure, text: text.replace(operator, holds), relative: false } as const;
    return { ...whole, operator: negated[holds], bound: boundOf(named, figure, bound) };
  });
}

/** Checks before a run that it measures the figures of all conditions. @throws {Failure} */
export function assertMeasured(conditions: readonly Condition[], load: LoadOptions): void {
  for (const condition of conditions) {
    assertSource(condition, load);
    assertSamples(condition, load);
  }
}

function assertSource({ option, text, figure }: Condition, load: LoadOptions): void {
  const { workload, batch, rate, keepGoing } = load;
  const { source, scenario } = figure;
  const named = { option, condition: quote(text) };
  const scenarios = load.scenarios?.map(({ name }) => name) ?? [];
  if (scenario !== undefined && !scenarios.includes(scenario)) {
    const known = scenarios.join(', ') || 'none without a load file';
    throw unmeasuredError('UNKNOWN_SCENARIO', { ...named, scenario, known });
  }
  const rows = kindsOf(load).map(({ row }) => row);
  const produces = (what: 'transactions' | 'delivery') => rows.some((row) => row.produces === what);
  const values = { ...named, workload };
  if (source === 'rate' && rate === null) throw unmeasuredError('NO_RATE', named);
  if (source === 'outages' && !keepGoing) throw unmeasuredError('NO_OUTAGES', named);
  if (source === 'delivery' && !produces(source)) throw unmeasuredError('NO_SUBSCRIBERS', values);
  if (source === 'transactions') {
    if (!produces(source)) throw unmeasuredError('NO_TRANSACTIONS', values);
    if (batch === 0) throw unmeasuredError('EMPTY_BLOCKS', values);
  }
  // A module chooses its requests while it runs.
  if (!isOperation(source) || rows.some(({ operation }) => operation === null)) return;
  const schedules = [...new Set(rows.flatMap(({ operation }) => operation ?? []))];
  if (schedules.includes(source)) return;
  const scheduled = schedules.join(', ');
  throw unmeasuredError('NOT_SCHEDULED', { ...values, operation: source, scheduled });
}

function assertSamples({ option, text, figure }: Condition, load: LoadOptions): void {
  const { name, source, samples, scenario } = figure;
  const perS = scenario === undefined ? mostPerS(source, load) : null;
  if (samples <= 1 || perS === null) return;
  const most = Math.ceil((perS * load.durationMs) / 1_000);
  if (most >= samples) return;
  const what = samplesOf(figure);
  const values = { option, condition: quote(text), figure: name, samples, what, most };
  throw unmeasuredError('TOO_FEW_SAMPLES', { ...values, seconds: Math.ceil(samples / perS) });
}

const samplesOf = ({ source }: Figure): string =>
  source === 'transactions' ? 'blocks' : source === 'delivery' ? 'updates' : 'samples';

/** Maximum independent samples per second; null if unknown in advance. */
function mostPerS(source: Source, load: LoadOptions): number | null {
  // Each proposal that is an arrival is a block. Other arrivals build blocks beside the schedule.
  const proposes = kindsOf(load).every(({ kind }) => kind === 'propose');
  const known = source !== 'transactions' || proposes;
  return known ? arrivalsPerS(load) : null;
}

/** Result of checking a condition. At most one member is set. */
export interface Judgement {
  met: string | null;
  /** Reason that the condition cannot be decided. */
  unmeasured: string | null;
}

/** @param base result against which a relative condition compares. */
export function judge(condition: Condition, result: LoadResult, base?: LoadResult): Judgement {
  const { text, figure, relative } = condition;
  const value = figure.of(result);
  const unmeasured = (why: string): Judgement => ({ met: null, unmeasured: `${text}: ${why}` });
  if (value === null) {
    const few = figure.samples > 1 ? ` (needs ${figure.samples} ${samplesOf(figure)})` : '';
    return unmeasured(`no measurement of ${figure.name}${few}`);
  }
  if (!relative) {
    const found = exceeds(value, condition) ? `${text}: ${foundText(condition, value)}` : null;
    return found === null ? notMet(condition, [result]) : { met: found, unmeasured: null };
  }
  if (!base || figure.of(base) === null) {
    return unmeasured(`no measurement of ${figure.name} in the base`);
  }
  const compared = compareFigure(figure, base, result);
  const { change } = compared.by_r ?? compared;
  if (change === null)
    return unmeasured(`${figure.name} is 0 in the base, so its change is undefined`);
  if (!exceeds(change, condition)) return notMet(condition, [base, result]);
  return { met: `${text}: ${changeFound(condition, compared)}`, unmeasured: null };
}

/** Returns the judgement on a condition that is not met. A part of a run cannot pass it. */
function notMet({ text }: Condition, results: readonly LoadResult[]): Judgement {
  const cut = results.find(({ ended }) => ended !== 'complete');
  return { met: null, unmeasured: cut ? `${text}: undecided, the run ${early(cut)}` : null };
}

/** Describes a violated objective, or returns null. An unmeasured figure counts as a violation. */
export function findMissed(condition: Condition, result: LoadResult): string | null {
  const { met, unmeasured } = judge(condition, result);
  return met ?? unmeasured;
}

/** Numbers of extra decimals to try until the text shows the violation. */
const MORE = [0, 1, 2, 3, 4, 5, 6];

/** Formats a value that still meets the condition: `>200ms` never shows `200 ms`. */
function foundText(condition: Condition, value: number): string {
  const texts = MORE.map((more) => roundedValue(condition.figure.unit, value, more));
  return (texts.find((one) => exceeds(one.value, condition)) ?? texts.at(-1)!).text;
}

/** Formats both values, and the change between the displayed values. */
function changeFound(condition: Condition, compared: ReturnType<typeof compareFigure>): string {
  const { a, b, unit }: Change & { unit: Parameters<typeof roundedValue>[0] } =
    compared.by_r ?? compared;
  const all = MORE.map((more) => {
    const [before, after] = [roundedValue(unit, a!, more), roundedValue(unit, b!, more)];
    const change = computeChange(unit, before.value, after.value);
    const { text, value } = roundedChange(unit, change ?? 0, more);
    const sentence = `changed from ${before.text} to ${after.text}, ${text}`;
    return { sentence, shows: change !== null && exceeds(value, condition) };
  });
  return (all.find(({ shows }) => shows) ?? all.at(-1)!).sentence;
}

function exceeds(value: number, { operator, bound }: Condition): boolean {
  if (operator === '>') return value > bound;
  if (operator === '>=') return value >= bound;
  return operator === '<' ? value < bound : value <= bound;
}

const split = (texts: readonly string[]): string[] =>
  texts.flatMap((text) => text.split(',')).map((text) => text.trim());

const shape =
  /^([\w.]{1,60}(?:\{scenario:[\w .-]{1,64}\})?)\s*(>=|<=|>|<|=)\s*([+-]?)([\w.]{1,60}(?:\/s|%)?)$/;

interface Parts {
  figure: Figure;
  operator: Condition['operator'] | '=';
  sign: string;
  bound: string;
}

function partsOf(text: string, option: string): Parts {
  const [, name, operator, sign, bound] = shape.exec(text) ?? [];
  const known =
    bound !== undefined && Object.values(units).some(({ parse }) => parse(bound) !== null);
  if (!known) throw conditionError('SYNTAX', { option, condition: quote(text) });
  const figure = findFigure(name!);
  if (!figure) {
    const values = { option, condition: quote(text), figure: name!, known: vocabulary };
    throw conditionError('UNKNOWN_FIGURE', values);
  }
  return { figure, operator: operator as Parts['operator'], sign: sign!, bound };
}

const parseShare = (text: string): number | null => {
  const percent = text.endsWith('%') ? parseNumber(text.slice(0, -1)) : null;
  return percent === null ? null : percent / 100;
};
const parseRate = (text: string): number | null => parseNumber(text.replace(/\/s$/, ''));
const units = {
  ms: { parse: parseDuration, kind: 'a time in us, ms, s or m', example: '200ms' },
  share: { parse: parseShare, kind: 'a share in percent', example: '1%' },
  per_s: { parse: parseRate, kind: 'a rate per second, without a unit', example: '1000' },
} as const satisfies Record<Figure['unit'], object>;

function boundOf(
  named: { option: string; condition: string },
  { name, unit }: Figure,
  text: string,
): number {
  const { parse, ...expected } = units[unit];
  const bound = parse(text);
  if (bound !== null) return bound;
  throw conditionError('WRONG_UNIT', { ...named, ...expected, figure: name });
}

const quote = (text: string) => JSON.stringify(text);
