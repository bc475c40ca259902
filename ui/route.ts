/**
 * The address as state: the view, the item it shows, the position, the block in focus, and the
 * reader's choices within a view. Every snapshot is a link, so all of it is in the address.
 */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { postToWorker } from './data/connect.js';
import { home, type Place } from './home.js';

/** Longer than what the server says of itself: an address may say anything. */
const ENTRY = /^\d{1,15}$/;

export const place = signal<Place>({ view: '', item: null, query: new URLSearchParams() });

function follow(): void {
  place.value = home.placeIn(location) ?? place.value;
}

/** The entry that the address names; null for live. */
export function entryInAddress(): number | null {
  const at = place.peek().query.get('at');
  return at !== null && ENTRY.test(at) ? Number(at) : null;
}

/** What is the same in all views: the position, and the block that is looked at. */
const EVERYWHERE = ['at', 'focus'] as const;

/** The way to a view, at the position that is shown. */
export function href(view: string, item?: string, more: Record<string, string> = {}): string {
  const { query } = place.value;
  const kept = EVERYWHERE.flatMap((name) => (query.has(name) ? [[name, query.get(name)!]] : []));
  return hrefNow(view, item, { ...Object.fromEntries(kept), ...more });
}

/** The way to a view where the network is now. */
export function hrefNow(view: string, item?: string, more: Record<string, string> = {}): string {
  const query = new URLSearchParams(more);
  return home.addressOf({ view, item: item ?? null, query });
}

export function go(to: string): void {
  write();
  history.pushState(null, '', to);
  follow();
}

/** Browsers refuse to write the address more than a hundred times in half a minute. */
const LEAST_WRITE_MS = 400;
let written = Number.NEGATIVE_INFINITY;
let writing = 0;

/** What is the place already, and the address is soon. */
function write(): void {
  if (writing === 0) return;
  clearTimeout(writing);
  writing = 0;
  written = performance.now();
  history.replaceState(null, '', home.addressOf(place.peek()));
}

/** Changes what the address says of this view, without a new step in the browser's history. */
export function setQuery(changes: Record<string, string | null>): void {
  const query = new URLSearchParams(place.peek().query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) query.delete(name);
    else query.set(name, value);
  }
  // In one order, however one came to it: the same snapshot has the same address.
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

/** From here on the address is followed, and links within the page change the view alone. */
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

/** The first of them stands for an address that names none. */
export function useOneOf<T extends string>(name: string, all: readonly T[]): Choice<T> {
  const [value, choose] = useChoice(name);
  const here = all.find((one) => one === value) ?? all[0]!;
  return [here, (one) => choose(one === all[0] ? null : one)];
}

/** Whether one is among several that may be chosen together. */
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

/** From 0; readers count from 1. */
export function usePage(name = 'page'): Choice<number> {
  const [value, choose] = useChoice(name);
  const page = value !== null && PAGE_NUMBER.test(value) ? Math.max(0, Number(value) - 1) : 0;
  return [page, (one) => choose(one <= 0 ? null : String(one + 1))];
}

const BLOCK_NUMBER = /^\d{1,9}$/;

/** By its number; null for the newest. */
export const lookAt = (block: number | null): void =>
  setQuery({ focus: block === null ? null : String(block) });

/** Tells the worker. */
export function useFocus(): void {
  const named = place.value.query.get('focus');
  const wanted = named !== null && BLOCK_NUMBER.test(named) ? Number(named) : null;
  useEffect(() => postToWorker({ do: 'focus', block: wanted }), [wanted]);
}
