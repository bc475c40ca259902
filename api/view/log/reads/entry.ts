/** One entry with all that came of it: "which entry did this". */
import {
  type Event,
  type PrintedLine,
  printLine,
  type ServedNetwork,
  StoreError,
  storedLines,
} from '../../../../engine/internal.js';
import { agentId } from '../../../../engine/protocol/signing.js';
import type { IndexSource } from '../kept/index-source.js';

/** An entry as it is in the log, without the file of a meme, and its events. */
export interface EntryShown extends Omit<PrintedLine, 'seq' | 'file'> {
  entry: number;
  /** Who asked; '' for what nobody asked for. */
  agent_id: string;
  events: Event[];
}

/** The index must be prepared; undefined where the log has no such entry. */
export function entryOf(
  network: ServedNetwork,
  index: IndexSource,
  seq: number,
): EntryShown | undefined {
  const { read } = network;
  if (seq > read.position.seq) return undefined;
  for (const line of storedLines(read.log, seq, seq)) {
    const { seq: entry, file: _, ...printed } = printLine(line);
    const agent_id = printed.public_key === '' ? '' : agentId(printed.public_key.toLowerCase());
    return { entry, agent_id, ...printed, events: eventsOf(network, index, seq) };
  }
  throw new StoreError('CORRUPT', `the log has no entry ${seq}`);
}

function eventsOf({ read }: ServedNetwork, index: IndexSource, seq: number): Event[] {
  const row = index.rowOf(seq);
  const counts = row.entries.map(({ events }) => events);
  const place = seq - row.first;
  const after = counts.slice(place + 1).reduce((sum, count) => sum + count, 0);
  const last = row.event_seq - after;
  return [...read.events(last - counts[place]! + 1, last)];
}
