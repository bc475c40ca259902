/** One run as it is handed to a process, and what comes back: plain values only. */
import type { DeciderOptions } from '../../agents/deciders/index.js';
import { externalsIn } from '../../scenario/external.js';
import { scriptModules } from '../../scenario/files/modules.js';
import type { Scenario } from '../../scenario/schema/scenario.js';
import type { RuleViolation } from '../../world/virtual/watch.js';
import type { SimResult } from '../result.js';

export interface Job {
  /** With all defaults. */
  scenario: Scenario;
  /** Takes the place of the scenario's own. */
  seed: string;
  /** From where the modules of scripts are found. */
  folder?: string;
  /** False leaves the auditor out. */
  audit?: boolean;
  /** Ends the run when the block with this hash has closed. */
  watch?: string;
  /** Where the run is kept, and who verifies; left out, it is not kept. */
  keep?: { out: string; verifier: 'pool' | 'inline' };
  /** Where the answers of external deciders come from. */
  deciders?: DeciderOptions;
}

/** Why a run has no result: its scenario or script is wrong, nobody decided, or it died. */
export interface Failure {
  kind: 'scenario' | 'unanswered' | 'crash';
  /** One line. */
  message: string;
  /** Of an error that is nobody's intention. */
  stack?: string;
}

/** What follows from a scenario and its seed alone: the same wherever, and whenever, it is run. */
export type Lasting = Pick<SimResult, (typeof lasting)[number]>;

export const lasting = [
  ...(['verdict', 'ended_by', 'broken', 'digest', 'log_digest', 'entries', 'events'] as const),
  ...(['virtual_ms', 'refused', 'measures', 'groups', 'reported'] as const),
] as const satisfies (keyof SimResult)[];

export type Outcome<R extends Lasting = SimResult> = { result: R } | { failure: Failure };

/** One line for a rule that the network broke. */
export const brokenText = ({ rule, actor, expected, found }: RuleViolation): string =>
  `rule ${rule}: ${actor}: ${found}; expected ${expected}`.split('\n', 1)[0]!;

/** A script's module may keep state between runs, or hold on to things: it gets a new process. */
export function runsScripts({ scenario }: Job): boolean {
  return scriptModules(scenario).length > 0;
}

export const usesDeciders = ({ scenario }: Pick<Job, 'scenario'>): boolean =>
  externalsIn(scenario).length > 0;
