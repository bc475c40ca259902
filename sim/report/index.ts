/** Writes HTML reports for saved runs, sweeps and comparisons. */
import { basename, dirname } from 'node:path';
import { writeWhole } from '../../report/folder.js';
import type { DescribedRecount } from '../rules/recount.js';
import type { ComparisonInput } from './comparison.js';

/**
 * Writes a saved run's report.html. The chart code is loaded on demand, because most runs draw
 * nothing.
 *
 * @throws {StoreError} `UNREADABLE` if the folder contains no finished run or is not writable.
 */
export async function writeRunReport(folder: string): Promise<void> {
  const { runReport } = await import('./run.js');
  writeWhole(folder, 'report.html', await runReport(folder));
}

/**
 * Writes a sweep's report.html.
 *
 * @throws {StoreError} `UNREADABLE` if the folder contains no finished sweep or is not writable.
 */
export async function writeSweepReport(folder: string): Promise<void> {
  const { sweepReport } = await import('./sweep.js');
  writeWhole(folder, 'report.html', await sweepReport(folder));
}

/**
 * Writes the page that compares two saved runs.
 *
 * @throws {StoreError} `UNREADABLE` if a folder contains no finished run or the file cannot be
 * written.
 */
export async function writeComparison(compared: ComparisonInput): Promise<void> {
  const { comparisonPage } = await import('./comparison.js');
  const { file } = compared;
  writeWhole(dirname(file), basename(file), await comparisonPage(compared));
}

/** Writes the page about a recount. @throws {StoreError} `UNREADABLE` if writing fails. */
export async function writeRecount(file: string, found: DescribedRecount): Promise<void> {
  const { recountPage } = await import('./recount.js');
  writeWhole(dirname(file), basename(file), recountPage(found));
}
