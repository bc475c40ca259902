/** The cell that all others are compared with. */
import type { Sweep } from '../../scenario/schema/sweep.js';
import { type Cell, cellsOf, columnOf } from './cells.js';

/** Null where none is named, or none has these values. */
export function baselineOf(sweep: Sweep, seed: string): Cell | null {
  const { baseline, factors } = sweep;
  if (!baseline) return null;
  for (const cell of cellsOf(sweep, seed)) {
    if (factors.every((factor, at) => cell.values[at] === baseline[columnOf(factor)])) return cell;
  }
  return null;
}
