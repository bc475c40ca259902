/** Text of a load run: verdict, facts and tables. */
import { early } from '../../../bench/load/compare.js';
import { describeLoad } from '../../../bench/load/model.js';
import type { LoadResult } from '../../../bench/load/result.js';
import { alignColumns, formatValue } from '../../../report/shared/format.js';

export function loadSummary(result: LoadResult): string[] {
  const { facts, tables } = describeLoad(result, result);
  const rows = [
    ['verdict', verdictText(result)],
    ...result.reasons.map((reason) => ['', reason]),
    ...facts.flatMap(({ rows: all }) =>
      all.map(({ name, value, unit, note }) => {
        const text = formatValue(value, unit);
        return [name, note === '' ? text : `${text} (${note})`];
      }),
    ),
  ];
  const width = Math.max(...rows.map(([name]) => name!.length));
  return [
    ...rows.map(([name, value]) => `${name!.padEnd(width)}  ${value}`),
    // Each probe was printed when it ended.
    ...tables
      .filter(({ id }) => id !== 'probes')
      .flatMap(({ title, note, columns, rows: cells }) => [
        '',
        note === '' ? title : `${title}: ${note}`,
        ...alignColumns(
          [
            columns.map(({ name }) => name),
            ...cells.map((row) =>
              row.map((cell, index) => formatValue(cell, columns[index]!.unit)),
            ),
          ],
          columns.flatMap(({ unit }, index) => (unit === 'text' ? index : [])),
        ),
      ]),
  ];
}

/** Adds the reason for an early end. */
const verdictText = (result: LoadResult): string =>
  result.ended === 'complete' ? result.verdict : `${result.verdict}; the run ${early(result)}`;
