/** Conditions on a result, as people write them: `p99>200ms`, `errors>1%`, `tps<-5%`. */

import {
  type Change,
  compareFigure,
  computeChange,
  roundedChange,
  roundedValue,
} from './compare.js';
import { type Figure, findFigure, type Source, vocabulary } from './figures.js';
import { arrivalsPerS, type LoadOptions, type WorkloadName } from './options.js';
import type { LoadResult } from './result.js';
import type { OperationName } from './workload.js';

export interface Condition {
  /** As it was written. */
  text: string;
  figure: Figure;
  operator: '>' | '>=' | '<' | '<=';
  /** In the unit of the figure; of a relative one the change, 0.1 for ten percent more. */
  bound: number;
  /** Against another result. */
  relative: boolean;
}

/** A condition that cannot be meant. */
export class ConditionError extends Error {
  override name = 'ConditionError';
}

/** A condition on what the run does not measure. */
export class UnmeasuredError extends Error {
  override name = 'UnmeasuredError';
}

/**
 * Reads what `--fail-on` was given: several in a text are parted by commas.
 * @param relative whether there is another result to compare with, as in `p99>+10%`.
 * @throws {ConditionError}
 */
export function parseConditions(
  texts: readonly string[],
  { relative }: { relative: boolean },
): Condition[] {
  return split(texts).map((text) => {
    const { figure, operator, sign, number, unit } = partsOf(text);
    if (operator === '=') {
      throw wrong(text, 'expected >, >=, < or <= between figure and bound');
    }
    if (sign === '') {
      return {
        text,
        figure,
        operator,
        bound: boundOf(text, figure, number, unit),
        relative: false,
      };
    }
    if (!relative) {
      const advice = 'a bound with a sign is a change against another result';
      throw wrong(text, `${advice}; expected one without, or: folkmoot load compare`);
    }
    if (unit !== '%') throw wrong(text, `expected a change in percent, such as ${sign}10%`);
    const bound = (sign === '-' ? -number : number) / 100;
    return { text, figure, operator, bound, relative: true };
  });
}

/**
 * Reads service level objectives, such as `p99=200ms`: latencies and errors at most that, rates at
 * least. What comes back are the conditions that break them.
 * @throws {ConditionError}
 */
export function slo(texts: readonly string[]): Condition[] {
  return split(texts).map((text) => {
    const { figure, operator, sign, number, unit } = partsOf(text);
    const holds = figure.good === 'more' ? '>=' : '<=';
    if ((operator !== '=' && operator !== holds) || sign !== '') {
      throw wrong(text, `expected an objective such as ${figure.name}=${examples[figure.unit]}`);
    }
    return {
      text: text.replace(operator, holds),
      figure,
      operator: holds === '>=' ? '<' : '>',
      bound: boundOf(text, figure, number, unit),
      relative: false,
    };
  });
}

/** Requests that each workload sends on schedule. */
const sent: Record<WorkloadName, readonly OperationName[]> = {
  votes: ['vote'],
  transactions: ['propose'],
  mixed: ['vote', 'read', 'status', 'meme'],
  reads: ['read'],
  subscribers: ['status'],
};

/**
 * Checks before a run that it measures what the conditions are about.
 * @throws {UnmeasuredError}
 */
export function assertMeasured(conditions: readonly Condition[], load: LoadOptions): void {
  for (const { text, figure } of conditions) {
    const why = lacking(figure.source, load) ?? tooFew(figure, load);
    if (why) throw new UnmeasuredError(`the condition "${text}" cannot be measured: ${why}`);
  }
}

/** Why a run measures nothing of this source, and what to do, or null. */
function lacking(source: Source, { workload, batch, rate }: LoadOptions): string | null {
  const run = `a run of the workload ${workload}`;
  switch (source) {
    case 'arrivals':
      return null;
    case 'rate':
      return rate === null ? 'a closed loop asks for no rate; use --rate, or accepted_per_s' : null;
    case 'transactions':
      if (workload === 'votes' || workload === 'mixed' || workload === 'transactions') {
        return batch > 0 ? null : `${run} proposes no transactions with --batch 0; use --batch 10`;
      }
      return `${run} proposes no transactions; use --workload transactions, or accepted_per_s`;
    case 'delivery':
      return workload === 'subscribers'
        ? null
        : `${run} has no subscribers; use --workload subscribers`;
    default:
      return sent[workload].includes(source)
        ? null
        : `${run} sends no ${source} by its schedule; use a figure of ${sent[workload].join(', ')}`;
  }
}

/** Why a run cannot have as many samples as a figure needs, or null. */
function tooFew({ name, source, samples }: Figure, load: LoadOptions): string | null {
  const perS = mostPerS(source, load);
  if (samples <= 1 || perS === null) return null;
  const most = Math.ceil((perS * load.durationMs) / 1_000);
  if (most >= samples) return null;
  const longer = `--duration ${Math.ceil(samples / perS)}s`;
  return `${name} needs ${samples} samples, and the run has ${most} at most; use ${longer}`;
}

