/** Which agents stand together: those of a personality, or of a group of the scenario. */
import { agents } from '../../data/store.js';
import { plain } from '../text.js';
import { groupNames, groupOf } from './groups.js';
import type { Band } from './layout.js';

/** By groups only where the scenario is known. */
export const bandings = ['personality', 'group', 'nothing'] as const;
export type Banding = (typeof bandings)[number];
/** What an agent is one of several of. */
export type Sorting = Exclude<Banding, 'nothing'>;

/** More kinds than that are one band: names of strangers are not to push the page apart. */
const MOST = 24;

export function bandsOf(banding: Banding, count: number): Band[] {
  const all = Array.from({ length: count }, (_, number) => number);
  if (banding === 'nothing') return [{ name: 'agents', numbers: all }];
  const byKind = new Map<string, number[]>(
    kinds(banding)
      .slice(0, MOST)
      .map((kind) => [kind, []]),
  );
  const others: number[] = [];
  for (const number of all) (byKind.get(kindOf(banding, number)) ?? others).push(number);
  return [...byKind, ['others', others] as const]
    .filter(([, numbers]) => numbers.length > 0)
    .map(([name, numbers]) => ({ name: plain(name, 32), numbers }));
}

const kindOf = (sorting: Sorting, number: number): string =>
  sorting === 'group' ? groupOf(number) : (agents.rows[number]?.personality ?? '');

/** Personalities in the order of the alphabet, groups in that of the scenario. */
export function kinds(sorting: Sorting): string[] {
  const known = new Set<string>();
  for (let number = 0; number < agents.count.peek(); number += 1) {
    known.add(kindOf(sorting, number));
  }
  if (sorting === 'group') return groupNames().filter((name) => known.has(name));
  return [...known].sort();
}

/** What an agent is one of: its place among those that there are, and letters that name it. */
export interface Kind {
  place: number;
  letters: string;
}

export function kindsOf(sorting: Sorting): (number: number) => Kind {
  const all = kinds(sorting);
  const letters = (name: string, count: number) => [...name].slice(0, count).join('');
  const isAlone = (name: string) =>
    all.every((other) => other === name || letters(other, 1) !== letters(name, 1));
  const named = (name: string, alone: boolean) => {
    const [first = '', ...more] = letters(name, alone ? 1 : 2);
    return first.toUpperCase() + more.join('');
  };
  const byName = new Map(
    all.map((name, place) => [name, { place, letters: named(name, isAlone(name)) }]),
  );
  return (number) => byName.get(kindOf(sorting, number)) ?? { place: 0, letters: '' };
}
