/** Reads from a view: an overview of the log from the index, individual entries, and memes. */

import { blockEnds, firstEventOf, type IndexRow } from '../../../engine/node/entry-index.js';
import type { ServedNetwork } from '../../../engine/node/kept-network.js';
import { eventTypes } from '../../../engine/protocol/event-types.js';
import type { Event } from '../../../engine/protocol/schema/event.js';
import type { RecordOf } from '../../../engine/protocol/schema/record.js';
import { agentId } from '../../../engine/protocol/signing.js';
import { storedLines } from '../../../engine/replay/lines.js';
import { type PrintedLine, printLine } from '../../../engine/replay/recompute.js';
import { storeError } from '../../../engine/store/messages.js';
import type { Bucket, Closing, Overview } from '../model.js';

type Read = ServedNetwork['read'];

/** Maximum number of closings in an overview. */
const MOST_CLOSINGS = 1_000;
/** Number of events to examine, because an entry closes blocks in its first events. */
const FIRST_EVENTS = 16;

/** Computes the overview. Pauses at each `yield`. */
export function* computeOverview(
  { read, epoch }: ServedNetwork,
  buckets: number,
): Generator<undefined, Overview> {
  const { seq, at, event_seq } = read.position;
  const closings = yield* closingsOf(read, seq);
  const { ends } = read.log.rowOf(seq).totals;
  const closed = ends.reduce((sum, count) => sum + count, 0);
  return {
    epoch,
    entry: seq,
    at,
    event_seq,
    event_types: eventTypes,
    block_ends: blockEnds,
    buckets: yield* bucketsOf(read, seq, buckets),
    closings,
    closings_omitted: closed - closings.length,
  };
}

function* bucketsOf(read: Read, seq: number, count: number): Generator<undefined, Bucket[]> {
  const found: Bucket[] = [];
  let before: IndexRow | null = null;
  let from = 0;
  for (let number = 1; number <= count && from <= seq; number += 1) {
    const last = read.log.rowOf(Math.max(from, Math.ceil((number * (seq + 1)) / count) - 1));
    found.push(bucketOf(read.log.entry(from)!.at, from, before, last));
    yield;
    from = last.last + 1;
    before = last;
  }
  return found;
}

function bucketOf(at: number, from: number, before: IndexRow | null, to: IndexRow): Bucket {
  const past = before?.totals;
  const since = (now: readonly number[], then: readonly number[] | undefined) =>
    now.map((value, place) => value - (then?.[place] ?? 0));
  return {
    from,
    entries: to.last - from + 1,
    at,
    events: since(to.totals.events, past?.events),
    ends: since(to.totals.ends, past?.ends),
    registered: to.totals.registered - (past?.registered ?? 0),
  };
}

/** Searches backwards, skipping rows without closings. */
function* closingsOf(read: Read, seq: number): Generator<undefined, Closing[]> {
  const found: Closing[] = [];
  let row: IndexRow | null = read.log.rowOf(seq);
  while (row && found.length < MOST_CLOSINGS) {
    yield;
    found.push(...closingsIn(read, row).reverse());
    row = beforeWithClosing(read.log, row);
  }
  return found.slice(0, MOST_CLOSINGS).reverse();
}

const closedBy = ({ totals }: IndexRow) => totals.ends.reduce((sum, count) => sum + count, 0);

/** Finds the last earlier row with a closing: the first row with the same total of closings. */
function beforeWithClosing(index: Read['log'], row: IndexRow): IndexRow | null {
  if (row.first === 0) return null;
  const previous = index.rowOf(row.first - 1);
  const most = closedBy(previous);
  if (most === 0) return null;
  let low = 0;
  let high = previous.last;
  while (low < high) {
    const middle = index.rowOf(Math.floor((low + high) / 2));
    if (closedBy(middle) < most) low = middle.last + 1;
    else high = middle.first;
  }
  return index.rowOf(low);
}

function closingsIn(read: Read, row: IndexRow): Closing[] {
  const found: Closing[] = [];
  let next = firstEventOf(row);
  for (const [place, { events, closes }] of row.entries.entries()) {
    if (closes) {
      const last = next + Math.min(events, FIRST_EVENTS) - 1;
      found.push(...closingsAmong(read, row.first + place, next, last));
    }
    next += events;
  }
  return found;
}

function* closingsAmong(read: Read, entry: number, from: number, to: number) {
  for (const { type, data } of read.events(from, to)) {
    if (type !== 'block_status') continue;
    const { context } = read.record('blocks', data.block_hash)!;
    const { ordinal: block, proposed_at, approve, reject, voted, electors } = context;
    const at = Date.parse(data.timestamp);
    const { height, status } = data;
    yield { entry, at, block, height, status, proposed_at, approve, reject, voted, electors };
  }
}

/** A log entry with its events, but without a meme's file. */
interface EntryView extends Omit<PrintedLine, 'seq' | 'file'> {
  entry: number;
  /** Id of the sending agent; empty if no agent sent the entry. */
  agent_id: string;
  events: Event[];
}

/** Reads an entry. Returns undefined if the log does not contain it. */
export function readEntry(read: Read, seq: number): EntryView | undefined {
  if (seq > read.position.seq) return undefined;
  for (const line of storedLines(read.log, seq, seq)) {
    const { seq: entry, file: _, ...printed } = printLine(line);
    const agent_id = printed.public_key === '' ? '' : agentId(printed.public_key.toLowerCase());
    return { entry, agent_id, ...printed, events: eventsOf(read, seq) };
  }
  throw storeError('ENTRY_MISSING', { seq });
}

function eventsOf(read: Read, seq: number): Event[] {
  const row = read.log.rowOf(seq);
  const counts = row.entries.map(({ events }) => events);
  const place = seq - row.first;
  const after = counts.slice(place + 1).reduce((sum, count) => sum + count, 0);
  const last = row.event_seq - after;
  return [...read.events(last - counts[place]! + 1, last)];
}

const posted = eventTypes.indexOf('meme_posted');

type MemeRecord = RecordOf['memes'];

interface MemePage {
  memes: MemeRecord[];
  /** Cursor of the next page, which is an event number; null on the last page. */
  before: number | null;
}

/** A page of memes before an event, from one agent or all agents. */
interface MemeQuery {
  before: number;
  limit: number;
  creator?: string;
  /** Maximum number of index rows to scan. */
  rows: number;
}

/** Reads a page of memes. Pauses at each `yield`. */
export function* readMemes(read: Read, query: MemeQuery): Generator<undefined, MemePage> {
  const { log } = read;
  const memes: MemeRecord[] = [];
  let left = query.rows;
  let before = Math.min(query.before, read.position.event_seq + 1);
  while (before > 1 && left > 0) {
    yield;
    left -= 1;
    const row = log.rowOfEvent(before - 1);
    const first = firstEventOf(row);
    const past = row.first === 0 ? 0 : log.rowOf(row.first - 1).totals.events[posted]!;
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
