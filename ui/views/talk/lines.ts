/**
 * Texts of a network that runs, no faster than a reader reads: a few lines a second, and the others
 * are counted.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Said } from '../../../api/view/model.js';
import { position, said, totals } from '../../data/store.js';
import { groupSaid, keyOf, type SaidLine } from '../../player/answers/said.js';

export type Line =
  | ({ is: 'said'; key: string } & SaidLine)
  | { is: 'omitted'; key: string; count: number };

const EVERY_MS = 1_000;
/** Of one look. */
const LINES = 4;
const KEPT = 80;
/** Of what had been said before this page looked. */
const FIRST = 40;

interface Seen {
  entry: number;
  spoken: number;
}

/** Newest first. */
export function useLines(): readonly Line[] {
  const [lines, set] = useState<readonly Line[]>([]);
  const seen = useRef<Seen | null>(null);
  useEffect(() => {
    const look = () => set((before) => looked(before, seen));
    look();
    const timer = setInterval(look, EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  // A reader who goes back begins anew.
  const entry = position.value?.entry ?? 0;
  useEffect(() => {
    if (seen.current && entry < seen.current.entry) {
      seen.current = null;
      set((before) => looked(before, seen));
    }
  }, [entry]);
  return lines;
}

const linesOf = (all: readonly Said[]): readonly Line[] =>
  groupSaid(all).slice(0, FIRST).map(lineOf);

function looked(before: readonly Line[], seen: { current: Seen | null }): readonly Line[] {
  const entry = position.peek()?.entry ?? 0;
  const { remarks = 0, memes = 0 } = totals.peek() ?? {};
  const last = seen.current;
  seen.current = { entry, spoken: remarks + memes };
  const all = said.peek();
  if (!last) return linesOf(all);
  const fresh = all.filter((one) => one.entry > last.entry);
  if (fresh.length === 0) return before;
  const kept = groupSaid(fresh).slice(0, LINES);
  const shown = kept.reduce((sum, { others }) => sum + 1 + others, 0);
  const spoken = Math.max(fresh.length, remarks + memes - last.spoken);
  const omitted = spoken - shown;
  const more: Line[] =
    omitted > 0 ? [{ is: 'omitted', key: `omitted ${entry}`, count: omitted }] : [];
  return [...merged(kept, before), ...more, ...before.filter((line) => !isIn(kept, line))].slice(
    0,
    KEPT,
  );
}

const isIn = (lines: readonly SaidLine[], line: Line): boolean =>
  line.is === 'said' && lines.some(({ said: one }) => keyOf(one) === line.key);

/** A text that is shown already is counted there, and its line becomes the newest. */
function merged(lines: readonly SaidLine[], before: readonly Line[]): Line[] {
  return lines.map((line) => {
    const key = keyOf(line.said);
    const same = before.find((one) => one.is === 'said' && one.key === key);
    const earlier = same?.is === 'said' ? same.others + 1 : 0;
    return lineOf({ said: line.said, others: line.others + earlier });
  });
}

export const lineOf = (line: SaidLine): Line => ({ is: 'said', key: keyOf(line.said), ...line });
