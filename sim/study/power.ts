/**
 * Numbers of runs for a stated effect, and the effect that a number of runs can show. Two rates are
 * compared at both sides by the normal approximation, with the pooled rate under no effect (Fleiss,
 * Levin and Paik 2003, Statistical Methods for Rates and Proportions, section 4.2). The runs of
 * both arms share their seeds, so their difference is often more precise than the formula assumes.
 */
import { normalQuantile } from '../numbers.js';

export interface Wanted {
  /** Two-sided probability of a false positive. */
  error: number;
  /** Probability to show the effect. */
  power: number;
  /** Factor by which runs with one question carry less information: 1 for independent runs. */
  inflation?: number;
}

/** Returns the number of runs in each arm; null if the rates are equal. */
export function countNeeded(rates: readonly number[], wanted: Wanted): number | null {
  const [a = 0, b = 0] = rates;
  if (a === b) return null;
  const { error, power, inflation = 1 } = wanted;
  const middle = (a + b) / 2;
  const root =
    normalQuantile(1 - error / 2) * Math.sqrt(2 * middle * (1 - middle)) +
    normalQuantile(power) * Math.sqrt(a * (1 - a) + b * (1 - b));
  const least = (root * root) / ((a - b) * (a - b));
  return Math.max(2, Math.ceil(least * inflation));
}

/**
 * Returns the smallest differences up and down from a rate that this number of runs in each arm
 * shows; null for a direction in which no possible difference is large enough.
 */
export function findDetectable(
  rate: number,
  runs: number,
  wanted: Wanted,
): { up: number | null; down: number | null } {
  const find = (end: number): number | null => {
    const isShown = (difference: number) => {
      const needed = countNeeded([rate, rate + difference], wanted);
      return needed !== null && needed <= runs;
    };
    const most = end - rate;
    if (runs < 2 || !isShown(most)) return null;
    let [hidden, shown] = [0, most];
    for (let step = 0; step < 50; step += 1) {
      const middle = (hidden + shown) / 2;
      if (isShown(middle)) shown = middle;
      else hidden = middle;
    }
    return Math.abs(shown);
  };
  return { up: find(1), down: find(0) };
}

/** Design effect of clusters of equal size (Kish 1965). */
export const inflationOf = (size: number, correlation: number): number =>
  1 + (size - 1) * correlation;
