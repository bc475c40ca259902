/**
 * Layout of the agent grid: one band per personality, one per scenario group, or a single band.
 * Cells appear in registration order, as large as the space permits.
 */
import { agents } from '../data/store.js';
import { cleanText } from './labels.js';
import { groups } from './requests.js';

/** Returns how agents are grouped by default: by scenario group, unless all are in one group. */
export const getMainSorting = (): Sorting =>
  (groups.value?.names.length ?? 0) > 1 ? 'group' : 'personality';

/** Band for agents outside the scenario. */
const NO_GROUP = 'no group';

export function getGroup(number: number): string {
  const known = groups.value;
  const place = known?.places.get(agents.rows[number]?.id ?? '');
  return place === undefined ? NO_GROUP : known!.names[place]!;
}

const groupNames = (): string[] => [...(groups.value?.names ?? []), NO_GROUP];

interface Band {
  name: string;
  numbers: readonly number[];
}

interface PlacedBand extends Band {
  /** Top of the first row, in CSS pixels. */
  top: number;
  height: number;
}

export interface Layout {
  /** Distance between cells, in CSS pixels. */
  pitch: number;
  columns: number;
  width: number;
  height: number;
  bands: readonly PlacedBand[];
  /** Position by agent number, in CSS pixels; -1 for agents that are not shown. */
  x: Int32Array;
  y: Int32Array;
  /** Agent numbers in cell order. */
  order: Int32Array;
}

const LARGEST_CELL = 120;
const SMALLEST_CELL = 5;
/** Height of a band's label, in CSS pixels. */
const LABEL_HEIGHT = 20;

export function layOut(bands: readonly Band[], count: number, width: number, room: number): Layout {
  const labels = bands.length > 1 ? LABEL_HEIGHT : 0;
  const heightAt = (pitch: number) => {
    const columns = Math.max(1, Math.floor(width / pitch));
    return bands.reduce(
      (sum, { numbers }) => sum + Math.ceil(numbers.length / columns) * pitch + labels,
      0,
    );
  };
  let pitch = LARGEST_CELL;
  while (pitch > SMALLEST_CELL && heightAt(pitch) > room) pitch -= 1;
  const columns = Math.max(1, Math.floor(width / pitch));
  const x = new Int32Array(count).fill(-1);
  const y = new Int32Array(count).fill(-1);
  const order = new Int32Array(bands.reduce((sum, { numbers }) => sum + numbers.length, 0));
  let top = 0;
  let next = 0;
  const placed = bands.map((band) => {
    top += labels;
    for (const [place, number] of band.numbers.entries()) {
      x[number] = (place % columns) * pitch;
      y[number] = top + Math.floor(place / columns) * pitch;
      order[next] = number;
      next += 1;
    }
    const height = Math.ceil(band.numbers.length / columns) * pitch;
    const here = { ...band, top, height };
    top += height;
    return here;
  });
  return { pitch, columns, width, height: top, bands: placed, x, y, order };
}

/** Returns the agent at a point, or null. */
export function findAgentAt(
  { bands, pitch, columns }: Layout,
  x: number,
  y: number,
): number | null {
  const band = bands.find(({ top, height }) => y >= top && y < top + height);
  const column = Math.floor(x / pitch);
  if (!band || column < 0 || column >= columns) return null;
  return band.numbers[Math.floor((y - band.top) / pitch) * columns + column] ?? null;
}

/** Returns the agent that an arrow key selects. */
export function neighbour({ order, columns }: Layout, from: number, key: string): number | null {
  const place = order.indexOf(from);
  const steps: Record<string, number> = {
    ArrowLeft: -1,
    ArrowRight: 1,
    ArrowUp: -columns,
    ArrowDown: columns,
    Home: -place,
    End: order.length - 1 - place,
    PageUp: -10 * columns,
    PageDown: 10 * columns,
  };
  const step = steps[key];
  if (step === undefined || order.length === 0) return null;
  return order[Math.min(order.length - 1, Math.max(0, place + step))]!;
}

/** `group` is offered only where a scenario is loaded. */
export const bandings = ['personality', 'group', 'nothing'] as const;
export type Banding = (typeof bandings)[number];
type Sorting = Exclude<Banding, 'nothing'>;

/** Further kinds share one band, because any agent may register with any personality. */
const MOST_BANDS = 24;

export function createBands(banding: Banding, count: number): Band[] {
  const all = Array.from({ length: count }, (_, number) => number);
  if (banding === 'nothing') return [{ name: 'agents', numbers: all }];
  const byKind = new Map<string, number[]>(
    kinds(banding)
      .slice(0, MOST_BANDS)
      .map((kind) => [kind, []]),
  );
  const others: number[] = [];
  for (const number of all) (byKind.get(kindOf(banding, number)) ?? others).push(number);
  return [...byKind, ['others', others] as const]
    .filter(([, numbers]) => numbers.length > 0)
    .map(([name, numbers]) => ({ name: cleanText(name, 32), numbers }));
}

export const kindOf = (sorting: Sorting, number: number): string =>
  sorting === 'group' ? getGroup(number) : (agents.rows[number]?.personality ?? '');

/** Personalities in alphabetical order, groups in scenario order. */
export function kinds(sorting: Sorting): string[] {
  const known = new Set<string>();
  for (let number = 0; number < agents.count.peek(); number += 1) {
    known.add(kindOf(sorting, number));
  }
  if (sorting === 'group') return groupNames().filter((name) => known.has(name));
  return [...known].sort();
}

/** Index of a kind, and the one or two letters drawn in its cells. */
export interface Kind {
  place: number;
  letters: string;
}

export function createKindLookup(sorting: Sorting): (number: number) => Kind {
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
