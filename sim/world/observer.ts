/** What the measures of a run are told while it runs, in the order in which it happened. */
import type { CommandKind, Event, Reason } from '../../engine/internal.js';
import type { ContentNote, DecisionNote } from '../agents/port/notes.js';

/** Messages of a kind are one count each: requests, deliveries of events, and neighbours' talk. */
export type Traffic = 'sent' | 'lost' | 'duplicated';

/** `equivocation`: it was taken as evidence; `duplicate`: it had been done before. */
export type RefusedWhy = Reason | 'equivocation' | 'duplicate';

export interface Observer {
  /** `at` is the event's own time, milliseconds since 1970. */
  event(event: Event, at: number): void;
  /** A request that was not done; `at` in milliseconds since 1970. */
  refused(agent: number, kind: CommandKind, why: RefusedWhy, at: number): void;
  decided(note: DecisionNote): void;
  published(note: ContentNote): void;
  traffic(what: Traffic, count: number): void;
}
