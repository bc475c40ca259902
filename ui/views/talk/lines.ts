/**
 * What is said, no faster than somebody can read: so many lines a second, the rest counted. Where
 * the page stands, it is all that was said last, however one came there.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Said } from '../../../api/view/model.js';
import { clock, position, said, totals } from '../../data/store.js';

export type Line =
  | { is: 'said'; key: string; said: Said }
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
  // Whoever goes back, or far ahead, begins anew.
  const entry = position.value?.entry ?? 0;
  const { mode, follows } = clock.value;
  const latest = said.value;
  useEffect(() => {
    if (seen.current && entry < seen.current.entry) {
      seen.current = null;
      set((before) => looked(before, seen));
    }
  }, [entry]);
  return mode === 'paused' || !follows ? linesOf(latest) : lines;
}

const linesOf = (all: readonly Said[]): readonly Line[] => all.slice(-FIRST).map(lineOf).reverse();

function looked(before: readonly Line[], seen: { current: Seen | null }): readonly Line[] {
  const entry = position.peek()?.entry ?? 0;
  const { remarks = 0, memes = 0 } = totals.peek() ?? {};
  const last = seen.current;
  seen.current = { entry, spoken: remarks + memes };
  const all = said.peek();
  if (!last) return linesOf(all);
  const fresh = all.filter((one) => one.entry > last.entry);
  if (fresh.length === 0) return before;
  const kept = fresh.slice(-LINES);
  const spoken = Math.max(fresh.length, remarks + memes - last.spoken);
  const omitted = spoken - kept.length;
  const more: Line[] =
    omitted > 0 ? [{ is: 'omitted', key: `omitted ${entry}`, count: omitted }] : [];
  return [...kept.map(lineOf).reverse(), ...more, ...before].slice(0, KEPT);
}

const lineOf = (one: Said, index: number): Line => ({
  is: 'said',
  key: `${one.entry} ${one.who} ${one.kind} ${index}`,
  said: one,
});
