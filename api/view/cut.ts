/** A part of a span: what a watcher lacks of one, or an answer may hold. Safe in a browser. */
import { type Introduced, type RowKind, type Rows, rowKinds, type Span } from './model.js';

const codeOf = (kind: RowKind) => rowKinds.indexOf(kind);
const bringing = [
  ['agents', codeOf('registered')],
  ['blocks', codeOf('block_proposal')],
  ['memes', codeOf('meme_posted')],
  ['alliances', codeOf('alliance_update')],
] as const;
const registered = codeOf('registered');
const dormancy = codeOf('dormancy');

/** Whether a row is an event, and has a number of its own. */
export const isEvent = (kind: number): boolean => kind !== registered && kind !== dormancy;

/** The first row of a span that is of this entry or a later one; all rows where there is none. */
export function firstRow({ from, rows }: Pick<Span, 'from' | 'rows'>, entry: number): number {
  let low = 0;
  let high = rows.entry.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (from + rows.entry[middle]! < entry) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The entries of a span from `from` to `to`, both inclusive, as far as it has them; columns are
 * views of the same memory. What is cut off at the end takes the digests with it, and the time:
 * that of the last row stands for it, 0 where there is none.
 */
export function cutSpan(span: Span, from: number, to: number): Span {
  const first = Math.max(from, span.from);
  const last = Math.min(to, span.to);
  if (first === span.from && last === span.to) return span;
  if (last < first - 1) throw new RangeError(`a span has no entries ${from} to ${to}`);
  const start = firstRow(span, first);
  const end = firstRow(span, last + 1);
  const whole = last === span.to;
  const rows = rowsOf(span.rows, start, end, first - span.from);
  return {
    from: first,
    to: last,
    event_seq: span.event_seq - eventsIn(span.rows.kind.subarray(end)),
    at: whole ? span.at : (span.rows.at[end - 1] ?? 0),
    digest: whole ? span.digest : '',
    log_digest: whole ? span.log_digest : '',
    rows,
    introduced: introducedIn(span, start, end),
    said: span.said.filter(({ entry }) => entry >= first && entry <= last),
    omitted: span.omitted,
  };
}

function rowsOf(rows: Rows, start: number, end: number, shift: number): Rows {
  const entry = rows.entry.subarray(start, end);
  return {
    entry: shift === 0 ? entry : entry.map((offset) => offset - shift),
    at: rows.at.subarray(start, end),
    kind: rows.kind.subarray(start, end),
    who: rows.who.subarray(start, end),
    what: rows.what.subarray(start, end),
    value: rows.value.subarray(start, end),
  };
}

function eventsIn(kinds: Uint8Array): number {
  let count = 0;
  for (const kind of kinds) if (isEvent(kind)) count += 1;
  return count;
}

function introducedIn({ rows, introduced }: Span, start: number, end: number): Introduced {
  const counts = (from: number, to: number) => {
    const found = new Uint32Array(rowKinds.length);
    for (const kind of rows.kind.subarray(from, to)) found[kind]! += 1;
    return found;
  };
  const before = counts(0, start);
  const within = counts(start, end);
  const part = <T>(list: readonly T[], kind: number) =>
    list.slice(before[kind], before[kind]! + within[kind]!);
  const [agents, blocks, memes, alliances] = bringing.map(([, kind]) => kind) as [
    number,
    number,
    number,
    number,
  ];
  return {
    agents: part(introduced.agents, agents),
    blocks: part(introduced.blocks, blocks),
    memes: part(introduced.memes, memes),
    alliances: part(introduced.alliances, alliances),
  };
}
