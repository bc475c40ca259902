/** Conditions on a result, as people write them: `p99>200ms`, `errors>1%`, `tps<-5%`. */
import type { LoadResult } from '../result.js';
import { changeOf, percentText, valueText } from './compare.js';
import { type Figure, figureOf, vocabulary } from './figures.js';

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
    const holds = figure.unit === 'per_s' ? '>=' : '<=';
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

/**
 * A sentence when the condition is met, else null. Where nothing was measured it counts as met:
 * nothing seen is no success.
 * @param base what a relative condition compares with.
 */
export function met(condition: Condition, result: LoadResult, base?: LoadResult): string | null {
  const { text, figure, relative } = condition;
  const value = figure.of(result);
  if (value === null) {
    const few = /p999$/.test(figure.name) ? ', or of fewer than 1,000 samples' : '';
    return `${text}: nothing was measured for ${figure.name}${few}`;
  }
  if (!relative) {
    return exceeds(value, condition) ? `${text}: it is ${valueText(figure, value)}` : null;
  }
  const change = base ? changeOf(figure, base, result) : null;
  if (change === null) return `${text}: there is nothing to compare ${figure.name} with`;
  if (!exceeds(change, condition)) return null;
  const [before, after] = [figure.of(base!), value].map((one) => valueText(figure, one));
  return `${text}: it went from ${before} to ${after}, ${percentText(figure, change)}`;
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
  const figure = figureOf(name);
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
