/** The conditions that end a run, however the scenario writes them; and each in words. */
import type { Static } from '../../engine/internal.js';
import type { ConditionMeasure, Condition as Given } from './schema/length.js';
import type { Scenario } from './schema/scenario.js';

/** Either `at_least` or `at_most` is there. */
export interface Condition {
  measure: ConditionMeasure;
  group?: string;
  at_least?: number;
  at_most?: number;
  held_ms: number;
  held_blocks: number;
}

/** The conditions that end a run. */
export function conditionsOf({ until = [] }: Scenario['length']): Condition[] {
  return (Array.isArray(until) ? until : [until]).map(conditionOf);
}

/** With what it may leave out; `reaches` is the short form of `at_least`. */
export function conditionOf(given: Static<typeof Given>): Condition {
  const { reaches, held_ms = 0, held_blocks = 0, ...rest } = given;
  return {
    ...rest,
    ...(reaches === undefined ? {} : { at_least: reaches }),
    held_ms,
    held_blocks,
  };
}

/** As `reputation_mean of town at_most 40 for 60000 ms`. */
export function conditionText(condition: Condition): string {
  const { measure, group, at_least, at_most, held_ms, held_blocks } = condition;
  const whose = group === undefined ? '' : ` of ${group}`;
  const bound = at_least === undefined ? `at_most ${at_most}` : `at_least ${at_least}`;
  const held = [
    ...(held_ms > 0 ? [`${held_ms} ms`] : []),
    ...(held_blocks > 0 ? [`${held_blocks} blocks`] : []),
  ];
  return `${measure}${whose} ${bound}${held.length > 0 ? ` for ${held.join(' and ')}` : ''}`;
}
