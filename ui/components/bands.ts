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

/** A band's cells, in CSS pixels. */
interface PlacedBand extends Band {
  left: number;
  top: number;
  width: number;
  height: number;
}

export interface Layout {
  /** Distance between cells, in CSS pixels. */
  pitch: number;
  width: number;
  height: number;
  bands: readonly PlacedBand[];
  /** Position by agent number, in CSS pixels; -1 for agents that are not shown. */
  x: Int32Array;
  y: Int32Array;
  /** Agent numbers in cell order. */
  order: Int32Array;
}

const LARGEST_CELL = 190;
const SMALLEST_CELL = 5;
/** Least distance between bands that are side by side. */
const BAND_GAP = 18;
/** Least width of a band that has others beside it, which its label needs. */
export const LEAST_BAND = 70;
/** Height of a band's label, in CSS pixels. */
const LABEL_HEIGHT = 20;

/** Places bands in rows of equally wide columns, as many as permit the largest cells. */
export function layOut(bands: readonly Band[], count: number, width: number, room: number): Layout {
  const labels = bands.length > 1 ? LABEL_HEIGHT : 0;
  const place = (across: number, pitch: number) => {
    const wide = (width + BAND_GAP) / across;
    const columns = Math.max(1, Math.floor((wide - BAND_GAP) / pitch));
    let [top, next] = [0, 0];
    const placed = bands.map((band, index): PlacedBand => {
      if (index % across === 0) top = next + labels;
      const height = Math.ceil(band.numbers.length / columns) * pitch;
      next = Math.max(next, top + height);
      const left = Math.floor((index % across) * wide);
      return { ...band, left, top, width: columns * pitch, height };
    });
    return { placed, pitch, height: next };
  };
  const largest = (across: number) => {
    const wide = Math.floor((width + BAND_GAP) / across) - BAND_GAP;
    let pitch = Math.max(SMALLEST_CELL, Math.min(LARGEST_CELL, wide));
    while (pitch > SMALLEST_CELL && place(across, pitch).height > room) pitch -= 1;
    return place(across, pitch);
  };
  const most = Math.max(1, Math.floor((width + BAND_GAP) / (LEAST_BAND + BAND_GAP)));
  const tried = bands.slice(0, most).map((_, index) => largest(index + 1));
  const { placed, pitch, height } = tried.reduce((best, one) =>
    one.pitch > best.pitch || (one.pitch === best.pitch && one.height < best.height) ? one : best,
  );
  const x = new Int32Array(count).fill(-1);
  const y = new Int32Array(count).fill(-1);
  for (const { numbers, left, top, width: wide } of placed) {
    for (const [index, number] of numbers.entries()) {
      x[number] = left + (index % (wide / pitch)) * pitch;
      y[number] = top + Math.floor(index / (wide / pitch)) * pitch;
    }
  }
  const order = Int32Array.from(placed.flatMap(({ numbers }) => numbers));
  return { pitch, width, height, bands: placed, x, y, order };
}

/** Returns the agent at a point, or null. */
export function findAgentAt({ bands, pitch }: Layout, x: number, y: number): number | null {
  for (const { left, top, width, height, numbers } of bands) {
    if (x < left || x >= left + width || y < top || y >= top + height) continue;
    const row = Math.floor((y - top) / pitch);
    return numbers[row * (width / pitch) + Math.floor((x - left) / pitch)] ?? null;
  }
  return null;
}

/** Returns the agent that an arrow key selects. */
export function neighbour({ order, x, y, pitch }: Layout, from: number, key: string) {
  const place = order.indexOf(from);
  const steps: Record<string, number> = {
    ArrowLeft: -1,
    ArrowRight: 1,
    Home: -place,
    End: order.length - 1 - place,
  };
  const rows: Record<string, number> = { ArrowUp: -1, ArrowDown: 1, PageUp: -10, PageDown: 10 };
  if (order.length === 0) return null;
  const step = steps[key];
  if (step !== undefined) return order[Math.min(order.length - 1, Math.max(0, place + step))]!;
  const down = rows[key];
  if (down === undefined) return null;
  const target = y[from]! + down * pitch;
  const far = (one: number) => 3 * Math.abs(x[one]! - x[from]!) + Math.abs(y[one]! - target);
  const ahead = order.filter((one) => (y[one]! - y[from]!) * down > 0);
  return ahead.reduce((best, one) => (far(one) < far(best) ? one : best), ahead[0] ?? from);
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
