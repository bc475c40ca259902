/** What blocks.csv says of when and how each block ended, as the charts of a run need it. */
import { numberOf, type TableRow } from '../../../report/read.js';
import { type OutcomeName, outcomeNames } from '../../../report/shared/outcomes.js';

export interface ClosedBlock {
  height: number;
  hash: string;
  status: OutcomeName;
  closedMs: number;
  /** Null unless finalized. */
  finalityMs: number | null;
}

/** Null of a block that was still open at the end. */
export function closedBlock(row: TableRow): ClosedBlock | null {
  const { status, closed_ms, finality_ms } = row;
  const name = outcomeNames.find((one) => one === status);
  const closedMs = numberOf(closed_ms);
  if (!name || closedMs === null) return null;
  const [height, hash] = [numberOf(row.height) ?? 0, row.block_hash ?? ''];
  return { height, hash, status: name, closedMs, finalityMs: numberOf(finality_ms) };
}

/** A time in which nothing became final, far longer than what is usual in this run. */
export interface Outage {
  fromMs: number;
  toMs: number;
}

/** An outage is so many times the usual time between two blocks, and such a part of the run. */
const TIMES = 5;
const PART = 0.02;

/** @param closings of the finalized blocks, ascending. */
export function outagesOf(closings: readonly number[], endMs: number): Outage[] {
  if (closings.length < 3) return [];
  const gaps = closings.slice(1).map((ms, index) => ms - closings[index]!);
  const usual = gaps.toSorted((a, b) => a - b)[gaps.length >> 1]!;
  const least = Math.max(TIMES * usual, PART * endMs);
  const marks = [0, ...closings, endMs];
  return marks.slice(1).flatMap((toMs, index) => {
    const fromMs = marks[index]!;
    return toMs - fromMs > least ? [{ fromMs, toMs }] : [];
  });
}
