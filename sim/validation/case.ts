/** What a validation is made of: cases, each a known answer from theory beside what is measured. */

/** How much is measured: `small` for tests, `full` for docs/validation.md. */
export const sizes = ['small', 'full'] as const;
export type Size = (typeof sizes)[number];

/** One figure of theory beside the same figure as it was measured. */
export interface Row {
  what: string;
  theory: number;
  measured: number;
  /** Of what was measured; null where theory leaves nothing to luck: both are equal. */
  interval: readonly [low: number, high: number] | null;
  /** What the measured figure rests on, as `2000 blocks`. */
  from: string;
}

export interface ValidationCase {
  name: string;
  /** What is asked, and why the answer is known. */
  about: string;
  /** Where the answer is from. */
  source: string;
  rows(size: Size): Promise<Row[]>;
}

/** Whether theory lies inside the interval of what was measured. */
export function holds({ theory, measured, interval }: Row): boolean {
  if (!interval) return theory === measured;
  const [low, high] = interval;
  return low <= theory && theory <= high;
}

/** As many of it as the size calls for. */
export const scaled = (size: Size, small: number, full: number): number =>
  size === 'full' ? full : small;
