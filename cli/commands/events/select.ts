/** The events of a folder in order, one after the other; whatever is damaged in them is named. */
import { type Event, type EventType, type Store, StoreError } from '../../../engine/internal.js';
import { isOf } from './columns.js';

export interface Selection {
  /** Both inclusive. */
  from: number;
  to: number;
  /** Empty: of all. */
  types: ReadonlySet<EventType>;
  agents: ReadonlySet<string>;
}

export interface Selected {
  event: Event;
  json: string;
}

/** Where they go. */
export interface Sink {
  add(one: Selected): Promise<void>;
  /** All of them are there. */
  finish(): Promise<void>;
  /** Leaves nothing behind. */
  abandon(): void;
}

/**
 * Those that fit; null for each that does not, so that whoever counts knows how far it is.
 * @throws {StoreError} `CORRUPT` naming the first event that is missing or is no event.
 */
export function* selected(
  store: Store,
  folder: string,
  { from, to, types, agents }: Selection,
): Iterable<Selected | null> {
  let expected = from;
  for (const { seq, json } of store.events(from, to)) {
    if (seq !== expected) break;
    const event = eventOf(json, seq, folder);
    const fits =
      (types.size === 0 || types.has(event.type)) && (agents.size === 0 || isOf(event, agents));
    yield fits ? { event, json } : null;
    expected += 1;
  }
  if (expected > to) return;
  const advice =
    'if a server is archiving it now, try again; else folkmoot check says what is wrong';
  const missing = `event ${expected} of ${to} is missing`;
  throw new StoreError('CORRUPT', `${folder}: ${missing}: ${advice}`);
}

function eventOf(json: string, seq: number, folder: string): Event {
  let found: Partial<Event> | null = null;
  try {
    found = JSON.parse(json) as Partial<Event> | null;
  } catch {
    // It is told below.
  }
  const whole = found?.seq === seq && typeof found.type === 'string';
  if (whole && typeof found?.data?.timestamp === 'string') return found as Event;
  const start = JSON.stringify(json.slice(0, 60));
  throw new StoreError(
    'CORRUPT',
    `${folder}: event ${seq} is damaged: ${start}; see folkmoot check`,
  );
}
