/**
 * The parties that a run passes into its world: the observer, which is told what happens in the
 * order in which it happened; the interventions, which change it; and the auditor, which checks it.
 */
import type { Outcome } from '../../engine/core/state.js';
import type { Views } from '../../engine/node/views.js';
import type { Command, CommandKind } from '../../engine/protocol/schema/command.js';
import type { SignedRequest } from '../../engine/protocol/schema/entry.js';
import type { Event } from '../../engine/protocol/schema/event.js';
import type { Reason } from '../../engine/protocol/schema/reason.js';
import type {
  AnswerCost,
  ContentNote,
  DecisionNote,
  ScheduledEvent,
  World,
} from '../agents/port.js';
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

/** A request with what its agent noted. */
export interface Outgoing {
  request: SignedRequest;
  note: DecisionNote | null;
}

/** By meme: from when on nobody hears of it any more. */
export type Mutes = ReadonlyMap<string, number>;

export interface Intervening {
  readonly mutes: Mutes;
  /** When the next one acts that waits for an instant; infinite without any. */
  readonly nextAt: number;
  /** Those whose instant has come act. */
  actAt(now: number): void;
  /** An agent is to be called; and it has been, or will never be. */
  scheduled(agent: number, event: ScheduledEvent): void;
  called(agent: number, event: ScheduledEvent): void;
  /** A request as it is to go out; null when it is not to. */
  sending(from: number, outgoing: Outgoing): Outgoing | null;
  /** Before anybody is told of it. */
  happened(event: Event): void;
  /** Whether a request that is there never arrives; `accepted` says whether it would be done. */
  keepsOut(command: Command, accepted: () => boolean): boolean;
}

/** What interventions do to a world. */
export interface Changeable extends World {
  /** Another value of the scenario, by its path. */
  change(path: string, value: unknown): void;
  /** Names from now on all draws that belong to nobody, or to a message. */
  redraw(seedNumber: number): void;
}

/** A rule that was broken, as the auditor says it. */
export interface RuleViolation {
  at: number;
  rule: string;
  actor: string;
  expected: string;
  found: string;
}

/** What looks over the network's shoulder; each call gives the rule that was broken, or null. */
export interface Watch {
  observe(step: {
    at: number;
    command: Command;
    outcome: Outcome;
    events: readonly Event[];
  }): RuleViolation | null;
  precheck(prechecked: {
    at: number;
    command: Command;
    outcome: Outcome | null;
  }): RuleViolation | null;
  advance(at: number, events: readonly Event[]): RuleViolation | null;
  /** Holds all that the network's reads say against what it should have come to. */
  finish(at: number, reads: Views): RuleViolation | null;
}
