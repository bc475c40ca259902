/** Failures in drawn runs: detection, comparison, and the expectation of progress. */
import { brokenText, type LastingResult, type Outcome } from '../run/jobs.js';
import { getConditions } from '../scenario/interventions.js';
import { groupSizes } from '../scenario/population.js';
import { getTraitBounds, type Traits } from '../scenario/schema/personalities.js';
import type { Group, Scenario } from '../scenario/schema/scenario.js';

/** Rule violation, lack of progress, different results from two runs, or an exception. */
export type RunFailureKind = 'safety' | 'liveness' | 'nondeterminism' | 'crash';

/** Failure in a drawn scenario. */
export interface RunFailure {
  kind: RunFailureKind;
  /** Signature of the bug. Failures with equal kind and sign count as one bug. */
  sign: string;
  message: string;
}

/** Returns null if the run did not fail. */
export function findFailure(
  scenario: Scenario,
  outcome: Outcome<LastingResult>,
): RunFailure | null {
  if ('failure' in outcome) {
    const { message } = outcome.failure;
    // Mask hashes, ids and numbers, because they differ between scenarios.
    return { kind: 'crash', sign: message.replace(/[0-9a-f]{8,}|\d+/g, '#'), message };
  }
  const { verdict, broken } = outcome.result;
  if (verdict === 'safety') {
    return { kind: 'safety', sign: broken!.rule, message: brokenText(broken!) };
  }
  if (verdict !== 'no_progress' || !expectsProgress(scenario)) return null;
  const message = 'no progress, although enough agents approve all sound blocks';
  return { kind: 'liveness', sign: '', message };
}

/** Returns null if the digests are equal. */
export function findDigestDifference(first: string, second: string): RunFailure | null {
  if (first === second) return null;
  const message = `digest ${first} in the first run, ${second} in the second`;
  return { kind: 'nondeterminism', sign: '', message };
}

/** Part of an outcome in which two runs must agree. */
export const getDigest = (outcome: Outcome<LastingResult>): string =>
  'result' in outcome ? outcome.result.digest : outcome.failure.message;

export const isSame = (a: RunFailure, b: RunFailure | null): boolean =>
  a.kind === b?.kind && a.sign === b.sign;

/*
 * If a scenario must make progress, a run without progress is a failure of the network. In doubtful
 * cases, progress is not expected.
 */

/** Minimum share of agents that approve all sound blocks. More than two thirds must approve. */
const LEAST_PLAIN = 0.8;
/** Maximum `participation` under `majority`, below the share of agents that approve. */
const LARGEST_TURNOUT = 0.6;
const LARGEST_LOSS = 0.03;
/**
 * Minimum uplink. At this rate, sixty agents send all messages about a block within milliseconds.
 */
const LEAST_UPLINK_KBPS = 100_000;
/** Minimum time for a block's proposal, votes and count, in mean latencies. */
const LATENCIES_A_PERIOD = 10;
/** Longest thinking time among all personalities. */
const LONGEST_THOUGHT_MS = 3_500;
/**
 * Number of turns allowed. An open producer that receives no events retries within 20 intervals.
 */
const TURNS = 60;
/**
 * Minimum number of voting periods after a fault. During a fault, blocks expire and turns are lost.
 */
const PERIODS_AFTER = 10;

export function expectsProgress(scenario: Scenario): boolean {
  return plainOnes(scenario) && goodLinks(scenario) && shortFaults(scenario) && time(scenario);
}

/** Returns true for agents that always vote for sound blocks and produce only sound blocks. */
const isPlain = ({ strategy, capabilities }: Group): boolean =>
  strategy.kind === 'honest' && capabilities.includes('validator');

function plainOnes({ population, agents, consensus, producers, limits }: Scenario): boolean {
  const sizes = groupSizes({ population, agents });
  const plain = agents.reduce((sum, group, index) => sum + (isPlain(group) ? sizes[index]! : 0), 0);
  const makers = agents.filter(
    (group) => group.producers > 0 || group.capabilities.includes('producer'),
  );
  // Under a server's limits, blocks are rare and votes can be refused.
  if (limits !== 'off') return false;
  // Blocks without transactions are rejected as unsound.
  if (producers.transactions.least === 0) return false;
  // Agents that join late or leave early are missing from some electorates.
  if (agents.some(({ join, leave }) => join || leave)) return false;
  // Other producers could take all turns.
  if (makers.length === 0 || !makers.every(isPlain)) return false;
  const { policy, participation, min_validators } = consensus;
  if (policy === 'majority' && participation > LARGEST_TURNOUT) return false;
  return plain >= LEAST_PLAIN * population && min_validators === 1;
}

function goodLinks({ links, agents, consensus }: Scenario): boolean {
  const { mean_ms, spread_ms } = links.latency;
  const uplinks = [links, ...agents].map(({ uplink_kbps = LEAST_UPLINK_KBPS }) => uplink_kbps);
  if (Math.min(...uplinks) < LEAST_UPLINK_KBPS) return false;
  const plain = agents.filter(isPlain);
  const thinking = Math.max(...plain.map(({ traits }) => thinkMs(traits)));
  const needed = LATENCIES_A_PERIOD * (mean_ms + spread_ms) + thinking;
  return needed <= consensus.voting_period_ms && links.loss <= LARGEST_LOSS;
}

function thinkMs(traits: Traits = {}): number {
  const { think_ms = LONGEST_THOUGHT_MS } = traits;
  return typeof think_ms === 'number' ? think_ms : getTraitBounds('think_ms').maximum;
}

function shortFaults({ faults, consensus, length, links }: Scenario): boolean {
  if (faults.length === 0) return true;
  // Agents that missed blocks would become dormant, perhaps for the rest of the run.
  if (consensus.dormant_after !== 0) return false;
  // An agent stays inactive if the message about its return is lost.
  const churn = faults.some(({ kind }) => kind === 'churn');
  if (churn && (faults.length > 1 || links.loss > 0)) return false;
  const room = PERIODS_AFTER * consensus.voting_period_ms;
  const end = length.virtual_ms ?? Number.POSITIVE_INFINITY;
  return faults.every(({ start_ms, length_ms }) => start_ms + length_ms + room <= end);
}

/** Requires time for several blocks, and patience that outlasts a lost turn. */
function time({ length, consensus, patience_periods, producers, faults }: Scenario): boolean {
  const { blocks, virtual_ms } = length;
  const period = consensus.voting_period_ms;
  const patience = patience_periods * period;
  if (patience < PERIODS_AFTER * period) return false;
  if (patience < TURNS * producers.block_interval_ms) return false;
  if (getConditions(length).some(({ measure }) => measure !== 'finalized')) return false;
  // Blocks that expire during a fault count towards the length.
  if (blocks !== undefined && (faults.length > 0 || blocks < 3)) return false;
  return (virtual_ms ?? Number.POSITIVE_INFINITY) >= 2 * patience;
}
