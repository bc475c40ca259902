/**
 * Rules as data: an ordered list of inequalities over the counted weights. The first line that holds
 * decides. Lines run no code, so genesis can carry them to any program in any language.
 */
import { type Static, Type } from '../protocol/bundled/typebox.js';
import type { Counts, Ended, WeightRule } from './rule.js';

/** Terms of an inequality. `one` is the constant 1. */
const terms = ['approve', 'reject', 'total', 'voted', 'electors', 'vetoes', 'one'] as const;

/** With weights below 2^27, a sum of seven products is below 2^53. */
const Factor = Type.Integer({ minimum: -1_000_000, maximum: 1_000_000 });

export const RuleLine = Type.Object(
  {
    /** Factors by term. The line holds if the sum of the products is greater than zero. */
    if: Type.Object(Object.fromEntries(terms.map((term) => [term, Type.Optional(Factor)])), {
      additionalProperties: false,
      minProperties: 1,
    }),
    /** True for a line that holds only after the end of voting. */
    over: Type.Optional(Type.Literal(true)),
    // biome-ignore lint/suspicious/noThenProperty: a member of the published format; never awaited
    then: Type.Enum(['finalized', 'rejected', 'expired']),
  },
  { additionalProperties: false },
);
export type RuleLine = Static<typeof RuleLine>;

export const MAX_LINES = 16;

/** Returns the rule that a list of lines describes. A block that no line decides expires. */
export function rulesOfLines(lines: readonly RuleLine[]): WeightRule {
  return {
    title: 'Inequalities in genesis',
    parameters: {},
    usesVetoes: lines.some((line) => Object.hasOwn(line.if, 'vetoes')),
    decide(counts, _, over) {
      const line = lines.find((one) => (over || !one.over) && sumOf(one, counts) > 0);
      if (line) return line.then as Ended;
      return over ? 'expired' : null;
    },
  };
}

function sumOf({ if: factors }: RuleLine, counts: Readonly<Counts>): number {
  let sum = 0;
  for (const term of terms) {
    const factor = (factors as Partial<Record<string, number>>)[term];
    if (factor !== undefined) sum += factor * (term === 'one' ? 1 : counts[term]);
  }
  return sum;
}
