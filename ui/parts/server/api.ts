/** Asks the server, and says in words what went wrong: what a view shows and the worker has not. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { home } from '../../home/home.js';

/** The server said no, or nothing: `status` is 0 then. */
export class Unanswered extends Error {
  override name = 'Unanswered';
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

/** The data of an answer. @throws {Unanswered} in words for the reader */
export async function data<T>(path: string, init?: RequestInit): Promise<T> {
  const answer = await asked(path, init);
  return ((await answer.json()) as { data: T }).data;
}

export async function asked(path: string, init?: RequestInit): Promise<Response> {
  let answer: Response;
  try {
    answer = await home.ask(path, init);
  } catch {
    throw new Unanswered(0, 'The server does not answer. If it was stopped, start it again.');
  }
  if (answer.ok) return answer;
  const text = await answer.text().catch(() => '');
  const { message: said, reason } = refusalIn(text);
  throw new Unanswered(answer.status, `${said} (${answer.status})`, { reason, said });
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

export type Fetched<T> =
  /** `why`: the server makes it first, and says how far it is. */
  | { is: 'coming'; why?: string }
  | { is: 'here'; data: T }
  | { is: 'failed'; why: string; status: number };

/** While a network runs, what is asked for changes many times a second; a view need not. */
const LEAST_MS = 500;

/** Fetches when `key` changes, and again when told; what came before stays until then. */
export function useFetched<T>(key: string, fetching: () => Promise<T>): [Fetched<T>, () => void] {
  const [state, set] = useState<Fetched<T> & { of: string }>({ is: 'coming', of: key });
  const [turn, again] = useState(0);
  const asked = useRef(0);
  const anew = () => again((count) => count + 1);
  useEffect(() => {
    let wanted = true;
    let timer = 0;
    const fail = (error: unknown) => {
      if (!wanted) return;
      const why = error instanceof Error ? error.message : String(error);
      const { status, reason } = error instanceof Unanswered ? error : { status: 0, reason: '' };
      if (reason !== 'BEING_MADE') return set({ is: 'failed', why, status, of: key });
      set({ is: 'coming', why, of: key });
      timer = setTimeout(anew, LEAST_MS);
    };
    const ask = () => {
      asked.current = performance.now();
      fetching().then((got) => wanted && set({ is: 'here', data: got, of: key }), fail);
    };
    timer = setTimeout(ask, Math.max(0, asked.current + LEAST_MS - performance.now()));
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [key, turn]);
  return [state.of === key ? state : { is: 'coming' }, anew];
}
