/** Hooks that read data at the current entry, from the server and from the worker. */
import { useRef } from 'preact/hooks';
import { askWorker } from '../data/connect.js';
import { clock, position } from '../data/store.js';
import { type FetchState, useFetch } from './requests.js';

interface AtEntry<T> {
  fetched: FetchState<T>;
  again: () => void;
  /** Previous data, shown while the next data loads. `entry` is null at the live position. */
  last: { data: T; entry: number | null } | null;
}

/**
 * Fetches the data for `key` at the current entry. When live, refetches each time `live` changes.
 * When paused, refetches at every entry. During playback, keeps the current data.
 */
export function useEntryData<T>(
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
  const [fetched, again] = useFetch(`${key} ${entry ?? `live ${live}`}`, () => fetching(entry));
  if (fetched.is === 'here') last.current = { data: fetched.data, entry };
  if (fetched.is === 'failed') last.current = null;
  return { fetched, again, last: last.current };
}

/** Adds the query to a path. A null `entry` means the newest entry. */
export function buildPath(path: string, entry: number | null, more: Record<string, string> = {}) {
  const query = new URLSearchParams(more);
  if (entry !== null) query.set('at', String(entry));
  return query.size === 0 ? path : `${path}?${query}`;
}

/** Asks when `key` changes. Keeps the previous answer until the next one or a failure. */
export function useAsked<T>(key: string, asking: () => Promise<T>, leastMs?: number) {
  const [state, again] = useFetch(key, asking, leastMs);
  const last = useRef<T | null>(null);
  if (state.is === 'here') last.current = state.data;
  if (state.is === 'failed') last.current = null;
  return { found: last.current, why: state.is === 'failed' ? state.why : '', again };
}

/** Asks the worker again at every entry. Returns null until the first answer. */
export function useWorkerAnswer<T>(name: string, parameters: () => unknown, key: string): T | null {
  const entry = position.value?.entry ?? -1;
  const last = useRef<T | null>(null);
  const { found } = useAsked(`${name} ${key} ${entry}`, () => askWorker<T>(name, parameters()));
  // The worker reports connection faults, and the view keeps the previous answer.
  last.current = found ?? last.current;
  return last.current;
}
