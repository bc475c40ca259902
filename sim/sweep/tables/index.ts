/** The tables of a sweep, made in some passes over its finished runs, in their order. */
import type { Cell } from '../design/cells.js';
import type { RunRecord } from '../record.js';
import type { Finished } from '../runs.js';
import { measureNames } from './columns.js';
import { writeDifferences } from './differences.js';
import { writeIndices } from './indices.js';
import { ownMeasures } from './own.js';
import { writeRuns } from './runs.js';
import { writeSummary } from './summary.js';

/** @param each is shown every record on the way. */
export function writeTables(
  path: string,
  sweep: Finished,
  each: (record: RunRecord, cell: Cell) => void,
): void {
  const own = ownMeasures(sweep);
  writeRuns(path, sweep, own, each);
  const names = [...measureNames, ...own.run];
  writeSummary(path, sweep, names);
  writeDifferences(path, sweep, names);
  writeIndices(path, sweep);
}
