/** Which agents stand together: those of a personality, or of a group of the scenario. */
import { agents } from '../../data/store.js';
import { plain } from '../text.js';
import type { Band } from './layout.js';

export const bandings = ['personality', 'nothing'] as const;
export type Banding = (typeof bandings)[number];

/** More kinds than that are one band: names of strangers are not to push the page apart. */
const MOST = 24;

export function bandsOf(banding: Banding, count: number): Band[] {
  const all = Array.from({ length: count }, (_, number) => number);
  if (banding === 'nothing') return [{ name: 'agents', numbers: all }];
  const byKind = new Map<string, number[]>();
  for (const number of all) {
    const kind = kindAt(number);
    const kept = byKind.has(kind) || byKind.size < MOST ? kind : 'others';
    const list = byKind.get(kept) ?? [];
    list.push(number);
    byKind.set(kept, list);
  }
  return [...byKind]
    .map(([name, numbers]) => ({ name: plain(name, 32), numbers }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

const kindAt = (number: number) => agents.rows[number]?.personality ?? '';

/** Personalities by number, in the order of the alphabet. */
export function kinds(): string[] {
  const known = new Set<string>();
  for (let number = 0; number < agents.count.peek(); number += 1) known.add(kindAt(number));
  return [...known].sort();
}

export function kindsOf(): (number: number) => number {
  const byName = new Map(kinds().map((name, index) => [name, index]));
  return (number) => byName.get(kindAt(number)) ?? 0;
}
