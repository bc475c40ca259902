/**
 * Requests to the server, for data that the worker does not have: errors in words for the reader,
 * pages of a list, and the state of a cluster's nodes.
 */

import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { canAsk } from '../data/store.js';
import { home } from '../home.js';

/** The server said no, or nothing: `status` is 0 then. */
export class RequestError extends Error {
  override name = 'RequestError';
  readonly status: number;
  /** As the server names it, '' where it gives none; and in its own words. */
  readonly reason: string;
  readonly said: string;

  constructor(status: number, message: string, { reason = '', said = message } = {}) {
    super(message);
    this.status = status;
    this.reason = reason;
    this.said = said;
  }
}

/** The data of an answer. @throws {RequestError} in words for the reader */
export async function data<T>(path: string, init?: RequestInit): Promise<T> {
  const answer = await fetchPath(path, init);
  return ((await answer.json()) as { data: T }).data;
}

export async function fetchPath(path: string, init?: RequestInit): Promise<Response> {
  let answer: Response;
  try {
    answer = await home.ask(path, init);
  } catch {
    throw new RequestError(0, 'The server does not answer. If it was stopped, start it again.');
  }
  if (answer.ok) return answer;
  const text = await answer.text().catch(() => '');
  const { message: said, reason } = refusalIn(text);
  throw new RequestError(answer.status, `${said} (${answer.status})`, { reason, said });
}

function refusalIn(text: string): { message: string; reason: string } {
  try {
    const { message, details } = (
      JSON.parse(text) as { error: { message: unknown; details: { reason: unknown } } }
    ).error;
    if (typeof message === 'string' && typeof details.reason === 'string') {
      return { message: message.slice(0, 400), reason: details.reason };
    }
  } catch {
    // Not one of ours: a proxy's, perhaps.
  }
  return { message: 'The server refuses', reason: '' };
}

/** All pages of a list, up to a number of them; `more` when there are others. */
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
  /** `why`: the server makes it first, and says how far it is. */
  | { is: 'coming'; why?: string }
  | { is: 'here'; data: T }
  | { is: 'failed'; why: string; status: number };

/** While a network runs, what is asked for changes many times a second; a view need not. */
const LEAST_FETCH_MS = 500;

/** Fetches when `key` changes, and again when told; what came before stays until then. */
export function useFetch<T>(key: string, fetching: () => Promise<T>): [FetchState<T>, () => void] {
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
    timer = setTimeout(ask, Math.max(0, asked.current + LEAST_FETCH_MS - performance.now()));
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [key, turn]);
  return [state.of === key ? state : { is: 'coming' }, anew];
}

export interface ClusterState {
  /** The one that answers. */
  node: string;
  /** For how long it has not heard of the order; 0 as long as it does. */
  cut_off_ms: number;
  nodes: NodeShown[];
  /** Null where it did not answer in time. */
  etcd: { members: number; answering: number; leader: boolean } | null;
}

interface NodeShown {
  node: string;
  alive: boolean;
  /** When it began, or when it last told of itself. */
  since: string;
  batch: number;
  behind: number;
  entry: number;
  digest: string;
  version: string;
}

const CLUSTER_EVERY_MS = 2_000;

/** Null where one process keeps it, and before a node has told. */
export const cluster = signal<ClusterState | null>(null);

/** Keeps it up to date as long as somebody looks at the page. */
export function useCluster(): void {
  const several = canAsk('cluster');
  useEffect(() => {
    if (!several) return;
    let timer = 0;
    let wanted = true;
    const look = async () => {
      const found = document.hidden
        ? null
        : await data<ClusterState>('/api/v1/cluster').catch(() => null);
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
