/** indices.csv: what a morris or sobol design says of each factor and response. */
import { CsvFile } from '../../../report/csv-file.js';
import { columnOf } from '../design/cells.js';
import { indicesOf } from '../indices/index.js';
import { type Finished, valuesIn } from '../runs.js';
import { Sample } from '../statistics/sample.js';
import type { Column, CsvCell } from './columns.js';

const columns = ['response', 'factor', 'index', 'n', 'value', 'low', 'high'] as const;
columns satisfies readonly Column<'indices.csv'>[];

/** The effects or shares of each response; nothing for other designs. */
export function writeIndices(path: string, sweep: Finished): void {
  const { design } = sweep.plan.sweep;
  if (design !== 'morris' && design !== 'sobol') return;
  new CsvFile(path, 'indices.csv', columns).finishWith(indexRows(sweep));
}

function* indexRows(finished: Finished): Generator<CsvCell[]> {
  const { sweep, scenario } = finished.plan;
  const { factors, responses } = sweep;
  const means = meansOf(finished);
  for (const [at, response] of responses.entries()) {
    for (const row of indicesOf(sweep, scenario.seed, response, means[at]!)) {
      const { factor, index, n, value, low, high } = row;
      yield [response, columnOf(factors[factor]!), index, n, value, low, high];
    }
  }
}

/** Of each response in each cell: the mean of its runs. */
function meansOf({ plan, cells }: Finished): (number | null)[][] {
  const { responses } = plan.sweep;
  const means = responses.map((): (number | null)[] => []);
  for (const { records } of cells()) {
    for (const [at, response] of responses.entries()) {
      means[at]!.push(Sample.of(valuesIn(records, response)).moments()?.mean ?? null);
    }
  }
  return means;
}
