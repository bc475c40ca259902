/** Asks the server, and says in words what went wrong: what a view shows and the worker has not. */
import { useEffect, useState } from 'preact/hooks';
import { home } from '../../home/home.js';

/** The server said no, or nothing: `status` is 0 then. */
export class Unanswered extends Error {
  override name = 'Unanswered';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
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
  throw new Unanswered(answer.status, `${messageIn(text)} (${answer.status})`);
}

function messageIn(text: string): string {
  try {
    const { message } = (JSON.parse(text) as { error: { message?: unknown } }).error;
    if (typeof message === 'string') return message.slice(0, 400);
  } catch {
    // Not one of ours: a proxy's, perhaps.
  }
  return 'The server refuses';
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
  | { is: 'coming' }
  | { is: 'here'; data: T }
  | { is: 'failed'; why: string; status: number };

/** Fetches when `key` changes, and again when told; what came before stays until then. */
export function useFetched<T>(key: string, fetching: () => Promise<T>): [Fetched<T>, () => void] {
  const [state, set] = useState<Fetched<T> & { of: string }>({ is: 'coming', of: key });
  const [turn, again] = useState(0);
  useEffect(() => {
    let wanted = true;
    fetching().then(
      (got) => wanted && set({ is: 'here', data: got, of: key }),
      (error: unknown) => {
        const why = error instanceof Error ? error.message : String(error);
        const status = error instanceof Unanswered ? error.status : 0;
        if (wanted) set({ is: 'failed', why, status, of: key });
      },
    );
    return () => {
      wanted = false;
    };
  }, [key, turn]);
  return [state.of === key ? state : { is: 'coming' }, () => again((count) => count + 1)];
}
