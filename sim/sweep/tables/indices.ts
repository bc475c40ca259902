/** indices.csv: what a morris or sobol design says of each factor and response. */
import { CsvFile } from '../../../report/csv-file.js';
import { columnOf } from '../design/cells.js';
import { indicesOf } from '../indices/index.js';
import { type Finished, valuesIn } from '../runs.js';
import { Sample } from '../statistics/sample.js';
import { type Column, type CsvCell, endsOf } from './columns.js';

const figures = ['n', 'value', 'low', 'high'] as const;
const gaps = ['missing', 'with_least', 'with_most'] as const;
const columns = ['response', 'factor', 'index', ...figures, ...gaps] as const;
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
    const values = means[at]!;
    const filled = filledWith(values, response).map((filling) =>
      indicesOf(sweep, scenario.seed, response, filling),
    );
    for (const [place, row] of indicesOf(sweep, scenario.seed, response, values).entries()) {
      const { factor, index, n, value, low, high } = row;
      const [least = row, most = row] = filled.map((rows) => rows[place]!);
      const lead = [response, columnOf(factors[factor]!), index, n, value, low, high];
      yield [...lead, least.n - n, least.value, most.value];
    }
  }
}

/**
 * The means with the missing ones replaced: by the least and by the most that the measure can be,
 * or that some cell has where the measure is not bounded. Empty where none is missing.
 */
function filledWith(values: readonly (number | null)[], response: string): (number | null)[][] {
  const known = values.filter((value) => value !== null);
  if (known.length === values.length) return [];
  const { least, most } = endsOf(response);
  const { least: smallest = 0, most: largest = 0 } = Sample.of(known).moments() ?? {};
  const ends = Number.isFinite(most) ? [least, most] : [smallest, largest];
  return ends.map((end) => values.map((value) => value ?? end));
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
