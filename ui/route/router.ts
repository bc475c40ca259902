/**
 * Where the reader is, as the address says: a view, a thing in it, and the position. Every picture
 * is a link.
 */
import { signal } from '@preact/signals';

export interface Place {
  /** First part of the path below /ui/. */
  view: string;
  /** What it shows: a hash, an id. */
  item: string | null;
  query: URLSearchParams;
}

const ROOT = '/ui/';
/** Longer than what the server says of itself: an address may say anything. */
const ENTRY = /^\d{1,15}$/;

export const place = signal<Place>(placeOf(location));

function placeOf({ pathname, search }: Pick<Location, 'pathname' | 'search'>): Place {
  const [view = '', item = ''] = pathname.slice(ROOT.length).split('/').map(decoded);
  return { view, item: item === '' ? null : item, query: new URLSearchParams(search) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The entry that the address names; null for live. */
export function entryInAddress(): number | null {
  const at = place.peek().query.get('at');
  return at !== null && ENTRY.test(at) ? Number(at) : null;
}

/** The way to a view, at the position that is shown. */
export function href(view: string, item?: string, more: Record<string, string> = {}): string {
  const query = new URLSearchParams(more);
  const at = place.value.query.get('at');
  if (at !== null && !query.has('at')) query.set('at', at);
  const path = `${ROOT}${view}${item === undefined ? '' : `/${encodeURIComponent(item)}`}`;
  return query.size === 0 ? path : `${path}?${query}`;
}

export function go(to: string): void {
  history.pushState(null, '', to);
  place.value = placeOf(location);
}

/** Changes what the address says of this view, without a new step in the browser's history. */
export function setQuery(changes: Record<string, string | null>): void {
  const query = new URLSearchParams(place.peek().query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) query.delete(name);
    else query.set(name, value);
  }
  if (query.toString() === place.peek().query.toString()) return;
  const search = query.size === 0 ? '' : `?${query}`;
  history.replaceState(null, '', `${location.pathname}${search}`);
  place.value = placeOf(location);
}

/** Links within the page change the view, not the document. */
export function followLinks(): void {
  addEventListener('popstate', () => {
    place.value = placeOf(location);
  });
  document.addEventListener('click', (event) => {
    const { button, metaKey, ctrlKey, shiftKey, altKey, defaultPrevented } = event;
    if (defaultPrevented || button !== 0 || metaKey || ctrlKey || shiftKey || altKey) return;
    const link = (event.target as Element | null)?.closest?.('a');
    if (link?.target !== '' || link.origin !== location.origin) return;
    if (!link.pathname.startsWith(ROOT) || link.hash !== '') return;
    event.preventDefault();
    go(link.pathname + link.search);
  });
}
