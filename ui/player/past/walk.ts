/** Goes through a run from its first entry and keeps pictures: then seeking asks nobody. */
import { applySpan, emptyPicture, type PictureOf } from '../../../api/view/fold.js';
import type { Picture, Span } from '../../../api/view/model.js';
import type { Keyframes } from './keyframes.js';
import type { Tape } from './tape.js';

export interface Walk {
  /** Of which network. */
  from: PictureOf;
  tape: Tape;
  keyframes: Keyframes;
  /** Rows between two pictures that are kept. */
  everyRows: number;
  /** Whether to go on after an entry. */
  wants(entry: number): boolean;
  /** Brings the spans from an entry on. */
  fetch(entry: number): Promise<void>;
}

/** @throws what fetching throws */
export async function walkThrough({ from, tape, wants, fetch, ...keeping }: Walk): Promise<void> {
  const scout = emptyPicture(from);
  const walked = { ...keeping, scout, rows: 0 };
  while (wants(scout.entry)) {
    const next = scout.entry + 1;
    if (tape.reach(next) < next) await fetch(next);
    // There is no room for all of it: what is far from the reader does not stay.
    if (tape.reach(next) < next) return;
    for (const span of tape.between(next, Number.POSITIVE_INFINITY)) {
      if (span.from > scout.entry + 1) break;
      through(walked, span);
    }
    // Between pages the page is served.
    await new Promise((resolve) => setTimeout(resolve));
  }
}

interface Walked extends Pick<Walk, 'keyframes' | 'everyRows'> {
  scout: Picture;
  rows: number;
}

/** In pieces: a span may hold a million rows. */
function through(walked: Walked, span: Span): void {
  const { scout, keyframes, everyRows } = walked;
  const rows = span.rows.entry.length;
  const pieces = Math.max(1, Math.ceil(rows / everyRows));
  const piece = Math.ceil((span.to - span.from + 1) / pieces);
  while (scout.entry < span.to) {
    applySpan(scout, span, Math.min(span.to, scout.entry + piece));
    walked.rows += rows / pieces;
    if (walked.rows < everyRows) continue;
    keyframes.keep(scout);
    walked.rows = 0;
  }
}
