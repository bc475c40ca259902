/** What a validation is made of: cases, each a known answer from theory beside what is measured. */

/** How much is measured: `small` for tests, `full` for docs/validation.md. */
export const sizes = ['small', 'full'] as const;
export type Size = (typeof sizes)[number];

/** One figure of theory beside the same figure as it was measured. */
export interface Row {
  what: string;
  theory: number;
  /** Set where theory is a lower bound, which the whole interval must reach. */
  atLeast?: true;
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

/** Whether theory lies inside the interval of the measured figure, or below it if it is a bound. */
export function holds({ theory, measured, interval, atLeast }: Row): boolean {
  if (!interval) return theory === measured;
  const [low, high] = interval;
  if (atLeast) return theory <= low;
  return low <= theory && theory <= high;
}

/** Theory as tables show it. */
export const theoryText = ({ theory, atLeast }: Row): string =>
  `${atLeast ? 'at least ' : ''}${digits(theory)}`;

/** Five digits, and never an exponent. */
export const digits = (value: number): string => String(Number(value.toPrecision(5)));

/** As many of it as the size calls for. */
export const scaled = (size: Size, small: number, full: number): number =>
  size === 'full' ? full : small;
