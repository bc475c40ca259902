/** Intervals of what was measured: of a share by the exact binomial, of a mean by Student's t. */
import jstat from 'jstat';

/**
 * Of each interval. With a hundred rows, the chance that theory falls outside any of them although
 * all is right is below one in ten.
 */
export const LEVEL = 0.999;

const { beta, studentt } = jstat.jStat;

/** Clopper and Pearson (1934): at least `LEVEL`, however few there are. */
export function shareInterval(part: number, whole: number): [low: number, high: number] {
  const tail = (1 - LEVEL) / 2;
  const low = part === 0 ? 0 : beta.inv(tail, part, whole - part + 1);
  const high = part === whole ? 1 : beta.inv(1 - tail, part + 1, whole - part);
  return [low, high];
}

export function meanInterval(values: readonly number[]): [low: number, high: number] {
  const n = values.length;
  const mean = meanOf(values);
  const squares = values.reduce((sum, value) => sum + (value - mean) * (value - mean), 0);
  const half = studentt.inv(1 - (1 - LEVEL) / 2, n - 1) * Math.sqrt(squares / (n - 1) / n);
  return [mean - half, mean + half];
}

export const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
