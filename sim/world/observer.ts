/** What the measures of a run are told while it runs, in the order in which it happened. */
import type { CommandKind, Decision, Event, Reason } from '../../engine/internal.js';

/** One vote as its agent decided it, when it decided. */
export interface DecisionNote {
  agent: number;
  block: string;
  decision: Decision;
  /** What it would have decided without any memes; null for strategies that cannot say. */
  withoutMemes: Decision | null;
  /** Ids of the memes about the block that it had heard of. */
  memesHeard: readonly string[];
  /** Ids of the memes that its vote refers to. */
  memeReferences: readonly string[];
}

/** What is in a block that a scripted agent proposes. */
export interface ContentNote {
  block: string;
  /** Percent of transactions that add up. */
  soundness: number;
  hasMeme: boolean;
  /** Ordinal of the signer of each transaction. */
  senders: readonly number[];
}

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
