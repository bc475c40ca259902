/** Reads of rows in memory over rows of a store, as if all were in one. */
import { compareKeys, keyId } from '../keys.js';
import type { RangeOptions, RecordKey } from '../store.js';
import type { Change } from './layer.js';

type Found = { key: RecordKey; json: string };

/** Records of a range, changes laid over those of the store; both in the range's order. */
export function* recordsOver(
  stored: Iterable<Found>,
  changes: readonly Change[],
  { reverse = false, limit = Number.POSITIVE_INFINITY }: RangeOptions,
): Generator<Found, void> {
  let given = 0;
  for (const found of merged(stored, changes, reverse)) {
    if (given === limit) return;
    given += 1;
    yield found;
  }
}

function* merged(
  stored: Iterable<Found>,
  changes: readonly Change[],
  reverse: boolean,
): Generator<Found, void> {
  let next = 0;
  for (const found of stored) {
    let replaced = false;
    for (; next < changes.length; next += 1) {
      const change = changes[next]!;
      const order = compareKeys(change.key, found.key);
      if (reverse ? order < 0 : order > 0) break;
      if (order === 0) replaced = true;
      yield* shown(change);
    }
    if (!replaced) yield found;
  }
  for (; next < changes.length; next += 1) yield* shown(changes[next]!);
}

function* shown({ key, json }: Change): Generator<Found, void> {
  if (json !== null) yield { key, json };
}

/** The newest change of each record, in the order of a range; `lists` from oldest to newest. */
export function newest(lists: readonly Change[][], { reverse = false }: RangeOptions): Change[] {
  const last = new Map<string, Change>();
  for (const list of lists) for (const change of list) last.set(keyId(change.key), change);
  const sorted = [...last.values()].sort((a, b) => compareKeys(a.key, b.key));
  return reverse ? sorted.reverse() : sorted;
}

/**
 * Numbered rows of a store, and after them those in memory.
 * @param stored gives those from one number to another, both inclusive.
 */
export function rowsOver<Row extends { seq: number }>(
  stored: (from: number, to: number) => Iterable<Row>,
  laid: readonly (readonly Row[])[],
  from: number,
  to: number,
): Iterable<Row> {
  const first = laid.find((rows) => rows.length > 0)?.[0]?.seq;
  if (first === undefined || to < first) return stored(from, to);
  // As of now: what is written before they are read is no longer in memory then.
  const rows = laid.flatMap((some) => within(some, from, to));
  const below = () => (from < first ? stored(from, first - 1) : []);
  return chained(below, () => rows);
}

/** Rows without a gap, from one number to another, both inclusive. */
function within<Row extends { seq: number }>(rows: readonly Row[], from: number, to: number) {
  const first = rows[0]?.seq ?? 0;
  return rows.slice(Math.max(0, from - first), Math.max(0, to - first + 1));
}

/** One after the other, up to a limit. */
export function* chained<Row>(
  first: () => Iterable<Row>,
  then: () => Iterable<Row>,
  limit = Number.POSITIVE_INFINITY,
): Generator<Row, void> {
  let left = limit;
  for (const part of [first, then]) {
    if (left === 0) return;
    for (const row of part()) {
      yield row;
      left -= 1;
      if (left === 0) return;
    }
  }
}
