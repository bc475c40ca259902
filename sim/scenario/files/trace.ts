/**
 * Measured latencies as a file: a line for each time in milliseconds, each as likely as the others;
 * or lines of quantile,ms from quantile 0 to 1, with straight lines between them.
 */
import { BadLine, type CsvRow, numberIn, rowsOf } from './rows.js';

/** From a place between 0 and 1 to milliseconds. */
export type Quantile = (place: number) => number;

const MOST_MS = 600_000;
const MOST_ROWS = 1_000_000;
const milliseconds = { what: 'milliseconds', least: 0, most: MOST_MS };
const quantiles = { what: 'a quantile', least: 0, most: 1 };
const heads = new Set(['ms', 'quantile,ms']);

/** @throws {BadLine} */
export function traceOf(text: string): Quantile {
  const all = rowsOf(text);
  const [first] = all;
  const rows = first && heads.has(first.cells.join(',')) ? all.slice(1) : all;
  if (rows.length === 0) throw new BadLine(1, 'has no times; expected a line for each');
  if (rows.length > MOST_ROWS) {
    throw new BadLine(rows[MOST_ROWS]!.line, `is one too many; expected ${MOST_ROWS} at most`);
  }
  const width = rows[0]!.cells.length;
  const odd = rows.find(({ cells }) => cells.length !== width || width > 2);
  if (odd) {
    const expected = width > 2 ? 'ms, or quantile,ms' : `${width} as in the first line`;
    throw new BadLine(odd.line, `has ${odd.cells.length} cells; expected ${expected}`);
  }
  return width === 1 ? sampleOf(rows) : curveOf(rows);
}

/** The inverse of the empirical distribution: the least time that a share of all is not above. */
function sampleOf(rows: readonly CsvRow[]): Quantile {
  const times = Float64Array.from(rows, (row) => numberIn(row, 0, milliseconds)).sort();
  return (place) => times[Math.min(times.length - 1, Math.floor(place * times.length))]!;
}

function curveOf(rows: readonly CsvRow[]): Quantile {
  const places = rows.map((row) => numberIn(row, 0, quantiles));
  const times = rows.map((row) => numberIn(row, 1, milliseconds));
  for (const [index, { line }] of rows.entries()) {
    const [place, before] = [places[index]!, places[index - 1] ?? -1];
    if (index === 0 && place !== 0) throw new BadLine(line, `has quantile ${place}; expected 0`);
    if (place <= before) {
      throw new BadLine(line, `has quantile ${place}; expected one above ${before}`);
    }
    if (times[index]! < (times[index - 1] ?? 0)) {
      throw new BadLine(line, `has ${times[index]} ms; expected ${times[index - 1]} or more`);
    }
  }
  if (places.at(-1) !== 1) {
    throw new BadLine(rows.at(-1)!.line, `has quantile ${places.at(-1)}; expected 1 at the end`);
  }
  return (place) => between(places, times, place);
}

/** On the straight line between the two points around a place. */
function between(places: readonly number[], times: readonly number[], place: number): number {
  let [below, above] = [0, places.length - 1];
  while (above - below > 1) {
    const middle = (below + above) >> 1;
    if (places[middle]! <= place) below = middle;
    else above = middle;
  }
  const share = (place - places[below]!) / (places[above]! - places[below]!);
  return times[below]! + share * (times[above]! - times[below]!);
}
