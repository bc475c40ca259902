/**
 * Interfaces between a run and its world. The observer receives everything that happens, in order.
 * Interventions change the run, and the auditor checks it.
 */
import type { Outcome } from '../../engine/core/state.js';
import type { StateViews } from '../../engine/node/state-views.js';
import type { Command, CommandKind } from '../../engine/protocol/schema/command.js';
import type { SignedRequest } from '../../engine/protocol/schema/entry.js';
import type { Event } from '../../engine/protocol/schema/event.js';
import type { Reason } from '../../engine/protocol/schema/reason.js';
import type {
  AnswerCost,
  ContentNote,
  DecisionNote,
  IgnoredWhy,
  ScheduledEvent,
  SlotDecision,
  World,
} from '../agents/port.js';
import type { MessageKind } from './messages.js';

/** Traffic type. A message counts once. A duplicate in flight is duplicated, and can be lost. */
export type Traffic = 'sent' | 'lost' | 'duplicated';

/** `equivocation` means recorded as evidence, `duplicate` means already applied. */
export type RefusedWhy = Reason | 'equivocation' | 'duplicate';

export interface Cause {
  /** Sender's ordinal. */
  from: number;
  /** Vote's note. Null if the accepted vote differs from the vote that the agent cast. */
  note: DecisionNote | null;
  memes: readonly string[];
  bytes: number;
  /** Meme text, if known. */
  text?: string | undefined;
}

/** Valid command of a script that had no effect. */
export interface IgnoredCommand {
  why: IgnoredWhy;
  detail: string;
}

export interface Observer {
  /** Receives an event at its Unix time in milliseconds. `cause` is null outside the scenario. */
  event(event: Event, at: number, cause: Cause | null): void;
  /** Receives a request that was not applied, with its Unix time in milliseconds. */
  refused(agent: number, kind: CommandKind, why: RefusedWhy, at: number): void;
  published(note: ContentNote): void;
  /** Receives an agent's decision for a slot, with its Unix time in milliseconds. */
  decided(agent: number, decision: SlotDecision, at: number): void;
  /** Receives a script's command that had no effect, with its Unix time in milliseconds. */
  ignored(agent: number, command: IgnoredCommand, at: number): void;
  /** Receives the cost of an external decider's answer or failure. */
  asked(agent: number, cost: AnswerCost): void;
  /** Receives traffic: `count` messages of `bytes` each. */
  traffic(kind: MessageKind, what: Traffic, count: number, bytes: number): void;
  /** Receives the total time `ms` that `count` messages waited for an uplink. */
  waited(count: number, ms: number): void;
}

export interface Outgoing {
  request: SignedRequest;
  note: DecisionNote | null;
}

/** Time from which a meme no longer spreads, by meme. */
export type Mutes = ReadonlyMap<string, number>;

export interface Intervening {
  readonly mutes: Mutes;
  /** Time of the next timed intervention, or infinity. */
  readonly nextAt: number;
  actAt(now: number): void;
  /** Called when a call was scheduled. `called` follows when the call was made or discarded. */
  scheduled(agent: number, event: ScheduledEvent): void;
  called(agent: number, event: ScheduledEvent): void;
  /** Returns the request to send, possibly changed; null to suppress it. */
  sending(from: number, outgoing: Outgoing): Outgoing | null;
  /** Called before agents learn of the event. */
  happened(event: Event): void;
  /** Returns true to drop a request. `accepted` returns true if the network would accept it. */
  keepsOut(command: Command, accepted: () => boolean): boolean;
}

/** Operations that interventions perform on a world. */
export interface Changeable extends World {
  change(path: string, value: unknown): void;
  /** Changes the seed for draws that belong to no agent. */
  redraw(seedNumber: number): void;
}

/** Rule violation found by the auditor. */
export interface RuleViolation {
  at: number;
  rule: string;
  actor: string;
  expected: string;
  found: string;
}

/** Auditor's interface. Each call returns a violation or null. */
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
  finish(at: number, reads: StateViews): RuleViolation | null;
}
