/**
 * The failures of runs: which outcomes count as one, when two runs fail alike, and whether a
 * scenario must make progress.
 */
import { brokenText, type LastingResult, type Outcome } from '../run/jobs.js';
import { getConditions } from '../scenario/interventions.js';
import { groupSizes } from '../scenario/population.js';
import { getTraitBounds, type Traits } from '../scenario/schema/personalities.js';
import type { Group, Scenario } from '../scenario/schema/scenario.js';

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
export function findFailure(
  scenario: Scenario,
  outcome: Outcome<LastingResult>,
): RunFailure | null {
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
export function findDigestDifference(first: string, second: string): RunFailure | null {
  if (first === second) return null;
  const message = `the digest is ${first}, and ${second} when run again`;
  return { kind: 'nondeterminism', sign: '', message };
}

/** What two runs of a scenario must have in common. */
export const getDigest = (outcome: Outcome<LastingResult>): string =>
  'result' in outcome ? outcome.result.digest : outcome.failure.message;

export const isSame = (a: RunFailure, b: RunFailure | null): boolean =>
  a.kind === b?.kind && a.sign === b.sign;

/*
 * Where a scenario must make progress, a run without any is a failure of the network. In doubt the
 * answer is no: then a run without progress is what the scenario asks for.
 */

/** Share of the agents that vote for every sound block, at the least; two thirds must be passed. */
const LEAST_PLAIN = 0.8;
/** What `majority` may ask for: less than the plain ones alone give. */
const LARGEST_TURNOUT = 0.6;
const LARGEST_LOSS = 0.03;
/** What sixty agents tell each other about a block leaves in some milliseconds. */
const LEAST_UPLINK_KBPS = 100_000;
/** What a block needs at the least to be heard of, voted on, and counted, in mean latencies. */
const LATENCIES_A_PERIOD = 10;
/** No personality thinks longer. */
const LONGEST_THOUGHT_MS = 3_500;
/** An open producer that heard of nothing looks again after 20 intervals at the most. */
const TURNS = 60;
/** Blocks expire while a fault lasts, and turns are lost: so many periods must be left after it. */
const PERIODS_AFTER = 10;

export function expectsProgress(scenario: Scenario): boolean {
  return plainOnes(scenario) && goodLinks(scenario) && shortFaults(scenario) && time(scenario);
}

/** They vote at once for what is sound, and what they make themselves is sound. */
const isPlain = ({ strategy, capabilities }: Group): boolean =>
  strategy.kind === 'honest' && capabilities.includes('validator');

function plainOnes({ population, agents, consensus, producers, limits }: Scenario): boolean {
  const sizes = groupSizes({ population, agents });
  const plain = agents.reduce((sum, group, index) => sum + (isPlain(group) ? sizes[index]! : 0), 0);
  const makers = agents.filter(
    (group) => group.producers > 0 || group.capabilities.includes('producer'),
  );
  // A server's limits let a town make a block now and then, and a voter miss one.
  if (limits !== 'off') return false;
  // A block without transactions is neither sound nor not: they turn it down.
  if (producers.transactions.least === 0) return false;
  // Some are not there yet, or no more.
  if (agents.some(({ join, leave }) => join || leave)) return false;
  // Whoever else makes blocks may take every turn.
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
  // Whoever missed blocks meanwhile would be out of the electorate, perhaps for good.
  if (consensus.dormant_after !== 0) return false;
  // Who went away stays away when its return is lost.
  const churn = faults.some(({ kind }) => kind === 'churn');
  if (churn && (faults.length > 1 || links.loss > 0)) return false;
  const room = PERIODS_AFTER * consensus.voting_period_ms;
  const end = length.virtual_ms ?? Number.POSITIVE_INFINITY;
  return faults.every(({ start_ms, length_ms }) => start_ms + length_ms + room <= end);
}

/** Long enough for a handful of blocks, and more patient than a producer that lost its turn. */
function time({ length, consensus, patience_periods, producers, faults }: Scenario): boolean {
  const { blocks, virtual_ms } = length;
  const period = consensus.voting_period_ms;
  const patience = patience_periods * period;
  if (patience < PERIODS_AFTER * period) return false;
  if (patience < TURNS * producers.block_interval_ms) return false;
  if (getConditions(length).some(({ measure }) => measure !== 'finalized')) return false;
  // Blocks that expire under a fault count too, and may be all that the run has.
  if (blocks !== undefined && (faults.length > 0 || blocks < 3)) return false;
  return (virtual_ms ?? Number.POSITIVE_INFINITY) >= 2 * patience;
}
