/** Memes as they were posted, newest first: found by the index, read from the records. */
import { eventTypes, type RecordOf, type ServedNetwork } from '../../../../engine/internal.js';
import type { IndexSource } from '../kept/index-source.js';

const posted = eventTypes.indexOf('meme_posted');

export type MemeRecord = RecordOf['memes'];

export interface MemePage {
  memes: MemeRecord[];
  /** The event before which the next page begins; null on the last. */
  before: number | null;
}

/** What is asked for: `before` an event, of one agent or of all. */
export interface MemeQuery {
  before: number;
  limit: number;
  creator?: string;
  /** Rows of the index that are gone through at the most. */
  rows: number;
}

/** The index must be prepared. It may pause where it yields: what it reads never changes. */
export function* memesOf(
  network: ServedNetwork,
  index: IndexSource,
  query: MemeQuery,
): Generator<undefined, MemePage> {
  const { read } = network;
  const memes: MemeRecord[] = [];
  let left = query.rows;
  let before = Math.min(query.before, read.position.event_seq + 1);
  while (before > 1 && left > 0) {
    yield;
    left -= 1;
    const row = index.rowOfEvent(before - 1);
    const first = row.event_seq - row.entries.reduce((sum, { events }) => sum + events, 0) + 1;
    const past = row.first === 0 ? 0 : index.rowOf(row.first - 1).totals.events[posted]!;
    const texts = row.totals.events[posted]! > past ? read.eventTexts(first, before - 1) : [];
    const seqs = [...texts].filter(({ type }) => type === 'meme_posted').map(({ seq }) => seq);
    for (const seq of seqs.reverse()) {
      yield;
      const [event] = read.events(seq, seq);
      if (event?.type !== 'meme_posted') continue;
      if (query.creator !== undefined && event.data.creator.id !== query.creator) continue;
      if (memes.length === query.limit) return { memes, before: seq + 1 };
      memes.push(read.record('memes', event.data.meme_id)!);
    }
    before = first;
  }
  return { memes, before: before > 1 ? before : null };
}
