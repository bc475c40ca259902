/** Parameters of reads: each is what the documents say, or the read is refused with its name. */
import {
  limits as bounds,
  isHash,
  type Reason,
  type Refusal,
  refuse,
} from '../../../engine/internal.js';
import { serverBounds } from '../../contract/limit-table.js';

export type ReadResult = { data: unknown } | { refusal: Refusal };

const matching = (pattern: RegExp) => (text: string) => pattern.test(text);

const pathShapes = {
  agent_id: {
    fits: matching(/^agent_[0-9a-f]{32}$/),
    what: 'agent_ and 32 lower-case hex characters',
  },
  meme_id: {
    fits: matching(/^meme_[0-9a-f]{32}$/),
    what: 'meme_ and 32 lower-case hex characters',
  },
  block_hash: { fits: isHash, what: '64 hex characters' },
  hash: { fits: isHash, what: '64 hex characters' },
  key: {
    fits: matching(/^[\x21-\x7e]{1,128}$/),
    what: '1 to 128 printable ASCII characters, no blank',
  },
};

/** What is nothing of its kind is refused so, before anything is looked for. */
export function pathProblem(name: keyof typeof pathShapes, value: string): Refusal | null {
  const { fits, what } = pathShapes[name];
  if (fits(value)) return null;
  return refuse('SCHEMA', `${name} in the path is not ${what}`, { pointer: `/${name}` });
}

export const unknown = (reason: Reason, what: string, id: string): ReadResult => ({
  refusal: refuse(reason, `no ${what} ${id.slice(0, 128)}`),
});

export function badQuery(name: string, expected: string): { refusal: Refusal } {
  const message = `the query parameter ${name} is not ${expected}`;
  return { refusal: refuse('SCHEMA', message, { pointer: `/${name}` }) };
}

/** A whole number of the query, its default, or null when it is none. */
export function number(query: URLSearchParams, name: string, otherwise: number): number | null {
  const text = query.get(name);
  if (text === null) return otherwise;
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}

export function rowsOf(
  query: URLSearchParams,
  otherwise: number = serverBounds.defaultPageRows,
): number | null {
  const limit = number(query, 'limit', otherwise);
  return limit !== null && limit >= 1 && limit <= bounds.pageRows ? limit : null;
}

export const expectedRows = `a whole number from 1 to ${bounds.pageRows}`;
export const expectedCursor = 'the next_cursor of a page';
