/** Reads entries with their events and adds them to a builder, one row of the index at a time. */
import {
  type Event,
  type IndexedEntry,
  type IndexRow,
  type ServedNetwork,
  StoreError,
} from '../../../../engine/internal.js';
import type { Builder } from './builder.js';
import type { EventCache } from './event-cache.js';

/**
 * Adds what a row of the index tells of, from where the builder stands to `to`.
 *
 * @throws {StoreError} when something of it cannot be read, or does not fit together: the builder
 * is of no use then.
 */
export function addRow(
  builder: Builder,
  network: ServedNetwork,
  cache: EventCache,
  { row, to }: { row: IndexRow; to: number },
): void {
  const { first, entries, event_seq } = row;
  let next = event_seq - entries.reduce((sum, { events }) => sum + events, 0) + 1;
  const from = builder.to + 1;
  const skipped = entries.slice(0, Math.max(0, from - first));
  next += skipped.reduce((sum, { events }) => sum + events, 0);
  const events = eventsOf(network, cache, next, event_seq);
  let taken = 0;
  for (let seq = Math.max(from, first); seq <= Math.min(row.last, to); seq += 1) {
    const indexed = entries[seq - first]!;
    const own = events.slice(taken, taken + indexed.events);
    taken += indexed.events;
    add(builder, network, { seq, indexed, events: own });
  }
}

function add(
  builder: Builder,
  network: ServedNetwork,
  { seq, indexed, events }: { seq: number; indexed: IndexedEntry; events: readonly Event[] },
): void {
  try {
    const at = timeOf(network, seq, events[0]);
    builder.add({ seq, at, indexed, events });
  } catch (cause) {
    if (cause instanceof StoreError && cause.code !== 'CORRUPT') throw cause;
    const text = `what came of entry ${seq} does not fit together: ${(cause as Error).message}`;
    throw new StoreError('CORRUPT', `${text}; folkmoot replay says more`, { cause });
  }
}

/** Each of an entry's events has the entry's time. */
function timeOf(network: ServedNetwork, seq: number, event: Event | undefined): number {
  if (event) return Date.parse(event.data.timestamp);
  const entry = network.read.log.entry(seq);
  if (!entry) throw new StoreError('CORRUPT', `the log has no entry ${seq}`);
  return entry.at;
}

function eventsOf(network: ServedNetwork, cache: EventCache, from: number, to: number): Event[] {
  const events: Event[] = [];
  for (let seq = from; seq <= to; seq += 1) {
    const event = cache.take(seq);
    if (!event) return [...events, ...stored(network, seq, to)];
    events.push(event);
  }
  return events;
}

function stored({ read }: ServedNetwork, from: number, to: number): Event[] {
  const events: Event[] = [];
  for (const { seq, json } of read.eventTexts(from, to)) {
    if (seq !== from + events.length) break;
    try {
      events.push(JSON.parse(json) as Event);
    } catch (cause) {
      throw new StoreError('CORRUPT', `event ${seq} is not JSON`, { cause });
    }
  }
  const missing = from + events.length;
  if (missing <= to) throw new StoreError('CORRUPT', `the history has no event ${missing}`);
  return events;
}