/** Samples a second at most; null where that is not known before. */
function mostPerS(source: Source, load: LoadOptions): number | null {
  const perS = arrivalsPerS(load);
  if (perS === null) return null;
  if (source === 'delivery') return perS * load.agents;
  if (source !== 'transactions') return perS;
  return load.workload === 'transactions' ? load.rate : null;
}

/** What became of a condition: at most one of them is a sentence. */
export interface Judgement {
  met: string | null;
  /** Why it can be neither met nor kept. */
  unmeasured: string | null;
}

/** @param base what a relative condition compares with. */
export function judge(condition: Condition, result: LoadResult, base?: LoadResult): Judgement {
  const { text, figure, relative } = condition;
  const value = figure.of(result);
  const unmeasured = (why: string): Judgement => ({ met: null, unmeasured: `${text}: ${why}` });
  if (value === null) {
    const few = figure.samples > 1 ? ` of ${figure.samples} samples or more` : '';
    return unmeasured(`nothing was measured for ${figure.name}${few}`);
  }
  if (!relative) {
    const met = exceeds(value, condition) ? `${text}: it is ${told(condition, value)}` : null;
    return { met, unmeasured: null };
  }
  if (!base || figure.of(base) === null) {
    return unmeasured(`the base has nothing to compare ${figure.name} with`);
  }
  const compared = compareFigure(figure, base, result);
  const { change } = compared.by_r ?? compared;
  if (change === null) return unmeasured(`${figure.name} is 0 in the base, and has no change`);
  if (!exceeds(change, condition)) return { met: null, unmeasured: null };
  return { met: `${text}: ${toldChange(condition, compared)}`, unmeasured: null };
}

/** A sentence for each objective that a result misses; nothing measured is missed as well. */
export function findMissed(condition: Condition, result: LoadResult): string | null {
  const { met, unmeasured } = judge(condition, result);
  return met ?? unmeasured;
}

/** Decimals beyond the usual ones until a text shows what was found. */
const MORE = [0, 1, 2, 3, 4, 5, 6];

/** A value that meets the condition as its text gives it too: not `200 ms` for `>200ms`. */
function told(condition: Condition, value: number): string {
  const texts = MORE.map((more) => roundedValue(condition.figure.unit, value, more));
  return (texts.find((one) => exceeds(one.value, condition)) ?? texts.at(-1)!).text;
}

/** From what to what, and the change between these two as they are written. */
function toldChange(condition: Condition, compared: ReturnType<typeof compareFigure>): string {
  const { a, b, unit }: Change & { unit: Parameters<typeof roundedValue>[0] } =
    compared.by_r ?? compared;
  const all = MORE.map((more) => {
    const [before, after] = [roundedValue(unit, a!, more), roundedValue(unit, b!, more)];
    const change = computeChange(unit, before.value, after.value);
    const { text, value } = roundedChange(unit, change ?? 0, more);
    const sentence = `it went from ${before.text} to ${after.text}, ${text}`;
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

const shape = /^([\w.]+)\s*(>=|<=|>|<|=)\s*([+-]?)(\d{1,12}(?:\.\d{1,6})?)\s*(us|ms|s|%|)$/;

interface Parts {
  figure: Figure;
  operator: Condition['operator'] | '=';
  sign: string;
  number: number;
  unit: string;
}

function partsOf(text: string): Parts {
  const [, name, operator, sign, digits, unit] = shape.exec(text) ?? [];
  if (name === undefined) {
    throw wrong(text, 'expected figure, comparison and bound, such as p99>200ms or errors>1%');
  }
  const figure = findFigure(name);
  if (!figure) throw wrong(text, `there is no figure ${name}; expected ${vocabulary}`);
  return {
    figure,
    operator: operator as Parts['operator'],
    sign: sign!,
    number: Number(digits),
    unit: unit!,
  };
}

const examples: Record<Figure['unit'], string> = { ms: '200ms', share: '1%', per_s: '1000' };
const factors: Record<Figure['unit'], Record<string, number>> = {
  ms: { us: 0.001, ms: 1, s: 1_000 },
  share: { '%': 0.01 },
  per_s: { '': 1 },
};
const wanted: Record<Figure['unit'], string> = {
  ms: 'a time in us, ms or s',
  share: 'a share in percent',
  per_s: 'a number a second, without a unit',
};

function boundOf(text: string, { name, unit: of }: Figure, number: number, unit: string): number {
  const factor = factors[of][unit];
  if (factor === undefined) {
    throw wrong(text, `${name} is ${wanted[of]}; expected a bound such as ${examples[of]}`);
  }
  return number * factor;
}

const wrong = (text: string, why: string) =>
  new ConditionError(`the condition "${text}" cannot be read: ${why}`);
