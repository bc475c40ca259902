/**
 * Texts that agents said, newest first. Scripted agents say the same about a block by the hundred:
 * equal texts are one line with a count.
 */
import {
  type RowKind,
  rowKinds,
  type Said,
  type SaidKind,
  type Span,
} from '../../../api/view/model.js';
import type { Source } from '../source.js';

export interface SaidLine {
  /** The newest of them. */
  said: Said;
  /** Agents that said the same about the same thing before it. */
  others: number;
}

export interface SaidPage {
  kind: SaidKind | null;
  lines: SaidLine[];
  /** The entry before which the next page begins; null at the beginning of the log. */
  next: number | null;
}

/** Two texts with one key are shown as one line. Each meme has a line. */
export const keyOf = ({ kind, what, text }: Said): string => `${kind} ${what} ${text}`;

/** @param all in the order of the log */
export function groupSaid(all: readonly Said[]): SaidLine[] {
  const lines = new Map<string, SaidLine>();
  for (let place = all.length - 1; place >= 0; place -= 1) addTo(lines, all[place]!);
  return [...lines.values()];
}

function addTo(lines: Map<string, SaidLine>, said: Said): void {
  const key = keyOf(said);
  const line = lines.get(key);
  if (line) line.others += 1;
  else lines.set(key, { said, others: 0 });
}

/** Lines of a page. */
const LINES = 30;
/** Spans that are fetched for one page: a page of a rare kind may be shorter. */
const FETCHES = 24;
/** Entries of a span: a server gives the last 500 texts of one. */
const LEAST_ENTRIES = 500;
const MOST_ENTRIES = 8_000;

const rowsOf: Record<SaidKind, RowKind> = {
  reason: 'block_validation',
  remark: 'consensus_discussion',
  meme: 'meme_posted',
};

/** The texts of a kind, or of all kinds, that were said before an entry. */
export async function saidBefore(
  source: Source,
  { before, kind }: { before: number; kind: SaidKind | null },
): Promise<SaidPage> {
  const lines = new Map<string, SaidLine>();
  let last = before - 1;
  let width = LEAST_ENTRIES;
  for (let fetches = 0; last >= 0 && fetches < FETCHES; ) {
    const from = Math.max(0, last - width + 1);
    const spans = await spansOf(source, from, last);
    fetches += spans.length;
    let first = from;
    for (const span of spans.reverse()) {
      first = firstWhole(span, kind);
      for (let place = span.said.length - 1; place >= 0; place -= 1) {
        const said = span.said[place]!;
        if (said.entry < first || (kind !== null && said.kind !== kind)) continue;
        if (lines.size === LINES && !lines.has(keyOf(said))) {
          return { kind, lines: [...lines.values()], next: said.entry + 1 };
        }
        addTo(lines, said);
      }
      if (first > span.from) break;
    }
    // A span of one entry cannot be made smaller.
    last = from === last ? from - 1 : first - 1;
    width = first === from ? Math.min(MOST_ENTRIES, 2 * width) : Math.ceil(width / 2);
  }
  return { kind, lines: [...lines.values()], next: last < 0 ? null : last + 1 };
}

/** Spans of all entries from one to another: a server ends one where its own pieces end. */
export async function spansOf(source: Source, from: number, to: number): Promise<Span[]> {
  const spans: Span[] = [];
  for (let end = from - 1; end < to; end = spans.at(-1)!.to) {
    const span = await source.columns(end + 1, to);
    if (span.to <= end) throw new Error(`the server gave no entry ${end + 1}`);
    spans.push(span);
  }
  return spans;
}

/** The entry from which on a span has every text of a kind. */
function firstWhole({ from, to, rows, said, omitted }: Span, kind: SaidKind | null): number {
  if (omitted === 0) return from;
  const first = said[0]?.entry ?? to + 1;
  const wanted = kind === null ? null : rowKinds.indexOf(rowsOf[kind]);
  const isOmitted = rows.kind.some(
    (code, row) => from + rows.entry[row]! < first && (wanted === null || code === wanted),
  );
  return isOmitted ? first : from;
}
