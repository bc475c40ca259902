/**
 * Means, shares, percentiles and the Gini coefficient. Only + - * / and comparisons, whose results
 * IEEE 754 fixes to the bit, so the figures are the same on every machine.
 */

/** To six decimals. */
export const rounded = (value: number): number => Math.round(value * 1e6) / 1e6;

/** Null where there is nothing to take a share of. */
export const share = (part: number, whole: number): number | null =>
  whole === 0 ? null : rounded(part / whole);

/** A mean that grows value by value. */
export class Mean {
  #sum = 0;
  #count = 0;

  add(value: number): void {
    this.#sum += value;
    this.#count += 1;
  }

  get value(): number | null {
    return share(this.#sum, this.#count);
  }
}

/** Nearest rank: the least value that so many percent of all are not above. */
export function percentile(sorted: ArrayLike<number>, percent: number): number | null {
  if (sorted.length === 0) return null;
  return sorted[Math.max(1, Math.ceil((percent * sorted.length) / 100)) - 1]!;
}

/** 0 when all have the same, towards 1 when one has all; null when there is nothing to have. */
export function gini(values: readonly number[]): number | null {
  const sorted = Float64Array.from(values).sort();
  let sum = 0;
  let ranked = 0;
  for (const [index, value] of sorted.entries()) {
    sum += value;
    ranked += (index + 1) * value;
  }
  if (sum === 0) return null;
  const n = sorted.length;
  return rounded((2 * ranked) / (n * sum) - (n + 1) / n);
}
