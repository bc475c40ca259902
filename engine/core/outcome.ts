/** What checking a command finds, and what doing it gives. Checking never changes anything. */
import type { Answer, Command, Reason, Refusal } from '../protocol/schema/index.js';
import { refuse } from '../protocol/schema/index.js';
import type { State } from './state.js';

/**
 * What became of a command; each has exactly one.
 *
 * - `accepted`: done, logged; `data` is the answer.
 * - `duplicate`: it had been done before; `data` is the present record, and nothing changed.
 * - `refused`: nothing changed, nothing is logged.
 * - `equivocation`: a second, different vote: refused to the caller, yet logged, because the signed
 * evidence counts.
 */
export type Outcome =
  | { result: 'accepted'; data: Answer }
  | { result: 'duplicate'; data: Answer }
  | { result: 'refused'; refusal: Refusal }
  /** Refused to the caller, yet logged: the signed evidence counts. */
  | { result: 'equivocation'; refusal: Refusal };

/** Either what the effect needs, or an outcome that changes nothing. */
export type Precheck<P> = { plan: P } | { outcome: Outcome };

export interface CommandRule<C extends Command, P> {
  check(state: State, command: C): Precheck<P>;
  effect(state: State, command: C, plan: P): Outcome;
}

export function refused(
  reason: Reason,
  message: string,
  more: { pointer?: string; details?: Record<string, unknown> } = {},
): { outcome: Outcome } {
  return { outcome: { result: 'refused', refusal: refuse(reason, message, more) } };
}

/** A repeat gets the current record. */
export function repeated(data: Answer): { outcome: Outcome } {
  return { outcome: { result: 'duplicate', data: { ...data, duplicate: true } } };
}

export function accepted(data: Answer): Outcome {
  return { result: 'accepted', data };
}
