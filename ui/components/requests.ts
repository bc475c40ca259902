/** Requests to the server: errors, paginated lists, a fetch hook, cluster state and scenario. */
import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { AnswerOf } from '../../api/contract/route.js';
import type { ClusterView } from '../../api/contract/server.js';
import type { ScenarioView, shownReads } from '../../api/contract/views.js';
import { canAsk, network } from '../data/store.js';
import { home } from '../home.js';
import { PageError, type PageProblem, type PageValues } from '../messages.js';
import { cleanText } from './labels.js';

interface Refusal {
  /** HTTP status; 0 if there was no response. */
  status: number;
  /** Reason code from the server; '' if the response contains none. */
  reason: string;
  /** Message from the server, without the status. */
  said: string;
}

const unanswered: Refusal = { status: 0, reason: '', said: '' };

/** Error for a request that was refused or got no response. */
export class RequestError<P extends PageProblem = PageProblem> extends PageError<P> {
  override name = 'RequestError';
  readonly status: number;
  readonly reason: string;
  readonly said: string;

  constructor(problem: P, { status, reason, said }: Refusal, ...values: PageValues<P>) {
    super(problem, ...values);
    this.status = status;
    this.reason = reason;
    this.said = said;
  }
}

/** @throws {RequestError} */
export async function data<T>(path: string, init?: RequestInit): Promise<T> {
  const answer = await fetchPath(path, init);
  return ((await answer.json()) as { data: T }).data;
}

export async function fetchPath(path: string, init?: RequestInit): Promise<Response> {
  let answer: Response;
  try {
    answer = await home.ask(path, init);
  } catch {
    throw new RequestError('SERVER_UNREACHABLE', unanswered);
  }
  if (answer.ok) return answer;
  const text = await answer.text().catch(() => '');
  const { status } = answer;
  const found = refusalIn(text);
  // The response may come from a proxy.
  if (!found) throw new RequestError('SERVER_STATUS', { ...unanswered, status }, { status, path });
  const { message, reason } = found;
  throw new RequestError('SERVER_MESSAGE', { status, reason, said: message }, { message, status });
}

function refusalIn(text: string): { message: string; reason: string } | null {
  try {
    const { message, details } = (
      JSON.parse(text) as { error: { message: unknown; details: { reason: unknown } } }
    ).error;
    if (typeof message === 'string' && typeof details.reason === 'string') {
      return { message: message.slice(0, 400), reason: details.reason };
    }
  } catch {
    // Not JSON.
  }
  return null;
}

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
  const anew = () => again((count) => count + 1);
  useEffect(() => {
    let wanted = true;
    let timer = 0;
    const fail = (error: unknown) => {
      if (!wanted) return;
      const why = error instanceof Error ? error.message : String(error);
      const { status, reason } = error instanceof RequestError ? error : { status: 0, reason: '' };
      if (reason !== 'BEING_MADE') return set({ is: 'failed', why, status, of: key });
      set({ is: 'coming', why, of: key });
      timer = setTimeout(anew, LEAST_FETCH_MS);
    };
    const ask = () => {
      asked.current = performance.now();
      fetching().then((got) => wanted && set({ is: 'here', data: got, of: key }), fail);
    };
    timer = setTimeout(ask, Math.max(0, asked.current + leastMs - performance.now()));
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

/** Title, question, seed and verdict of a run. */
export type Identity = Pick<ScenarioView, 'title' | 'question' | 'seed' | 'verdict'>;

/** Null until a scenario is loaded, and on a server without one. */
export const identity = signal<Identity | null>(null);
export const groups = signal<Groups | null>(null);

/** The scenario's graph. Edges join positions in `ids`. */
export interface Graph {
  topology: string;
  ids: readonly string[];
  /** Index of the group, by position. */
  groups: readonly number[];
  edges: readonly (readonly [number, number])[];
}

/** Null until it is loaded, and on a server that does not know the graph. */
export const graph = signal<Graph | null>(null);

const labels = signal<Readonly<Record<string, string>>>({});

/** Returns the name that an option has in election data, or its own. */
export const labelOption = (name: string): string =>
  cleanText(Object.hasOwn(labels.value, name) ? labels.value[name]! : name, 64);

/** Epoch at the last request. */
let askedEpoch: string | undefined;

/** Loads the scenario once per history, and returns its groups. */
export function useScenario(): Groups | null {
  const epoch = network.value?.epoch;
  const known = canAsk('scenario');
  useEffect(() => {
    if (!known || askedEpoch === epoch) return;
    askedEpoch = epoch;
    groups.value = null;
    identity.value = null;
    graph.value = null;
    labels.value = {};
    const ask = async (): Promise<void> => {
      try {
        const found = await data<AnswerOf<(typeof shownReads)['scenario']>>('/api/v1/scenario');
        if (askedEpoch !== epoch) return;
        groups.value = grouped(found.groups);
        identity.value = found;
        graph.value = graphIn(found);
        labels.value = found.labels ?? {};
      } catch (error) {
        // Without a scenario, the view does not offer banding by group.
        if (!(error instanceof RequestError) || error.reason !== 'BEING_MADE') return;
        setTimeout(() => void (askedEpoch === epoch && ask()), LEAST_FETCH_MS);
      }
    };
    void ask();
  }, [epoch, known]);
  return groups.value;
}

function graphIn({
  graph: found,
  groups: all,
}: AnswerOf<(typeof shownReads)['scenario']>): Graph | null {
  if (!found?.edges) return null;
  const edges = found.edges.map(([one, other]) => [one!, other!] as const);
  const ids = all.flatMap(({ agents: own }) => own);
  const groupsOf = all.flatMap(({ agents: own }, group) => own.map(() => group));
  return { topology: found.topology, ids, groups: groupsOf, edges };
}

function grouped(all: ScenarioView['groups']): Groups | null {
  const places = new Map(all.flatMap(({ agents: ids }, place) => ids.map((id) => [id, place])));
  return all.length === 0 ? null : { names: all.map(({ name }) => name), places };
}
