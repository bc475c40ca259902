/** How much a span may be, and where it is cut for it. */
import { firstRow, type Span } from '../index.js';

/** How much a span may be. */
export interface SpanBounds {
  /** Rows, but never less than those of one entry. */
  rows?: number;
  /** Of what was said, the last so many texts. */
  said?: number;
}

/** The last entry up to which a span has so many rows from an entry on; that entry at the least. */
export function within(span: Span, from: number, to: number, rows: number): number {
  const last = Math.min(to, span.to);
  const start = firstRow(span, from);
  if (firstRow(span, last + 1) - start <= rows) return last;
  const beyond = span.from + span.rows.entry[start + rows]!;
  return Math.max(from, beyond - 1);
}
