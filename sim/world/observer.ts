/** What the measures of a run are told while it runs, in the order in which it happened. */
import type { CommandKind, Event, Reason } from '../../engine/internal.js';
import type { AnswerCost } from '../agents/port/asking.js';
import type { ContentNote, DecisionNote } from '../agents/port/notes.js';
import type { MessageKind } from './messages.js';

/** Each once: a copy on the way is not sent but duplicated; it may be lost, as any. */
export type Traffic = 'sent' | 'lost' | 'duplicated';

/** `equivocation`: it was taken as evidence; `duplicate`: it had been done before. */
export type RefusedWhy = Reason | 'equivocation' | 'duplicate';

/** What is known of the request that an event follows from. */
export interface Cause {
  /** Ordinal of its sender. */
  from: number;
  /** Of a vote, as its agent decided it; null where the one that counted is not the one it cast. */
  note: DecisionNote | null;
  /** Ids of the memes that a vote refers to. */
  memes: readonly string[];
  /** Size of the request. */
  bytes: number;
  /** What a meme says; left out, nothing that is known. */
  text?: string | undefined;
}

export interface Observer {
  /** `at` is the event's own time, milliseconds since 1970; `cause` is null for strangers'. */
  event(event: Event, at: number, cause: Cause | null): void;
  /** A request that was not done; `at` in milliseconds since 1970. */
  refused(agent: number, kind: CommandKind, why: RefusedWhy, at: number): void;
  published(note: ContentNote): void;
  /** An external decider has decided for the agent, or has failed to. */
  asked(agent: number, cost: AnswerCost): void;
  /** So many messages of a kind, of so many bytes each. */
  traffic(kind: MessageKind, what: Traffic, count: number, bytes: number): void;
  /** So many messages waited in all so many milliseconds before they began to leave an uplink. */
  waited(count: number, ms: number): void;
}
