/** A shape for each colour: personalities are told apart without it, too. */

/** Kinds that have a colour of their own; the others share one. */
export const COLORS = 7;

const shapes = [
  'M5 0A5 5 0 1 0-5 0A5 5 0 1 0 5 0Z',
  'M-4.4-4.4H4.4V4.4H-4.4Z',
  'M0-6 5.4 4.2H-5.4Z',
  'M0-6 5.4 0 0 6-5.4 0Z',
  'M0 6 5.4-4.2H-5.4Z',
  'M-1.8-5.5H1.8V-1.8H5.5V1.8H1.8V5.5H-1.8V1.8H-5.5V-1.8H-1.8Z',
  'M-5.5-2.5 0-6 5.5-2.5 3.4 4.6H-3.4Z',
  'M2.6 0A2.6 2.6 0 1 0-2.6 0A2.6 2.6 0 1 0 2.6 0Z',
] as const;

/** An outline around 0, of some ten units. */
export const shapeOf = (index: number): string => shapes[Math.min(index, COLORS)]!;
