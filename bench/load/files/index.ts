/** What a load run leaves in its folder: its result, tables, histograms and a report to look at. */
import { CsvFile } from '../../../report/csv-file.js';
import { prepareFolder } from '../../../report/folder.js';
import { writeWhole } from '../../../report/whole-file.js';
import type { Table } from '../figures/tables.js';
import type { LoadResult } from '../result.js';
import { checked } from './read.js';

export { readLoad } from './read.js';

/** The tables, by name; result.json comes last, so a folder that has it is complete. */
const names = [
  'seconds.csv',
  'latencies.csv',
  'errors.csv',
  'histograms.hlog',
  'report.html',
  'result.json',
];

/**
 * Makes the folder, before a run whose result could not be kept. One that holds a run already is
 * refused.
 * @throws {StoreError} `OTHER_NETWORK` then, `UNREADABLE` when it cannot be used.
 */
export const prepareLoad = (folder: string): Promise<void> => prepareFolder(folder, names);

/**
 * Writes all files of a run; each is whole or not there.
 * @throws {StoreError} as `prepareLoad`, and `UNREADABLE` when a file cannot be written.
 */
export async function writeLoad(result: LoadResult, folder: string): Promise<void> {
  checked(result, (why) => new Error(`the result of the run breaks its own schema: ${why}`));
  await prepareLoad(folder);
  const { histogramLog } = await import('./histogram-log.js');
  const { tablesOf } = await import('../figures/tables.js');
  const { loadReport } = await import('../report/index.js');
  for (const [name, { columns, rows }] of Object.entries<Table>(tablesOf(result))) {
    new CsvFile(folder, name, columns).finishWith(rows);
  }
  writeWhole(folder, 'histograms.hlog', histogramLog(result));
  writeWhole(folder, 'report.html', loadReport(result));
  writeWhole(folder, 'result.json', `${JSON.stringify(result, null, 2)}\n`);
}
