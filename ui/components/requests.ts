/** Requests to the server: errors, paginated lists, a fetch hook, cluster state and scenario. */
import { computed, signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { AnswerOf } from '../../api/contract/route.js';
import type { ClusterView } from '../../api/contract/server.js';
import type { shownReads } from '../../api/contract/views.js';
import { askWorker } from '../data/connect.js';
import { canAsk, clock, network, position } from '../data/store.js';
import { home } from '../home.js';
import { accepted, RefusedError } from '../messages.js';
import { cleanText } from './labels.js';

/** @throws {RefusedError} */
export async function data<T>(path: string, init?: RequestInit): Promise<T> {
  const answer = await fetchPath(path, init);
  return ((await answer.json()) as { data: T }).data;
}

export const fetchPath = (path: string, init?: RequestInit): Promise<Response> =>
  accepted(() => home.ask(path, init), path);

/** Fetches up to `most` pages of a list. `more` is true if further pages exist. */
export async function pages<T extends { next_cursor: string | null }>(
  path: string,
  most: number,
  come: (page: T) => void,
): Promise<{ more: boolean }> {
  let cursor: string | null = null;
  for (let page = 0; page < most; page += 1) {
    const mark: string = path.includes('?') ? '&' : '?';
    const url: string =
      cursor === null ? path : `${path}${mark}cursor=${encodeURIComponent(cursor)}`;
    const got: T = await data<T>(url);
    come(got);
    cursor = got.next_cursor;
    if (cursor === null) return { more: false };
  }
  return { more: true };
}

export type FetchState<T> =
  /** `why` describes the progress of a server that is still building the data. */
  | { is: 'coming'; why?: string }
  | { is: 'here'; data: T }
  | { is: 'failed'; why: string; status: number };

/** Minimum time between requests, because a live network changes many times per second. */
const LEAST_FETCH_MS = 500;

/** Fetches when `key` changes, and again when the returned function is called. */
export function useFetch<T>(
  key: string,
  fetching: () => Promise<T>,
  leastMs = LEAST_FETCH_MS,
): [FetchState<T>, () => void] {
  const [state, set] = useState<FetchState<T> & { of: string }>({ is: 'coming', of: key });
  const [turn, again] = useState(0);
  const asked = useRef(0);
  const coming = useRef<Promise<unknown>>(null);
  const anew = () => again((count) => count + 1);
  useEffect(() => {
    let wanted = true;
    let timer = 0;
    const fail = (error: unknown) => {
      if (!wanted) return;
      const why = error instanceof Error ? error.message : String(error);
      const { status, reason } = error instanceof RefusedError ? error : { status: 0, reason: '' };
      if (reason !== 'BEING_MADE') return set({ is: 'failed', why, status, of: key });
      set({ is: 'coming', why, of: key });
      timer = setTimeout(anew, LEAST_FETCH_MS);
    };
    const ask = async () => {
      // The server replays its log for each read of a past entry, also if the page has moved on.
      await coming.current;
      if (!wanted) return;
      asked.current = performance.now();
      coming.current = fetching().then(
        (got) => wanted && set({ is: 'here', data: got, of: key }),
        fail,
      );
    };
    timer = setTimeout(() => void ask(), Math.max(0, asked.current + leastMs - performance.now()));
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [key, turn]);
  return [state.of === key ? state : { is: 'coming' }, anew];
}

const CLUSTER_EVERY_MS = 2_000;

/** Null without a cluster and before the first response. */
export const cluster = signal<ClusterView | null>(null);

/** Polls the cluster while the page is visible. */
export function useCluster(): void {
  const several = canAsk('cluster');
  useEffect(() => {
    if (!several) return;
    let timer = 0;
    let wanted = true;
    const look = async () => {
      const found = document.hidden
        ? null
        : await data<ClusterView>('/api/v1/cluster').catch(() => null);
      if (!wanted) return;
      if (found) cluster.value = found;
      timer = setTimeout(() => void look(), CLUSTER_EVERY_MS);
    };
    void look();
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [several]);
}

// ---- The scenario: its groups, and the names of options in its election data

interface Groups {
  /** Group names, in scenario order. */
  names: readonly string[];
  /** Index into `names` by agent id. */
  places: ReadonlyMap<string, number>;
}

/** The scenario's graph. Edges join positions in `ids`. */
export interface Graph {
  topology: string;
  ids: readonly string[];
  /** Index of the group, by position. */
  groups: readonly number[];
  edges: readonly (readonly [number, number])[];
}

type Scenario = AnswerOf<(typeof shownReads)['scenario']>;

/** Null until a scenario is loaded, and on a server without one. */
export const identity = signal<Scenario | null>(null);
export const groups = computed(() => identity.value && grouped(identity.value.groups));
/** Null also on a server that does not know the graph. */
export const graph = computed(() => identity.value && graphIn(identity.value));

/** Returns the name that an option has in election data, or its own. */
export function labelOption(name: string): string {
  const labels = identity.value?.labels ?? {};
  return cleanText(Object.hasOwn(labels, name) ? labels[name]! : name, 64);
}

/** Epoch at the last request. */
let askedEpoch: string | undefined;

/** Loads the scenario once per history, and returns its groups. */
export function useScenario(): Groups | null {
  const epoch = network.value?.epoch;
  const known = canAsk('scenario');
  useEffect(() => {
    if (!known || askedEpoch === epoch) return;
    askedEpoch = epoch;
    identity.value = null;
    const ask = async (): Promise<void> => {
      try {
        const found = await data<Scenario>('/api/v1/scenario');
        if (askedEpoch === epoch) identity.value = found;
      } catch (error) {
        // Without a scenario, the view does not offer banding by group.
        if (!(error instanceof RefusedError) || error.reason !== 'BEING_MADE') return;
        setTimeout(() => void (askedEpoch === epoch && ask()), LEAST_FETCH_MS);
      }
    };
    void ask();
  }, [epoch, known]);
  return groups.value;
}

function graphIn({ graph: found, groups: all }: Scenario): Graph | null {
  if (!found?.edges) return null;
  const edges = found.edges.map(([one, other]) => [one!, other!] as const);
  const ids = all.flatMap(({ agents: own }) => own);
  const groupsOf = all.flatMap(({ agents: own }, group) => own.map(() => group));
  return { topology: found.topology, ids, groups: groupsOf, edges };
}

function grouped(all: Scenario['groups']): Groups | null {
  const places = new Map(all.flatMap(({ agents: ids }, place) => ids.map((id) => [id, place])));
  return all.length === 0 ? null : { names: all.map(({ name }) => name), places };
}

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
