/**
 * The address as state: the view, its item, the position, the focused block, and the reader's
 * choices within a view. Everything that affects the display is in the address, so that a copied
 * link shows the same content.
 */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { postToWorker } from './data/connect.js';
import { home, type Place } from './home.js';

/** Limit on digits, larger than any entry number needs, because an address may contain anything. */
const ENTRY = /^\d{1,15}$/;

export const place = signal<Place>({ view: '', item: null, query: new URLSearchParams() });

function follow(): void {
  place.value = home.placeIn(location) ?? place.value;
}

/** Returns null for the live position. */
export function entryInAddress(): number | null {
  const at = place.peek().query.get('at');
  return at !== null && ENTRY.test(at) ? Number(at) : null;
}

/** Parameters that links preserve between views: the position and the focused block. */
const EVERYWHERE = ['at', 'focus'] as const;

/** Builds the address of a view at the current position. */
export function href(view: string, item?: string, more: Record<string, string> = {}): string {
  const { query } = place.value;
  const kept = EVERYWHERE.flatMap((name) => (query.has(name) ? [[name, query.get(name)!]] : []));
  return hrefNow(view, item, { ...Object.fromEntries(kept), ...more });
}

/** Builds the address of a view at the live position. */
export function hrefNow(view: string, item?: string, more: Record<string, string> = {}): string {
  const query = new URLSearchParams(more);
  return home.addressOf({ view, item: item ?? null, query });
}

export function go(to: string): void {
  write();
  history.pushState(null, '', to);
  follow();
}

/**
 * Minimum time between writes, because browsers refuse more than 100 writes to the address in 30 s.
 */
const LEAST_WRITE_MS = 400;
let written = Number.NEGATIVE_INFINITY;
let writing = 0;

/** Writes a pending change in `place` to the address. */
function write(): void {
  if (writing === 0) return;
  clearTimeout(writing);
  writing = 0;
  written = performance.now();
  history.replaceState(null, '', home.addressOf(place.peek()));
}

/** Changes query parameters without adding an entry to the browser history. */
export function setQuery(changes: Record<string, string | null>): void {
  const query = new URLSearchParams(place.peek().query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) query.delete(name);
    else query.set(name, value);
  }
  // Sorted, so that equal choices have equal addresses.
  query.sort();
  if (query.toString() === inOrder(place.peek().query)) return;
  place.value = { ...place.peek(), query };
  if (writing === 0) {
    writing = setTimeout(write, Math.max(0, written + LEAST_WRITE_MS - performance.now()));
  }
}

function inOrder(query: URLSearchParams): string {
  const sorted = new URLSearchParams(query);
  sorted.sort();
  return sorted.toString();
}

/** Follows the address, and turns clicks on links within this page into view changes. */
export function followLinks(): void {
  follow();
  addEventListener('popstate', follow);
  document.addEventListener('click', (event) => {
    const { button, metaKey, ctrlKey, shiftKey, altKey, defaultPrevented } = event;
    if (defaultPrevented || button !== 0 || metaKey || ctrlKey || shiftKey || altKey) return;
    const link = (event.target as Element | null)?.closest?.('a');
    if (link?.target !== '' || link.hash !== '' || !home.placeIn(link)) return;
    event.preventDefault();
    go(link.href);
  });
}

type Choice<T> = [here: T, choose: (one: T) => void];

export function useChoice(name: string): Choice<string | null> {
  return [place.value.query.get(name), (value) => setQuery({ [name]: value })];
}

/** The first value is the default and is omitted from the address. */
export function useOneOf<T extends string>(name: string, all: readonly T[]): Choice<T> {
  const [value, choose] = useChoice(name);
  const here = all.find((one) => one === value) ?? all[0]!;
  return [here, (one) => choose(one === all[0] ? null : one)];
}

/** Membership of one value in a parameter that lists several values, separated by dots. */
export function useAmong(name: string, one: string): Choice<boolean> {
  const [value, choose] = useChoice(name);
  const all = new Set(value?.split('.') ?? []);
  const toggle = (is: boolean) => {
    if (is) all.add(one);
    else all.delete(one);
    choose(all.size === 0 ? null : [...all].join('.'));
  };
  return [all.has(one), toggle];
}

const PAGE_NUMBER = /^\d{1,6}$/;

/** The page number counts from 0; the address counts from 1. */
export function usePage(name = 'page'): Choice<number> {
  const [value, choose] = useChoice(name);
  const page = value !== null && PAGE_NUMBER.test(value) ? Math.max(0, Number(value) - 1) : 0;
  return [page, (one) => choose(one <= 0 ? null : String(one + 1))];
}

const BLOCK_NUMBER = /^\d{1,9}$/;

/** Focuses a block by number; null for the newest. */
export const lookAt = (block: number | null): void =>
  setQuery({ focus: block === null ? null : String(block) });

/** Sends the focused block from the address to the worker. */
export function useFocus(): void {
  const named = place.value.query.get('focus');
  const wanted = named !== null && BLOCK_NUMBER.test(named) ? Number(named) : null;
  useEffect(() => postToWorker({ do: 'focus', block: wanted }), [wanted]);
}
