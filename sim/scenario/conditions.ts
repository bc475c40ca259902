/** The conditions that end a run, however the scenario writes them; and each in words. */
import type { ConditionMeasure } from './schema/length.js';
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

/** All of them; `reaches` is the short form of `at_least`. */
export function conditionsOf({ until = [] }: Scenario['length']): Condition[] {
  const list = Array.isArray(until) ? until : [until];
  return list.map(({ reaches, held_ms = 0, held_blocks = 0, ...rest }) => ({
    ...rest,
    ...(reaches === undefined ? {} : { at_least: reaches }),
    held_ms,
    held_blocks,
  }));
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
