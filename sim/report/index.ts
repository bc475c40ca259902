/** Reports: one HTML file out of what a run or a sweep has left in its folder. */
import { writeWhole } from '../../report/whole-file.js';

/**
 * Writes report.html of a kept run. Drawing is loaded when it is needed: most runs draw nothing.
 * @throws {StoreError} `UNREADABLE` when the folder holds no finished run or cannot be written.
 */
export async function writeRunReport(folder: string): Promise<void> {
  const { runReport } = await import('./run.js');
  writeWhole(folder, 'report.html', await runReport(folder));
}

/**
 * Writes report.html of a sweep.
 * @throws {StoreError} `UNREADABLE` when the folder holds no finished sweep or cannot be written.
 */
export async function writeSweepReport(folder: string): Promise<void> {
  const { sweepReport } = await import('./sweep.js');
  writeWhole(folder, 'report.html', await sweepReport(folder));
}
