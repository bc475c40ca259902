/** What counts as a failure of a run, and when two runs fail alike. */
import { brokenText, type Lasting, type Outcome } from '../run/jobs/index.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import { expectsProgress } from './expectation.js';

/**
 * How a drawn scenario failed: it broke a rule of the network, came to a standstill, was not the
 * same again, or threw.
 */
export type RunFailureKind = 'safety' | 'liveness' | 'nondeterminism' | 'crash';

/** How a drawn scenario failed. */
export interface RunFailure {
  kind: RunFailureKind;
  /** Two failures of one kind and sign are taken for the same bug. */
  sign: string;
  /** One line. */
  message: string;
}

/** Null unless the run failed. */
export function failureIn(scenario: Scenario, outcome: Outcome<Lasting>): RunFailure | null {
  if ('failure' in outcome) {
    const { message } = outcome.failure;
    // Hashes, ids and numbers differ from scenario to scenario.
    return { kind: 'crash', sign: message.replace(/[0-9a-f]{8,}|\d+/g, '#'), message };
  }
  const { verdict, broken } = outcome.result;
  if (verdict === 'safety') {
    return { kind: 'safety', sign: broken!.rule, message: brokenText(broken!) };
  }
  if (verdict !== 'no_progress' || !expectsProgress(scenario)) return null;
  const message = 'no progress, although enough agents vote for every sound block';
  return { kind: 'liveness', sign: '', message };
}

/** Null when both came to the same. */
export function differenceOf(first: string, second: string): RunFailure | null {
  if (first === second) return null;
  const message = `the digest is ${first}, and ${second} when run again`;
  return { kind: 'nondeterminism', sign: '', message };
}

/** What two runs of a scenario must have in common. */
export const digestOf = (outcome: Outcome<Lasting>): string =>
  'result' in outcome ? outcome.result.digest : outcome.failure.message;

export const isSame = (a: RunFailure, b: RunFailure | null): boolean =>
  a.kind === b?.kind && a.sign === b.sign;
