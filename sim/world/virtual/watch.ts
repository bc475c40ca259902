/** What watches a network in virtual time: the auditor, or nobody. */
import type { Command, Event, Outcome, Views } from '../../../engine/internal.js';

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
