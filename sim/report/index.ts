/** Writes HTML reports of saved runs, sweeps and comparisons. */
import { basename, dirname } from 'node:path';
import { writeWhole } from '../../report/folder.js';
import type { ComparisonInput } from './comparison.js';

/**
 * Writes report.html of a saved run. The chart code is loaded on demand: most runs draw nothing.
 *
 * @throws {StoreError} `UNREADABLE` if the folder holds no finished run or cannot be written.
 */
export async function writeRunReport(folder: string): Promise<void> {
  const { runReport } = await import('./run.js');
  writeWhole(folder, 'report.html', await runReport(folder));
}

/**
 * Writes report.html of a sweep.
 *
 * @throws {StoreError} `UNREADABLE` if the folder holds no finished sweep or cannot be written.
 */
export async function writeSweepReport(folder: string): Promise<void> {
  const { sweepReport } = await import('./sweep.js');
  writeWhole(folder, 'report.html', await sweepReport(folder));
}

/**
 * Writes the page that compares two saved runs.
 *
 * @throws {StoreError} `UNREADABLE` if a folder holds no finished run or the file cannot be
 * written.
 */
export async function writeComparison(compared: ComparisonInput): Promise<void> {
  const { comparisonPage } = await import('./comparison.js');
  const { file } = compared;
  writeWhole(dirname(file), basename(file), await comparisonPage(compared));
}
