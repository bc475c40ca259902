/** What an agent's votes rested on, as the run recorded it. */
import { knows } from '../../../data/store.js';
import { data, Unanswered } from '../../../parts/server/api.js';
import { pathAt } from '../../../parts/server/at-entry.js';

export const factors = ['content', 'neighbours', 'memes', 'whim'] as const;
export type Factor = (typeof factors)[number];
type ByFactor<T> = Record<Factor, T>;

/** The members that only a judgement has. */
export interface Judgement {
  score: number;
  threshold: number;
  opinions: ByFactor<number>;
  contributions: ByFactor<number>;
  without: ByFactor<'approve' | 'reject'>;
  shapley_24ths: ByFactor<number>;
  turned_by: string[];
}

export interface Reasoned extends Record<keyof Judgement, unknown> {
  block_hash: string;
  height: number;
  decision: 'approve' | 'reject';
  entry: number;
  basis: 'judgement' | 'content' | 'neighbours' | 'script' | 'unknown';
  reason: string | null;
  memes: string[];
}

/** Newest first, and of how many votes there are any; or why there are none. */
export type Reasons =
  | { list: Reasoned[]; next: string | null; recorded: number }
  | { none: string };

/** Votes of a page. */
const ROWS = '50';

const unrecorded =
  'What its votes rested on is not recorded here. Of agents that are simulated, folkmoot sim ' +
  '--set measure.decisions=true --out DIR records it, and folkmoot explore DIR shows it.';

export async function reasonsOf(
  id: string,
  entry: number | null,
  cursor: string | null,
): Promise<Reasons> {
  if (!knows('decisions')) return { none: unrecorded };
  const path = `/api/v1/agents/${encodeURIComponent(id)}/decisions`;
  const more = { limit: ROWS, ...(cursor === null ? {} : { cursor }) };
  try {
    const { decisions, next_cursor, recorded } = await data<{
      decisions: Reasoned[];
      next_cursor: string | null;
      recorded: number;
    }>(pathAt(path, entry, more));
    return { list: decisions, next: next_cursor, recorded };
  } catch (error) {
    if (error instanceof Unanswered && error.reason === 'NO_DECISIONS') return { none: error.said };
    throw error;
  }
}

/** Null for a vote that was no judgement. */
export const judgementOf = (one: Reasoned): Judgement | null =>
  one.basis === 'judgement' && one.contributions ? (one as unknown as Judgement) : null;
