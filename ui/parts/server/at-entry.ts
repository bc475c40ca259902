/** What the server has of the entry that is shown: fetched as often as a view needs it. */
import { useRef } from 'preact/hooks';
import { clock, position } from '../../data/store.js';
import { type Fetched, useFetched } from './api.js';

export interface AtEntry<T> {
  fetched: Fetched<T>;
  again: () => void;
  /** While the next comes, what came last, of `entry`; null for the newest. */
  last: { data: T; entry: number | null } | null;
}

/**
 * Live, it is fetched anew when `live` changes, else at each entry; while the clock plays, what is
 * there stays. `key`: what it is of.
 */
export function useAtEntry<T>(
  key: string,
  live: string,
  fetching: (entry: number | null) => Promise<T>,
): AtEntry<T> {
  const { mode } = clock.value;
  const here = position.value!.entry;
  const wanted = useRef<number | null>(null);
  const last = useRef<AtEntry<T>['last']>(null);
  if (mode === 'live') wanted.current = null;
  else if (mode === 'paused' || wanted.current === null) wanted.current = here;
  const entry = wanted.current;
  const [fetched, again] = useFetched(`${key} ${entry ?? `live ${live}`}`, () => fetching(entry));
  if (fetched.is === 'here') last.current = { data: fetched.data, entry };
  if (fetched.is === 'failed') last.current = null;
  return { fetched, again, last: last.current };
}

/** A path with its query, of an entry or of the newest. */
export function pathAt(path: string, entry: number | null, more: Record<string, string> = {}) {
  const query = new URLSearchParams(more);
  if (entry !== null) query.set('at', String(entry));
  return query.size === 0 ? path : `${path}?${query}`;
}
