/** What the tables of a sweep share: the columns of the factors, and what is measured. */
import { boundsOf } from '../../../report/shared/measures/titles.js';
import { type MeasureName, measures, type sweepTables } from '../../measure/dictionary.js';
import { type Cell, columnOf } from '../design/cells.js';
import type { Outline } from '../plan.js';

export type CsvCell = string | number | null;
export type Column<T extends keyof typeof sweepTables> = keyof (typeof sweepTables)[T] & string;

export const measureNames = Object.keys(measures) as MeasureName[];

export const factorColumns = ({ sweep }: Outline): string[] => sweep.factors.map(columnOf);

/** In the order of these columns. */
export const shownValues = ({ values }: Cell): string[] => values.map(String);

/** Between which numbers a measure lies. */
export function endsOf(name: string): { least: number; most: number } {
  const { least, most } = boundsOf(name);
  return { least, most: most ?? Number.POSITIVE_INFINITY };
}
