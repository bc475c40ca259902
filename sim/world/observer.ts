/**
 * Interfaces between a run and its world: the observer receives what happens, in order; the
 * interventions change it; the auditor checks it.
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

/** Each message counts once. A duplicate in flight counts as duplicated, and can be lost. */
export type Traffic = 'sent' | 'lost' | 'duplicated';

/** `equivocation`: recorded as evidence. `duplicate`: already applied. */
export type RefusedWhy = Reason | 'equivocation' | 'duplicate';

/** The request that caused an event. */
export interface Cause {
  /** Ordinal of the sender. */
  from: number;
  /** The note of a vote. Null if the accepted vote differs from the one that the agent cast. */
  note: DecisionNote | null;
  memes: readonly string[];
  /** Size of the request. */
  bytes: number;
  /** Text of a meme, if known. */
  text?: string | undefined;
}

export interface Observer {
  /** `at` is the event's Unix time in milliseconds. `cause` is null outside the scenario. */
  event(event: Event, at: number, cause: Cause | null): void;
  /** A request that was not applied, at a Unix time in milliseconds. */
  refused(agent: number, kind: CommandKind, why: RefusedWhy, at: number): void;
  published(note: ContentNote): void;
  /** An external decider has answered or failed. */
  asked(agent: number, cost: AnswerCost): void;
  /** `count` messages of `bytes` each. */
  traffic(kind: MessageKind, what: Traffic, count: number, bytes: number): void;
  /** `count` messages waited `ms` in total for an uplink. */
  waited(count: number, ms: number): void;
}

/** A request with the agent's note. */
export interface Outgoing {
  request: SignedRequest;
  note: DecisionNote | null;
}

/** By meme: time from which it no longer spreads. */
export type Mutes = ReadonlyMap<string, number>;

export interface Intervening {
  readonly mutes: Mutes;
  /** Time of the next timed intervention, or infinity. */
  readonly nextAt: number;
  /** Applies the timed interventions that are due. */
  actAt(now: number): void;
  /** A call was scheduled; or it was made, or discarded. */
  scheduled(agent: number, event: ScheduledEvent): void;
  called(agent: number, event: ScheduledEvent): void;
  /** Returns the request to send, possibly changed; null to suppress it. */
  sending(from: number, outgoing: Outgoing): Outgoing | null;
  /** Called before agents learn of the event. */
  happened(event: Event): void;
  /** Returns true to drop a request. `accepted` returns true if the network would accept it. */
  keepsOut(command: Command, accepted: () => boolean): boolean;
}

/** Operations of interventions on a world. */
export interface Changeable extends World {
  /** Sets a value of the scenario by path. */
  change(path: string, value: unknown): void;
  /** Changes the seed of draws that do not belong to agents. */
  redraw(seedNumber: number): void;
}

/** A rule violation found by the auditor. */
export interface RuleViolation {
  at: number;
  rule: string;
  actor: string;
  expected: string;
  found: string;
}

/** The auditor's interface. Each call returns a violation or null. */
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
  /** Compares the network's reads with the expected state. */
  finish(at: number, reads: Views): RuleViolation | null;
}
