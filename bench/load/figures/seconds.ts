/** A run's seconds as pictures need them: whole ones, and some of them as one step. */
import type { LoadResult, Second } from '../result.js';

/** Some seconds that are drawn as one point. */
export type Step = readonly Second[];

/** Without the part of a second at the end, whose counts would look like a collapse. */
export function wholeSeconds({
  seconds,
  measured_s,
}: Pick<LoadResult, 'seconds' | 'measured_s'>): readonly Second[] {
  const full = seconds.slice(0, Math.floor(measured_s + 0.001));
  return full.length > 0 ? full : seconds;
}

export const mean =
  (name: 'intended' | 'accepted' | 'failed' | 'finalized_transactions') =>
  (step: Step): number =>
    step.reduce((sum, second) => sum + second[name], 0) / step.length;

export const worst = (step: Step, name: keyof Second): number | null =>
  extreme(step, name, Math.max);

/** Null where no second has one. */
export function extreme(
  seconds: readonly Second[],
  name: keyof Second,
  of: (a: number, b: number) => number,
): number | null {
  return seconds.reduce<number | null>((found, second) => {
    const value = second[name] ?? null;
    return value === null ? found : found === null ? value : of(found, value);
  }, null);
}
